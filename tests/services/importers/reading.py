"""What the tests of importers read, and how they look at what was made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from app.core.conversation import Message
from app.core.whole_chat import WholeChat
from app.services.importers.found import Found

EXPORTS = Path(__file__).parent / "exports"


def whole(found: Iterable[Found]) -> Found:
    """Return what was found piece by piece as one."""
    pieces = list(found)
    return Found(
        tuple(chat for piece in pieces for chat in piece.chats),
        tuple(each for piece in pieces for each in piece.unread),
    )


def reasons(found: Found) -> list[str]:
    """Return why something could not be read, as people read it."""
    return [each.reason.english() for each in found.unread]


def branch(chat: WholeChat) -> list[tuple[str, str]]:
    """Return what is said in the branch that is shown."""
    return [(message.role, message.text) for message in reversed(list(_upwards(chat)))]


def _upwards(chat: WholeChat) -> Iterator[Message]:
    by_id = {message.id: message for message in chat.messages}
    at = chat.head.leaf
    while at is not None:
        yield by_id[at]
        at = by_id[at].parent
