"""Finds messages that hold a text: the index says where that may be, and each message itself decides.

What is deleted, or a lane that nobody kept, is not found. A search ends after a moment and says where it goes on.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import Any

from app.core.attached_files import unframed
from app.core.literal_text import matches, needle, snippet_of
from app.core.search import FoundMessage, SearchPlace
from app.core.store_commands import FindMessages
from app.core.store_events import MessagesFound
from app.store import columns
from app.store.comparisons import hidden_lanes
from app.store.faults import DATABASE_ERRORS
from app.store.indexing import MOST_NEW, Indexing
from app.store.reading import read_text
from app.store.search_index import SHORTEST, SearchIndex

SLICE_S = 0.03
"""How long the store looks before it says what was found so far: others wait for it meanwhile."""
_LARGEST = 2**63 - 1
_SAMPLE, _COMMON = 300, 30

_FIELDS = "message.id, message.id, conversation.id, title, role, message.created_ms, CAST(message.text AS BLOB), comparison, state"
_BESIDE = "CROSS JOIN conversation ON conversation.id = conversation LEFT JOIN answer ON answer.message = message.id"
_THERE = "message.deleted_ms IS NULL AND conversation.deleted_ms IS NULL"
_ONE = f"SELECT {_FIELDS} FROM message {_BESIDE} WHERE message.id = ? AND {_THERE}"
_ALL = f"SELECT {_FIELDS} FROM message {_BESIDE} WHERE message.id < ? AND {_THERE} ORDER BY message.id DESC"


class Search:
    """One question put to the chats."""

    def __init__(self, connection: sqlite3.Connection, index: SearchIndex | None, question: FindMessages) -> None:
        self._connection = connection
        self._index = index
        self._question = question
        self._wanted = needle(question.text)
        self._lanes: dict[int, frozenset[int]] = {}
        self._found: list[FoundMessage] = []

    def run(self) -> MessagesFound:
        """Look for a moment, or until a page is full. Raises `DATABASE_ERRORS`."""
        request, after = self._question.request, self._question.after
        if not self._wanted:
            return MessagesFound(request, ())
        until = time.monotonic() + SLICE_S
        fresh, is_whole = self._fresh()
        if after is None:
            for message in sorted(fresh, reverse=True):
                self._look_at(message)
        candidates, is_scan = self._candidates(after)
        last: int | None = None
        with closing(candidates):
            for place, message, *row in candidates:
                is_full = len(self._found) >= self._question.limit
                if last is not None and (is_full or time.monotonic() >= until):
                    rest = SearchPlace(last, is_scan)
                    return MessagesFound(request, tuple(self._found), rest, is_whole or is_scan)
                last = place
                if message not in fresh:
                    self._look_at(message, row)
        return MessagesFound(request, tuple(self._found), None, is_whole or is_scan)

    def _fresh(self) -> tuple[set[int], bool]:
        """Return what the index cannot know yet, and whether it knows all else."""
        fresh = {
            message for (message,) in self._connection.execute("SELECT message FROM answer WHERE state = 'open'")
        }
        if self._index is None:
            return fresh, True
        newest = "SELECT message FROM unsearched ORDER BY message DESC LIMIT ?"
        changed = [message for (message,) in self._connection.execute(newest, (MOST_NEW + 1,))]
        is_whole = len(changed) <= MOST_NEW and self._index.known.left_below is None
        return fresh.union(changed[:MOST_NEW]), is_whole

    def _candidates(self, after: SearchPlace | None) -> tuple[sqlite3.Cursor, bool]:
        """Return where the text may be, and whether that is everywhere: a place, a message and maybe its row."""
        goes_on_scanning = after.is_scan if after is not None else self._is_common()
        if self._index is not None and not goes_on_scanning:
            narrowed = self._index.candidates(self._wanted, after.before if after is not None else None)
            if narrowed is not None:
                return narrowed, False
        before = after.before if after is not None and after.is_scan else _LARGEST
        return self._connection.execute(_ALL, (before,)), True

    def _is_common(self) -> bool:
        """Whether one or two letters are in so many of the newest messages that these are looked at one by one."""
        if len(self._wanted) >= SHORTEST:
            return False
        newest = "SELECT CAST(text AS BLOB) FROM message ORDER BY id DESC LIMIT ?"
        texts = (_decoded(text) for (text,) in self._connection.execute(newest, (_SAMPLE,)))
        return sum(bool(matches(text, self._wanted, 1)) for text in texts) >= _COMMON

    def _look_at(self, message: int, row: list[Any] | None = None) -> None:
        """Take a message if it holds the text; it is read where its row is not at hand."""
        if not row:
            read = self._connection.execute(_ONE, (message,)).fetchone()
            if read is None:
                return
            row = list(read[2:])
        conversation, title, role, created_ms, stored, comparison, state = row
        text = _decoded(stored)
        if state == "open":
            text = read_text(self._connection, message) or text
        if role == "user":
            text = unframed(text)
        if not matches(text, self._wanted, 1) or (comparison is not None and self._is_hidden(conversation, message)):
            return
        self._found.append(
            FoundMessage(
                message,
                conversation,
                columns.text(title),
                role == "assistant",
                columns.integer(created_ms) or 0,
                snippet_of(text, self._wanted),
            )
        )

    def _is_hidden(self, conversation: int, message: int) -> bool:
        if conversation not in self._lanes:
            self._lanes[conversation] = hidden_lanes(self._connection, conversation)
        return message in self._lanes[conversation]


def _decoded(stored: object) -> str:
    return stored.decode("utf-8", "replace") if isinstance(stored, bytes) else ""


def find(connection: sqlite3.Connection, indexing: Indexing | None, question: FindMessages) -> MessagesFound:
    """Answer a question, with the index or where that fails without. Raises `DATABASE_ERRORS`."""
    index = indexing.index(connection) if indexing is not None else None
    if indexing is not None and index is not None:
        try:
            found = Search(connection, index, question).run()
        except DATABASE_ERRORS as error:
            indexing.failed(error)
        else:
            indexing.is_awaited = indexing.is_awaited or not found.is_whole
            return found
    return Search(connection, None, question).run()
