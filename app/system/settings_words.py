"""What is said of settings that could not be read: names out of a file that people, or a crash, may have changed."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.printable import printable
from app.core.words import Sentence, translate

MOST_NAMED, MOST_SHOWN = 6, 80
"""Settings that a sentence names, of more it says how many; and characters of such a name."""


def unread_sentence(names: Sequence[str]) -> Sentence:
    """Return which settings could not be read and have their defaults instead."""
    if len(names) == 1:
        return translate(
            "Settings", "The setting “{name}” could not be read and is at its default now.", name=_shown(names[0])
        )
    named, more = ", ".join(f"“{_shown(name)}”" for name in names[:MOST_NAMED]), len(names) - MOST_NAMED
    if more <= 0:
        return translate(
            "Settings", "These settings could not be read and are at their defaults now: {names}.", names=named
        )
    return translate(
        "Settings",
        "These settings could not be read and are at their defaults now: {names}, and {more} more.",
        names=named,
        more=more,
    )


def listed(names: Sequence[str]) -> str:
    """Return names as one text, as many as a sentence can hold."""
    return ", ".join([*(f"“{_shown(name)}”" for name in names[:MOST_NAMED]), *(["…"] if names[MOST_NAMED:] else [])])


def _shown(name: str) -> str:
    """Return a name out of the file so that it leaves the sentence around it as it is."""
    return printable(name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}…")
