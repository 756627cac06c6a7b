"""Erases for good what people deleted a month ago or want to be gone, little by little and from the ends of the branches.

A message goes only when nothing follows it any more, so that what is left is whole at every moment.
"""

from __future__ import annotations

import logging
import sqlite3
import time

from app.store.comparisons import remove_without_lanes
from app.store.deletions import TO_ERASE, mark_old
from app.store.faults import DATABASE_ERRORS
from app.store.prompts import PromptRows

STEP_S = 0.008
"""How long one step goes on; whoever waits for the store waits for no more than that."""
_CHUNKS = 32
"""How many stretches of an answer go at once: a long one has thousands."""

_log = logging.getLogger(__name__)


class Erasing:
    """What is still to be erased of the database that is open."""

    def __init__(self) -> None:
        self._is_looked_up = False
        self._is_wanted = False

    def begin(self) -> None:
        """Find out what is to be erased as soon as there is time."""
        self._is_looked_up, self._is_wanted = False, True

    def stop(self) -> None:
        """Erase nothing more."""
        self._is_wanted = False

    def step(self, connection: sqlite3.Connection, prompts: PromptRows) -> bool:
        """Erase for a moment; true when more is left."""
        if not self._is_wanted:
            return False
        try:
            connection.execute("BEGIN IMMEDIATE")
            if self._is_looked_up:
                self._is_wanted = _erase_some(connection, prompts)
            else:
                mark_old(connection)
                self._is_looked_up = True
            connection.execute("COMMIT")
        except BaseException as error:
            prompts.forget()
            self._is_wanted = False
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if not isinstance(error, DATABASE_ERRORS):
                raise
            _log.info("What was deleted was not erased (%s); it is tried at the next start", error)
        return self._is_wanted


def _erase_some(connection: sqlite3.Connection, prompts: PromptRows) -> bool:
    """Erase until the time is up; false when nothing is left that can go."""
    until = time.monotonic() + STEP_S
    is_more = True
    while is_more:
        message = _next_message(connection)
        if message is not None:
            _erase_message(connection, prompts, message)
        else:
            is_more = _erase_conversations(connection)
        if time.monotonic() >= until:
            break
    return is_more


def _next_message(connection: sqlite3.Connection) -> int | None:
    """Return a message to be erased: one that nothing follows, or the newest of a conversation that goes as a whole."""
    row = (
        connection.execute(
            "SELECT id FROM message AS last WHERE deleted_ms = ? AND NOT EXISTS "
            "(SELECT 1 FROM message WHERE parent = last.id AND id <> last.id) ORDER BY id DESC LIMIT 1",
            (TO_ERASE,),
        ).fetchone()
        or connection.execute(
            "SELECT message.id FROM conversation CROSS JOIN message ON conversation = conversation.id "
            "WHERE conversation.deleted_ms = ? ORDER BY message.id DESC LIMIT 1",
            (TO_ERASE,),
        ).fetchone()
    )
    return None if row is None else int(row[0])


def _erase_message(connection: sqlite3.Connection, prompts: PromptRows, message: int) -> None:
    """Remove some of a long answer, or a message with all that is left of it."""
    prompts.remove(message)
    chunks = connection.execute(
        "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE answer = ? LIMIT ?)", (message, _CHUNKS)
    )
    if chunks.rowcount < _CHUNKS:
        lane = connection.execute("SELECT comparison FROM answer WHERE message = ?", (message,)).fetchone()
        connection.execute("DELETE FROM message WHERE id = ?", (message,))
        if lane is not None and lane[0] is not None:
            remove_without_lanes(connection, lane[0])


def _erase_conversations(connection: sqlite3.Connection) -> bool:
    """Remove the conversations whose messages are all gone; false when there is none."""
    connection.execute(
        "DELETE FROM draft WHERE conversation IN (SELECT id FROM conversation WHERE deleted_ms = ?)", (TO_ERASE,)
    )
    return connection.execute("DELETE FROM conversation WHERE deleted_ms = ?", (TO_ERASE,)).rowcount > 0
