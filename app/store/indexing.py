"""Brings the search index up to date, little by little and while nothing else is to be done.

The chats note which messages the index does not know as they are; it has them first, and only then are they struck off.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.search_index import SearchIndex, look_into_index, open_index, remove_index

STEP_S = 0.008
"""How long one step goes on; whoever waits for the store waits for no more than that and one message."""
MOST_NEW = 100
"""So many messages that the index does not know yet are looked at one by one."""
_AT_ONCE = 200
_CHARACTERS = 40_000
"""So much text is taken in at once where the index is made anew, which takes about as long."""
_COMMITTED = 500
"""So many messages are kept at once where the index is made anew: each time costs as much as reading some hundred."""
_MERGED_PAGES = 32

_log = logging.getLogger(__name__)


class Indexing:
    """The index of the database that is open, and what is still to be done in it."""

    def __init__(self, folder: Path, ready: Callable[[], None]) -> None:
        self._folder = folder
        self._ready = ready
        self.is_awaited = False
        """Whether somebody was told that not all was looked at: they hear of it once all can be."""
        self._index: SearchIndex | None = None
        self._is_wanted = False
        self._must_merge = False
        self._unkept = 0
        """Messages that were taken in and not committed yet."""
        self._was_renewed = False

    def begin(self) -> None:
        """Look after the index of a database that was opened."""
        self._close()
        self._is_wanted = True

    def stop(self) -> None:
        """Let go of the index."""
        self._close()
        self._is_wanted = False

    def index(self, connection: sqlite3.Connection) -> SearchIndex | None:
        """Return the index; None where there can be none now, and every message must be looked at."""
        if self._is_wanted and self._index is None:
            try:
                self._index = _opened(connection, self._folder)
            except (*DATABASE_ERRORS, OSError) as error:
                self.failed(error)
        return self._index

    def step(self, connection: sqlite3.Connection) -> bool:
        """Bring it up to date for a moment; true when more is left."""
        index = self.index(connection)
        is_more = False
        if index is not None:
            try:
                is_more = self._step(connection, index)
            except (*DATABASE_ERRORS, OSError) as error:
                self.failed(error)
        if not is_more and self.is_awaited:
            self.is_awaited = False
            self._ready()
        return is_more

    def failed(self, error: Exception) -> None:
        """Go on after the index could not be read or written; a damaged one is made anew, once.

        Nothing that goes wrong with it is more than a slower search, so that nobody is told.
        """
        _log.info("The search index cannot be used: %s", error)
        fault = fault_of(error)
        if fault is Fault.LOCKED:
            return
        self._close()
        self._is_wanted = fault is Fault.DAMAGED and not self._was_renewed
        if self._is_wanted:
            self._was_renewed = True
            with suppress(OSError):  # then it is met again as it is, and given up
                remove_index(self._folder)

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _step(self, connection: sqlite3.Connection, index: SearchIndex) -> bool:
        changed = connection.execute(
            "SELECT message FROM unsearched ORDER BY message LIMIT ?", (_AT_ONCE,)
        ).fetchall()
        if not changed and index.known.left_below is None and not self._must_merge:
            return False
        until = time.monotonic() + STEP_S
        index.begin()
        try:
            if changed:
                self._take_changed(connection, index, [message for (message,) in changed], until)
                return True
            if index.known.left_below is not None:
                return self._take_older(connection, index, index.known.left_below)
            self._must_merge = index.merge(_MERGED_PAGES)
            index.commit()
        except BaseException:
            index.roll_back()
            self._unkept = 0
            raise
        return self._must_merge

    def _take_changed(
        self, connection: sqlite3.Connection, index: SearchIndex, messages: list[int], until: float
    ) -> None:
        """Take in messages that changed, and strike those off that it has then."""
        done = []
        for message in messages:
            row = connection.execute("SELECT CAST(text AS BLOB) FROM message WHERE id = ?", (message,)).fetchone()
            self._must_merge = self._must_merge or row is None
            index.put(message, _text(row[0]) if row is not None else "")
            done.append((message,))
            if time.monotonic() >= until:
                break
        _, round_ = _belongs(connection)
        index.note(replace(index.known, round=round_ + 1))
        index.commit()
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany("DELETE FROM unsearched WHERE message = ?", done)
            connection.execute("UPDATE search_index SET round = ?", (round_ + 1,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _take_older(self, connection: sqlite3.Connection, index: SearchIndex, below: int) -> bool:
        """Take in some of the messages that it lacks, from the newest on; false when it has all of them."""
        rows = connection.execute(
            "SELECT id, CAST(text AS BLOB) FROM message WHERE id < ? ORDER BY id DESC", (below,)
        )
        messages: list[tuple[int, str]] = []
        characters = 0
        with closing(rows):
            for message, stored in rows:
                messages.append((message, _text(stored)))
                characters += len(messages[-1][1])
                if characters >= _CHARACTERS or len(messages) >= _AT_ONCE:
                    break
        index.put_older(messages)
        left = messages[-1][0] if messages else None
        self._unkept += len(messages)
        index.note(replace(index.known, left_below=left))
        if left is None or self._unkept >= _COMMITTED:
            self._unkept = 0
            index.commit()
        return left is not None


def _opened(connection: sqlite3.Connection, folder: Path) -> SearchIndex:
    """Open the index of these chats; one that is made anew needs nothing that was noted before."""
    key, round_ = _belongs(connection)
    (newest,) = connection.execute("SELECT MAX(id) FROM message").fetchone()
    index, is_new = open_index(folder, key, round_, None if newest is None else newest + 1)
    if is_new:
        connection.execute("DELETE FROM unsearched")
    return index


def whole_index(folder: Path, connection: sqlite3.Connection) -> SearchIndex | None:
    """Return the index for reading alone, as far as little is missing in it; else all messages must be looked at."""
    index = look_into_index(folder, *_belongs(connection))
    if index is None:
        return None
    try:
        (changed,) = connection.execute("SELECT COUNT(*) FROM unsearched").fetchone()
        if changed <= MOST_NEW and index.known.left_below is None:
            return index
    except DATABASE_ERRORS as error:
        _log.info("The search index cannot be read: %s", error)
    index.close()
    return None


def _belongs(connection: sqlite3.Connection) -> tuple[bytes, int]:
    """Return whose index it must be, and how often it was brought up to date."""
    key, round_ = connection.execute("SELECT key, round FROM search_index").fetchone()
    return key, round_


def _text(stored: object) -> str:
    return stored.decode("utf-8", "replace") if isinstance(stored, bytes) else ""
