"""What the line under the draft says of the next send, in words."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import render
from app.services.next_send import Count, Shares
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


WORTH_READING = 32
"""Of a chat with nothing written, fewer tokens to read again are not spoken of: nobody waits for them."""


class CountWords(NamedTuple):
    """A line, and what it says on hover."""

    text: str = ""
    hint: str = ""
    alarm: bool = False
    """Whether what is written cannot be sent."""
    is_refused: bool = False
    """Whether nothing can be sent."""
    can_drop: bool = False
    """Whether leaving the oldest turns out would help."""
    short: str = ""
    """The line where something else stands beside it: what is new, and what is left."""


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
        return _refusal(counted, has_text=has_text)
    shares = counted.shares
    new, cached = (shares.new, shares.cached) if shares is not None else (counted.draft, counted.reused)
    parts = [_new_words(counted, new, has_text=has_text)]
    in_cache = translate("Composer", "{count} already read")
    left = translate("Composer", "{count} left of {cells}")
    if counted.left_out:
        left = translate("Composer", "{count} left")  # what is said beside it needs the room
        in_cache = translate("Composer", "{count} read")
    elif counted.holds_other:
        in_cache = translate("Composer", "{count} of this chat already read")
    parts.append(in_cache.format(count=count(cached)) if cached or has_text else "")
    parts.append(left.format(count=count(shares.left if shares else None), cells=count(counted.cells)))
    new_and_left = " · ".join(filter(None, (parts[0], parts[-1])))
    return CountWords(" · ".join(filter(None, parts)), _hint(counted, shares), short=new_and_left)


def _new_words(counted: Count, new: int | None, *, has_text: bool) -> str:
    """Return how much is to be read: of what is written, or else of the chat, where that takes a moment."""
    if has_text:
        alone = translate("Composer", "+{count} token")
        return (alone if new == 1 else translate("Composer", "+{count} tokens")).format(count=count(new))
    if counted.answering or new is None or new < WORTH_READING:
        return ""
    if counted.message:
        return translate("Composer", "{count} tokens to read for what waits").format(count=count(new))
    return translate("Composer", "{count} tokens to read again").format(count=count(new))


def with_draft(goes_on: CountWords | None, counted: CountWords) -> CountWords:
    """Return what to say while an answer is written and a draft as well: when that can be sent, and what was said before.

    What keys do is said first, mere counts last; whatever there is no room for is on hover.
    """
    later = translate("Composer", "Esc stops it · Enter sends after it")
    if goes_on is not None:
        text = f"{later} · {goes_on.short or goes_on.text}"
        return CountWords(text, f"{later} · {goes_on.text}")
    return counted._replace(text=f"{later} · {counted.short or counted.text}", hint=f"{counted.text}. {counted.hint}")


def left_out_words(counted: Count, *, is_ahead: bool) -> str:
    """Return how many of the oldest messages the next send goes without, or the answer that is being written.

    `is_ahead` says that something is written or waits that is sent once the answer has ended, and may be longer.
    """
    number = len(counted.left_out)
    if not number:
        return ""
    if counted.answering and is_ahead:
        text = translate("Composer", "Without at least the {count} oldest messages")
        alone = translate("Composer", "Without at least the oldest message")
    else:  # in few words: the counts beside it must stay readable
        text = translate("Composer", "Without the {count} oldest messages")
        alone = translate("Composer", "Without the oldest message")
    return alone if number == 1 else text.format(count=count(number))


def _refusal(counted: Count, *, has_text: bool) -> CountWords:
    """Return the numbers of what does not fit, and what can be done about what makes it long.

    One place of the context is the answer's: without room for its first token nothing is sent.
    """
    what = ""
    if counted.is_long_by_itself:
        what = translate("Composer", "Shorten the message.")
        hint = translate(
            "Composer",
            "The message would be sent as {tokens} tokens and the context holds {cells}, of which the answer needs one"
            " at least. Shorten the message, or load the model with a larger context.",
        )
    else:
        hint = translate(
            "Composer",
            "The whole chat would be sent as {tokens} tokens and the context holds {cells}, of which the answer needs"
            " one at least. Let the oldest turns go, load the model with a larger context, or begin a new chat.",
        )
    cells, excess = count(counted.cells), counted.excess
    trained = count(counted.trained)
    is_beyond = bool(counted.trained) and counted.larger_context is None
    if is_beyond:  # no other button stands beside it
        text = translate("Composer", "Too long: {tokens} tokens, and the model was trained for {trained}. {what}")
        if not has_text:
            text = translate("Composer", "Full: {tokens} tokens, and the model was trained for {trained}. {what}")
        hint = translate(
            "Composer",
            "{tokens} tokens would be sent and this model was trained for {trained}, of which the answer needs one at"
            " least: a larger context would not help. Shorten what is sent, let the oldest turns go, or begin a new chat.",
        )
    elif excess is None:
        text = translate("Composer", "Too long: more than {cells} tokens. {what}")
    elif not has_text:
        text = translate("Composer", "Full: {tokens} + 1 for the answer, of {cells}. {what}")
    elif not what:  # buttons beside it need the room
        text = translate("Composer", "Too long by {excess}: {tokens} + 1 for the answer, of {cells}. {what}")
    elif excess == 1:
        text = translate("Composer", "Too long by 1 token: {tokens} + 1 for the answer, of {cells}. {what}")
    else:
        text = translate("Composer", "Too long by {excess} tokens: {tokens} + 1 for the answer, of {cells}. {what}")
    tokens = f"> {cells}" if counted.needed is None else count(counted.needed)
    words = text.format(excess=count(excess), tokens=tokens, cells=cells, what=what, trained=trained).rstrip()
    can_drop = not counted.is_long_by_itself and not counted.drops
    hint = hint.format(tokens=tokens, cells=cells, trained=trained)
    return CountWords(words, hint, has_text, is_refused=True, can_drop=can_drop)


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
        figures = {name: count(value) for name, value in shares._asdict().items()}
        words = (_reused(counted), _new_and_left(shares))
        said += [each.format(draft=count(counted.draft), **figures) for each in words]
    return " ".join(said)


def _new_and_left(shares: Shares) -> str:
    """Return what of the next prompt has to be read, and what remains behind it."""
    new = translate(
        "Composer",
        "{new} are new: your message has {draft}, the others are marks that the chat template puts around messages,"
        " or text that the cache does not hold.",
    )
    if shares.new == 1:
        new = translate("Composer", "1 is new: the cache does not hold it.")
    one, several = (
        translate("Composer", "1 is left for the answer."),
        translate("Composer", "{left} are left for the answer."),
    )
    return f"{new} {one if shares.left == 1 else several}"


def _reused(counted: Count) -> str:
    """Return what the cache saves; a model that goes back only to saved states may have to read some of it again."""
    is_one = counted.cached == 1
    if counted.memory_kind == "plain" or not counted.cached:
        if is_one:
            return translate("Composer", "1 of them is in the cache already and is not read again.")
        return translate("Composer", "{cached} of them are in the cache already and are not read again.")
    return translate(
        "Composer",
        "At most {cached} of them are in the cache already. This model can go back only to states that were saved, so"
        " some of them may be read again.",
    )
