"""How long a prompt took to be read, in words, and what of it was no prompt. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.metrics import MIN_PREFILL_TOKENS
from app.gui.inside.loop.memory_words import counted
from app.gui.inside.timing.bar_words import in_seconds
from app.services.loop_values import LoopPrefill, LoopValues
from app.services.units import count

translate = QCoreApplication.translate


def begun_words(begun: int) -> str:
    """Return how many of the tokens that are read are no prompt."""
    return counted(
        translate("Loop", "1 of all is what the answer begins with."),
        translate("Loop", "{count} of all are what the answer begins with."),
        begun,
    )


def done_words(read: LoopPrefill) -> str:
    """Return how much of a prompt is read, and how much of that was there."""
    one = translate("Loop", "1 of {total} tokens is read;")
    several = translate("Loop", "{done} of {total} tokens are read;")
    done = (one if read.done == 1 else several).format(done=count(read.done), total=count(read.total))
    found = counted(
        translate("Loop", "1 of them was in the cache already."),
        translate("Loop", "{count} of them were in the cache already."),
        read.from_cache,
    )
    return f"{done} {found}"


def _seconds(value: float) -> str:
    """Return a time in seconds, long or short, with two figures: of two, people see which is how much longer."""
    return in_seconds(f"{value:,.0f}" if value >= 10 else f"{value:.2g}")


def why_no_speed(values: LoopValues) -> str:
    """Return why nobody knows how fast the prompt was read that is in the cache by now; empty where somebody does."""
    read = values.prefill
    if read is None or read.tokens_per_s is not None or values.phase == "reading" or read.done < read.total:
        return ""
    new = read.total - read.from_cache
    if new >= MIN_PREFILL_TOKENS:
        return translate("Loop", "How fast it was read is not known.")
    words = translate("Loop", "Speed: –, because {count} tokens alone had to be read; {least} are needed to tell it.")
    if new == 1:
        words = translate("Loop", "Speed: –, because 1 token alone had to be read; {least} are needed to tell it.")
    return words.format(count=count(new), least=MIN_PREFILL_TOKENS)


def took_words(values: LoopValues) -> str:
    """Return how long the prompt took to be read, beside how long a token takes then; empty where that is unknown."""
    read = values.prefill
    if read is None or not read.tokens_per_s:
        return ""
    new = read.total - read.from_cache
    begun = min(read.begun, new)
    is_one = new - begun == 1
    one, several = (
        translate("Loop", "{time} for the whole prompt's 1 token"),
        translate("Loop", "{time} for the whole prompt's {count} tokens"),
    )
    if read.from_cache:
        one, several = (
            translate("Loop", "{time} for the 1 token of the whole prompt that was not in the cache yet"),
            translate("Loop", "{time} for the {count} tokens of the whole prompt that were not in the cache yet"),
        )
    words = one if is_one else several
    if begun == new > 0:
        words = translate("Loop", "{time} for {begun} tokens that the answer begins with")
        if begun == 1:
            words = translate("Loop", "{time} for 1 token that the answer begins with")
    elif begun:
        words += translate("Loop", " and {begun} that the answer begins with")
    words = words.format(time=_seconds(new / read.tokens_per_s), count=count(new - begun), begun=count(begun))
    if not values.tokens_per_s:
        return f"{words}."
    then = translate("Loop", "then about {time} for each token").format(time=_seconds(1 / values.tokens_per_s))
    return f"{words}, {then}."
