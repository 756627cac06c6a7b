"""What the palette offers: actions, chats and models as plain values, and those of them that fit what is typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication, QDate

from app.core.conversation import Conversation
from app.core.fuzzy import Folded, folded, matcher
from app.core.model import FoundModel
from app.gui.actions import Actions, menu_titles, shown_keys, without_mnemonic, words_alone
from app.gui.palette.reasons import why_not
from app.gui.widgets.chat_words import day_in_words, one_line
from app.gui.widgets.words import render
from app.services.units import byte_size

translate = QCoreApplication.translate
Kind = Literal["action", "chat", "model"]
MOST_CHATS = 1000
"""The newest; older ones the search of chats finds."""
MOST_SHOWN = 100
RECENT = 15
"""How much better what was chosen last fits than the same that never was."""


class Entry(NamedTuple):
    """One thing that can be chosen."""

    kind: Kind
    id: str
    """Name of the action, number of the chat or path of the model."""
    words: str
    text: Folded
    beside: str = ""
    """Its keys, its day, or what file it is."""
    why_not: str = ""
    """Why it cannot be chosen now."""

    @property
    def key(self) -> str:
        """What it is remembered under."""
        return f"{self.kind} {self.id}"


class Found(NamedTuple):
    """An entry, and the places of the letters in its words that fit what is typed."""

    entry: Entry
    places: tuple[int, ...] = ()


def action_entries(actions: Actions) -> Iterator[Entry]:
    """Yield the actions of the menu, but the one that opens the palette."""
    titles, themes = menu_titles(), set(actions.themes.values())
    for action in actions.in_order:
        name, words = action.objectName(), words_alone(action)
        if name == "palette_action":
            continue
        if action in themes and name != "system_theme_action":  # which says it itself
            words = translate("Palette", "{menu}: {entry}").format(
                menu=without_mnemonic(titles["view/theme"]), entry=words
            )
        reason = "" if action.isEnabled() else why_not(name)
        yield Entry("action", name, words, folded(words), shown_keys(actions.keys[name]), reason)


def chat_entries(heads: Sequence[Conversation], open_id: int, today: QDate) -> Iterator[Entry]:
    """Yield the newest chats."""
    for head in islice(heads, MOST_CHATS):
        words = one_line(head.title)
        when = day_in_words(head.changed_ms, today)
        beside = translate("Palette", "Chat, open") if head.id == open_id else when
        yield Entry("chat", str(head.id), words, folded(words), beside)


def model_entries(models: Sequence[FoundModel], loaded: str | None) -> Iterator[Entry]:
    """Yield the models that are here; `loaded` is the path of the one in use."""
    for model in models:
        beside = " · ".join(part for part in (model.quantisation, byte_size(model.size)) if part)
        if model.path == loaded:
            beside = translate("Palette", "Model, loaded")
        reason = render(model.problem) if model.problem is not None else ""
        if not model.is_read:
            reason = translate("Palette", "The file is being looked at.")
        yield Entry("model", model.path, one_line(model.name), folded(one_line(model.name)), beside, reason)


def found(entries: Sequence[Entry], query: str, recent: Sequence[str]) -> list[Found]:
    """Return the entries that fit what is typed, the best first; what was chosen last comes first among equals."""
    fits, ranks = matcher(query), {key: rank for rank, key in enumerate(recent)}
    scored: list[tuple[float, int, Found]] = []
    for place, entry in enumerate(entries):
        match = fits(entry.text)
        if match is not None:
            rank = ranks.get(entry.key)
            bonus = 0.0 if rank is None else RECENT + (len(ranks) - rank) / len(ranks)
            scored.append((match.score + bonus, place, Found(entry, match.places)))
    return [each for _score, _place, each in sorted(scored, key=lambda each: (-each[0], each[1]))[:MOST_SHOWN]]
