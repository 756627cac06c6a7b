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
    if counted.refused:
        return _refusal(counted)
    shares = counted.shares
    new, cached = (shares.new, shares.cached) if shares is not None else (counted.draft, counted.reused)
    parts = []
    if new or (shares is None and has_text):
        parts.append(translate("Composer", "+{count} tokens").format(count=count(new)))
    in_cache = translate("Composer", "{count} in cache")
    left = translate("Composer", "{count} left of {cells}")
    if counted.left_out:
        left = translate("Composer", "{count} left")  # what is said beside it needs the room
    elif counted.holds_other:
        in_cache = translate("Composer", "{count} of this chat in cache")
    parts.append(in_cache.format(count=count(cached)))
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


def left_out_words(counted: Count, *, has_text: bool) -> str:
    """Return how many of the oldest messages the next send goes without, or the answer that is being written."""
    number = len(counted.left_out)
    if not number:
        return ""
    if counted.answering and has_text:
        text = translate("Composer", "Without at least the {count} oldest messages")
        alone = translate("Composer", "Without at least the oldest message")
    else:  # in few words: the counts beside it must stay readable
        text = translate("Composer", "Without the {count} oldest messages")
        alone = translate("Composer", "Without the oldest message")
    return alone if number == 1 else text.format(count=count(number))


def _refusal(counted: Count) -> CountWords:
    """Return the numbers of what does not fit, and what can be done about what makes it long."""
    if counted.is_long_by_itself:
        what = translate("Composer", "Shorten the message.")
        hint = translate(
            "Composer",
            "The message would be sent as {tokens} tokens and the context holds {cells}, some of which the answer"
            " needs. Shorten the message, or load the model with a larger context.",
        )
    else:
        what = translate("Composer", "Begin a new chat.")
        hint = translate(
            "Composer",
            "The whole chat would be sent as {tokens} tokens and the context holds {cells}, some of which the answer"
            " needs. Begin a new chat, load the model with a larger context, or choose “Drop the oldest turns” under"
            " “When the context is full”.",
        )
    cells, excess = count(counted.cells), counted.excess
    if excess is None:
        text = translate("Composer", "Too long: more than {cells} tokens. {what}")
    elif excess == 1:
        text = translate("Composer", "Too long by 1 token: {tokens} of {cells}. {what}")
    else:
        text = translate("Composer", "Too long by {excess} tokens: {tokens} of {cells}. {what}")
    tokens = f"> {cells}" if counted.needed is None else count(counted.needed)
    words = text.format(excess=count(excess), tokens=tokens, cells=cells, what=what)
    return CountWords(words, hint.format(tokens=tokens, cells=cells), alarm=True)


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
    if counted.left_out:
        gone = translate(
            "Composer", "It goes without {count} of the oldest messages: with them the context would be full."
        )
        said.append(gone.format(count=count(len(counted.left_out))))
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
