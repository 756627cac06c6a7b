"""The search index: a file of its own beside the chats, which narrows down where a text may be.

It knows texts as they were when they were written into it; whether a message is still there, and holds what was typed,
is looked up in the chats. So it may be lost at any time, and never says more than the chats do.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.literal_text import fold
from app.store.cjk import is_cjk, pairs_of
from app.store.faults import DATABASE_ERRORS
from app.store.opening import remove
from app.store.patience import BUSY_MS

FILE_NAME = "search.sqlite3"
VERSION = 1
"""Of the tables below, and of how texts are folded and taken apart: another one is made anew."""
SHORTEST = 3
"""The index knows texts by three letters that follow each other."""
MOST_TERMS = 12
MOST_BEGINNINGS = 200
"""One or two letters that more threes begin with are so common that looking at the newest messages is faster."""
_END = "\x01\x01"
"""Stands behind each text, so that its last letters begin threes, too."""
_LAST_LETTER = "\U0010ffff"
_LARGEST = 2**63 - 1
_MERGED = 2
"""A merge that changed fewer rows found nothing to merge: the command itself counts as one."""

_TABLES = (
    "CREATE TABLE known (key BLOB NOT NULL, round INTEGER NOT NULL, left_below INTEGER)",
    "CREATE TABLE entry (id INTEGER PRIMARY KEY, message INTEGER NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE part USING fts5 (text, tokenize = 'trigram case_sensitive 1', detail = none)",
    "CREATE VIRTUAL TABLE pair USING fts5 (text, tokenize = 'ascii', detail = none)",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Known:
    """What an index says of itself: whose it is, how often it was brought up to date, and what it lacks."""

    key: bytes
    round: int
    left_below: int | None
    """Messages with ids below this one are not in it yet; None where all are."""


class SearchIndex:
    """One open index file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("CREATE VIRTUAL TABLE temp.known_three USING fts5vocab (main, part, row)")

    @property
    def known(self) -> Known:
        """What it says of itself."""
        return Known(*self._connection.execute("SELECT key, round, left_below FROM known").fetchone())

    def begin(self) -> None:
        """Begin a transaction, unless one is open."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def note(self, known: Known) -> None:
        """Say something else of itself, in the transaction that is open."""
        self._connection.execute("UPDATE known SET key = ?, round = ?, left_below = ?", _row(known))

    def commit(self) -> None:
        """Keep what was changed."""
        self._connection.execute("COMMIT")

    def roll_back(self) -> None:
        """Leave everything as it was before the transaction."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def put(self, message: int, text: str) -> None:
        """Take in a message in place of what was known of it; one without text is forgotten."""
        row = self._connection.execute("SELECT id FROM entry WHERE message = ?", (message,)).fetchone()
        if row is None:
            if text:
                (newest,) = self._connection.execute("SELECT MAX(id) FROM entry").fetchone()
                self._add((newest or 0) + 1, message, text)
            return
        for table in ("part", "pair"):
            self._connection.execute(f"DELETE FROM {table} WHERE rowid = ?", row)
        self._connection.execute("DELETE FROM entry WHERE id = ?", row)
        if text:
            self._add(row[0], message, text)

    def put_older(self, messages: Sequence[tuple[int, str]]) -> None:
        """Take in messages that are older than all that are there, the newest of them first."""
        (oldest,) = self._connection.execute("SELECT MIN(id) FROM entry").fetchone()
        entry = min(oldest or 0, 0) - len(messages)
        for message, text in reversed(messages):  # ascending entries: any other order makes FTS5 write each by itself
            known = self._connection.execute("SELECT id FROM entry WHERE message = ?", (message,)).fetchone()
            if text and known is None:
                self._add(entry, message, text)
            entry += 1

    def merge(self, pages: int) -> bool:
        """Do a part of what makes forgotten words disappear from the file; false when there is nothing to do."""
        return self._merge("part", pages) | self._merge("pair", pages)

    def candidates(self, wanted: str, before: int | None) -> sqlite3.Cursor | None:
        """Return entries that may hold a folded text, with their messages, newest first; None where it cannot narrow."""
        table, query = "part", _trigrams(wanted)
        if len(wanted) < SHORTEST and all(map(is_cjk, wanted)):
            table, query = "pair", f'"{wanted}"' + ("*" if len(wanted) == 1 else "")
        elif len(wanted) < SHORTEST:
            beginnings = self._threes_with(wanted)
            if len(beginnings) >= MOST_BEGINNINGS:
                return None
            query = _quoted(beginnings or [wanted + _END], "OR")
        return self._connection.execute(
            f"SELECT entry.id, message FROM {table} CROSS JOIN entry ON entry.id = {table}.rowid "
            f"WHERE {table} MATCH ? AND {table}.rowid < ? ORDER BY {table}.rowid DESC",
            (query, _LARGEST if before is None else before),
        )

    def _threes_with(self, wanted: str) -> list[str]:
        """Return what is known that begins with one or two letters: whatever holds these holds one of them."""
        rows = self._connection.execute(
            "SELECT term FROM temp.known_three WHERE term >= ? AND term < ? LIMIT ?",
            (wanted, wanted + _LAST_LETTER * SHORTEST, MOST_BEGINNINGS),
        )
        return [term for (term,) in rows]

    def close(self) -> None:
        """Let go of the file; a transaction that is open came to nothing."""
        self._connection.close()

    def _merge(self, table: str, pages: int) -> bool:
        before = self._connection.total_changes
        self._connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (-pages,))
        return self._connection.total_changes - before >= _MERGED

    def _add(self, entry: int, message: int, text: str) -> None:
        self._connection.execute("INSERT INTO entry (id, message) VALUES (?, ?)", (entry, message))
        folded = fold(text)
        self._connection.execute("INSERT INTO part (rowid, text) VALUES (?, ?)", (entry, folded + _END))
        if pairs := pairs_of(folded):
            self._connection.execute("INSERT INTO pair (rowid, text) VALUES (?, ?)", (entry, pairs))


def open_index(folder: Path, key: bytes, round_: int, beyond: int | None) -> tuple[SearchIndex, bool]:
    """Open the index of a folder; one that is damaged, of another version or of other chats is made anew, empty.

    `beyond` is above every message that is there, None where there is none. Tells also whether it is new. Raises `DATABASE_ERRORS` and `OSError` where that cannot be done.
    """
    path = folder / FILE_NAME
    try:
        connection = _connect(path)
        try:
            if _suits(connection, key, round_):
                return SearchIndex(connection), False
        except BaseException:
            connection.close()
            raise
        connection.close()
    except sqlite3.DatabaseError as error:
        _log.info("The search index is made anew: %s", error)
    remove(path)
    connection = _connect(path)
    connection.execute("BEGIN IMMEDIATE")
    for table in _TABLES:
        connection.execute(table)
    connection.execute("INSERT INTO known (key, round, left_below) VALUES (?, ?, ?)", (key, round_, beyond))
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    return SearchIndex(connection), True


def look_into_index(folder: Path, key: bytes, round_: int) -> SearchIndex | None:
    """Return the index for reading alone, beside whoever writes it; None where it does not belong to these chats."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_MS / 1000)
    except DATABASE_ERRORS as error:
        _log.info("The search index cannot be read: %s", error)
        return None
    try:
        if _suits(connection, key, round_):
            return SearchIndex(connection)
    except DATABASE_ERRORS as error:
        _log.info("The search index cannot be read: %s", error)
    connection.close()
    return None


def remove_index(folder: Path) -> None:
    """Delete the index of a folder."""
    remove(folder / FILE_NAME)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _suits(connection: sqlite3.Connection, key: bytes, round_: int) -> bool:
    """Whether an index is of these chats as they are: its last change may be one ahead of what they know of."""
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        return False
    row = connection.execute("SELECT key, round FROM known").fetchone()
    return row is not None and row[0] == key and row[1] in (round_, round_ + 1)


def _row(known: Known) -> tuple[bytes, int, int | None]:
    return known.key, known.round, known.left_below


def _trigrams(wanted: str) -> str:
    """Return the question for texts that hold all of some threes of letters; more of them cost more than they narrow."""
    threes = list(dict.fromkeys(wanted[start : start + SHORTEST] for start in range(len(wanted) - SHORTEST + 1)))
    return _quoted(threes[:: max(-(-len(threes) // MOST_TERMS), 1)], "AND")


def _quoted(terms: Sequence[str], joined: str) -> str:
    return f" {joined} ".join('"' + term.replace('"', '""') + '"' for term in terms)
