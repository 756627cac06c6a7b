"""What the line under the draft says of the next send, in words."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import render
from app.services.next_send import Count, Shares
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


class CountWords(NamedTuple):
    """A line, what it says on hover, and whether it is an alarm: then nothing can be sent."""

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
    if counted.refuses:
        return _refusal(counted)
    shares = counted.shares
    new, cached = (shares.new, shares.cached) if shares is not None else (counted.draft, counted.reused)
    parts = []
    if new or (shares is None and has_text):
        parts.append(translate("Composer", "+{count} tokens").format(count=count(new)))
    in_cache = translate("Composer", "{count} in cache")
    if counted.holds_other:
        in_cache = translate("Composer", "{count} of this chat in cache")
    parts.append(in_cache.format(count=count(cached)))
    if counted.too_long:
        parts.append(translate("Composer", "the oldest turns are left out"))
    else:
        left = translate("Composer", "{count} left of {cells}")
        parts.append(left.format(count=count(shares.left if shares else None), cells=count(counted.cells)))
    return CountWords(" · ".join(parts), _hint(counted, shares))


def with_draft(goes_on: CountWords | None, counted: CountWords) -> CountWords:
    """Return what to say while an answer is written and a draft as well: when that can be sent, and what was said before.

    What goes on is said first, mere counts last; whatever there is no room for is on hover.
    """
    later = translate("Composer", "Enter sends once this answer ends · Esc stops it")
    if goes_on is not None:
        text = f"{goes_on.text} · {later}"
        return CountWords(text, text)
    return counted._replace(text=f"{later} · {counted.text}", hint=f"{counted.text}. {counted.hint}")


def _refusal(counted: Count) -> CountWords:
    """Return the numbers of what does not fit, and what can be done about what makes it long."""
    if counted.is_long_by_itself:
        text = translate("Composer", "Too long: {tokens} of {cells} tokens. Shorten the message.")
        hint = translate(
            "Composer",
            "The message would be sent as {tokens} tokens and the context holds {cells}, some of which the answer"
            " needs. Shorten the message, or load the model with a larger context.",
        )
    else:
        text = translate("Composer", "Too long: {tokens} of {cells} tokens. Begin a new chat.")
        hint = translate(
            "Composer",
            "The whole chat would be sent as {tokens} tokens and the context holds {cells}, some of which the answer"
            " needs. Begin a new chat, load the model with a larger context, or choose “Drop the oldest turns” under"
            " “When the context is full”.",
        )
    needed, cells = counted.needed, count(counted.cells)
    tokens = count(needed) if needed is not None else f"> {cells}"
    return CountWords(text.format(tokens=tokens, cells=cells), hint.format(tokens=tokens, cells=cells), alarm=True)


def _hint(counted: Count, shares: Shares | None) -> str:
    if counted.answering:
        return translate(
            "Composer",
            "While the answer is written, each of its tokens takes one place in the cache; what of the question is not"
            " read yet counts as new. What you write meanwhile is counted by itself, and exactly once the answer has"
            " ended.",
        )
    if counted.prompt is None:
        reason = (
            render(counted.reason) if counted.reason is not None else translate("Composer", "It is being counted.")
        )
        return translate("Composer", "What the next question leaves of the context is not known. {reason}").format(
            reason=reason
        )
    sent = translate("Composer", "The next question is sent as {prompt} tokens of {cells} that the context holds.")
    said = [sent.format(prompt=count(counted.prompt), cells=count(counted.cells))]
    if shares is not None and counted.message:
        parts = translate(
            "Composer",
            "{new} are new: your message has {draft}, the others are marks that the chat template puts around messages,"
            " or text that the cache does not hold. {left} are left for the answer.",
        )
        figures = {name: count(value) for name, value in shares._asdict().items()}
        said += [_reused(counted).format(**figures), parts.format(draft=count(counted.draft), **figures)]
    return " ".join(said)


def _reused(counted: Count) -> str:
    """Return what the cache saves; a model that goes back only to saved states may have to read some of it again."""
    if counted.memory_kind == "plain" or not counted.cached:
        return translate("Composer", "{cached} of them are in the cache already and are not read again.")
    return translate(
        "Composer",
        "At most {cached} of them are in the cache already. This model can go back only to states that were saved, so"
        " some of them may be read again.",
    )
