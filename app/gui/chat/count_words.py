"""What the line under the draft says of the next send, in words."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import render
from app.services.prompt_count import Count
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


class CountWords(NamedTuple):
    """A line, what it says on hover, and whether it is an alarm."""

    text: str = ""
    hint: str = ""
    alarm: bool = False


def count_words(counted: Count, *, has_text: bool) -> CountWords:
    """Return what to say of a count; nothing while there is neither a model nor a draft."""
    if counted.cells is None:
        if not has_text:
            return CountWords()
        return CountWords(
            translate("Composer", "{count} tokens").format(count=UNKNOWN),
            translate("Composer", "Tokens are counted by the model: they are known once one is loaded."),
        )
    if counted.too_long and not counted.drops:
        tokens = count(counted.prompt) if counted.prompt is not None else f"> {count(counted.cells)}"
        text = translate("Composer", "Too long for this context: {tokens} of {cells} tokens")
        hint = translate(
            "Composer",
            "The answer needs room too. Shorten the message, begin a new chat, or load the model with a larger context.",
        )
        return CountWords(text.format(tokens=tokens, cells=count(counted.cells)), hint, alarm=True)
    parts = [translate("Composer", "+{count} tokens").format(count=count(counted.draft))] if has_text else []
    parts.append(translate("Composer", "{count} in cache").format(count=count(counted.in_cache)))
    if counted.too_long:
        parts.append(translate("Composer", "the oldest turns are left out"))
    else:
        parts.append(translate("Composer", "{count} left").format(count=count(counted.left)))
    return CountWords(" · ".join(parts), _hint(counted))


def _hint(counted: Count) -> str:
    if counted.prompt is None:
        reason = (
            render(counted.reason) if counted.reason is not None else translate("Composer", "It is being counted.")
        )
        return translate("Composer", "What the next question leaves of the context is not known. {reason}").format(
            reason=reason
        )
    return translate(
        "Composer",
        "The next question is sent as {prompt} tokens of {cells} that the context holds; {cached} are in the cache now,"
        " and what of them is the same is not read again.",
    ).format(prompt=count(counted.prompt), cells=count(counted.cells), cached=count(counted.in_cache))
