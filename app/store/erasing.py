"""Erases for good what people deleted a month ago, a conversation at a time."""

from __future__ import annotations

import logging
import sqlite3
import time

from app.store.faults import DATABASE_ERRORS

_log = logging.getLogger(__name__)

KEPT_DAYS = 30
"""How long a deleted conversation can be brought back."""
_DAY_MS = 24 * 60 * 60 * 1000


def deleted_long_ago(connection: sqlite3.Connection, now_ms: int) -> list[int]:
    """Return the conversations that were deleted so long ago that nobody wants them back."""
    rows = connection.execute(
        "SELECT id FROM conversation WHERE deleted_ms IS NOT NULL AND deleted_ms < ?", (now_ms - KEPT_DAYS * _DAY_MS,)
    )
    return [conversation for (conversation,) in rows]


def erase(connection: sqlite3.Connection, conversation: int) -> None:
    """Remove a conversation with everything of it, unless it was brought back; the other rows go by themselves."""
    messages = (
        "(SELECT message.id FROM message JOIN conversation ON conversation.id = conversation "
        "WHERE conversation = ? AND conversation.deleted_ms IS NOT NULL)"
    )
    deleted = "(SELECT id FROM conversation WHERE id = ? AND deleted_ms IS NOT NULL)"
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(f"DELETE FROM draft WHERE conversation IN {deleted}", (conversation,))
        connection.execute(f"DELETE FROM chunk WHERE answer IN {messages}", (conversation,))
        connection.execute(f"DELETE FROM answer_prompt WHERE message IN {messages}", (conversation,))
        connection.execute("DELETE FROM conversation WHERE id = ? AND deleted_ms IS NOT NULL", (conversation,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class Erasing:
    """What is still to be erased of the database that is open."""

    def __init__(self) -> None:
        self._left: list[int] = []

    def look_up(self, connection: sqlite3.Connection) -> None:
        """Find out what is to be erased now."""
        try:
            self._left = deleted_long_ago(connection, int(time.time() * 1000))
        except DATABASE_ERRORS as error:
            _log.info("What was deleted long ago could not be looked up: %s", error)

    def step(self, connection: sqlite3.Connection) -> bool:
        """Erase one conversation; true when more of them are left."""
        if not self._left:
            return False
        try:
            erase(connection, self._left[-1])
        except DATABASE_ERRORS as error:
            _log.info("A deleted conversation was not erased (%s); it is tried at the next start", error)
            self._left.clear()
            return False
        self._left.pop()
        return bool(self._left)

    def stop(self) -> None:
        """Erase nothing more."""
        self._left.clear()
