"""What an importer makes of a file: the conversations in it, and what could not be read of it.

Ids of an imported conversation grow from its first message on and are its own: no two values of one conversation have the
same, and whoever takes it in gives all of them new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.whole_chat import WholeChat
from app.core.words import Sentence


@dataclass(frozen=True)
class Unread:
    """A conversation, or a part of one, that could not be read."""

    title: str
    """What the conversation is called; "" where nobody knows."""
    place: str
    """Where it lies in the file, as its format says it, like `[3].mapping`."""
    reason: Sentence


@dataclass(frozen=True)
class Found:
    """What was found in a file, or in a part of it."""

    chats: tuple[WholeChat, ...] = field(default=())
    unread: tuple[Unread, ...] = field(default=())


Stops = Callable[[], bool]
"""Tells whether nobody wants the rest any more; asked on the thread that reads."""


class StoppedError(Exception):
    """Nobody wants the rest any more."""


def never() -> bool:
    """Whatever is read is wanted."""
    return False


def look_for_stop(stops: Stops) -> None:
    """Raise `StoppedError` once nobody wants the rest."""
    if stops():
        raise StoppedError
