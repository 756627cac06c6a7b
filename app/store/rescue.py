"""Notices that the files of an open database were deleted or replaced, and writes them anew from what is still open.

A deleted file lives on for the program that has it open, and goes with it. Files are told apart by their numbers
alone: opening one beside SQLite and closing it again would drop SQLite's locks.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from app.core.words import Sentence
from app.store import faults
from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.migrations import migrate, version_of
from app.store.opening import PARTS, connect, put_aside, remove
from app.store.salvage import salvage

LOOK_S = 1.0
"""How often is looked at most."""
MOST_RESCUES = 3
"""On some network disks files get other numbers by themselves: each would look like another file again and again.

After so many only files that are missing count, and are looked for less and less often."""
MOST_DOUBLINGS = 9

Identity = tuple[int, int]
"""Device and number of a file."""


class OpenFiles:
    """The files of the database that is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Identity] = {}
        self._bytes = 0
        """Size of the database when it was looked at last; it never becomes smaller by itself."""
        self._looked = 0.0
        self._gone = False
        """What the last look found; it is looked again each time until they are back or were written anew."""
        self._rescues = 0
        self.are_written = False
        """Whether everything is being written anew at this moment; read by other threads."""

    def watch(self, *, opened: bool) -> None:
        """Know the files as they are now that the database was opened, or none where it is not."""
        self._known.clear()
        self._gone = False
        self._looked = time.monotonic()
        if os.name == "nt" or not opened:
            return  # Windows deletes no open file
        for end in PARTS:
            found = _identity(self._part(end))
            if found is not None:
                self._known[end] = found
        self._bytes = _size(self._path)

    def are_gone(self, *, at_once: bool = False) -> bool:
        """Whether one of them is no longer in its place; looks every `LOOK_S` at most, unless at once or one was gone."""
        pause = LOOK_S * 2 ** min(max(self._rescues - MOST_RESCUES, 0), MOST_DOUBLINGS)
        if not (at_once or self._gone) and time.monotonic() - self._looked < pause:
            return False
        self._looked = time.monotonic()
        self._gone = any(self._is_gone(end) for end in self._known) or self._is_emptied()
        return self._gone

    def write_anew(self, connection: sqlite3.Connection) -> list[Sentence]:
        """Write all that the connection still reads to a new file in the old place.

        Return what people must know once it is open. Raises `DATABASE_ERRORS` and `OSError`; then nothing has
        changed. The connection must be closed before the new file is opened.
        """
        self.are_written = True
        try:
            told = self._replace(connection, self._path)
        finally:
            self.are_written = False
        self._rescues += 1
        news = [told]
        if self._rescues == MOST_RESCUES:
            news.append(faults.left_alone(self._path))
        return news

    def _replace(self, connection: sqlite3.Connection, path: Path) -> Sentence:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.new")
        remove(unfinished)
        saved: int | None = None
        is_emptied = self._is_emptied()
        try:
            if is_emptied and not _is_copied(connection, unfinished):
                saved = _salvaged(connection, unfinished)
            elif not is_emptied:
                with closing(sqlite3.connect(unfinished)) as copy:
                    connection.backup(copy)
            if saved is not None and self._is_worth_keeping():
                aside: Path | None = put_aside(path, "emptied")
            else:
                aside = self._clear()
            unfinished.replace(path)
        finally:
            remove(unfinished)
        return faults.emptied(path, saved, aside) if is_emptied else faults.written_anew(path, aside)

    def _is_emptied(self) -> bool:
        """Whether the database is still in its place and holds less than it did."""
        if "" not in self._known or _identity(self._path) != self._known[""]:
            return False
        before, self._bytes = self._bytes, max(self._bytes, _size(self._path))
        return _size(self._path) < before

    def _is_worth_keeping(self) -> bool:
        return any(_size(self._part(end)) for end in ("", "-wal"))

    def _clear(self) -> Path | None:
        """Make room: what is ours goes, for the copy holds all of it; what is not is put aside."""
        ours = [end for end in PARTS if self._known.get(end) == _identity(self._part(end))]
        for end in ours:
            if end:  # the database itself is replaced, so that there is one at every moment
                self._part(end).unlink(missing_ok=True)
        others = [end for end in PARTS if end not in ours and self._part(end).exists()]
        aside = put_aside(self._path, "replaced", others) if others else None
        return aside if "" in others else None

    def _part(self, end: str) -> Path:
        return self._path.with_name(f"{self._path.name}{end}")

    def _is_gone(self, end: str) -> bool:
        """Whether a file is no longer in its place; where that cannot be seen it is as it was."""
        try:
            found = self._part(end).stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return self._gone
        return self._rescues < MOST_RESCUES and _numbers(found) != self._known[end]


def _is_copied(connection: sqlite3.Connection, target: Path) -> bool:
    """Copy all that the connection reads; false, with nothing left of it, where that is no whole database."""
    try:
        with closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)
            is_whole = version_of(copy) and copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    except DATABASE_ERRORS as error:
        if fault_of(error) not in (Fault.DAMAGED, None):
            raise
        is_whole = False
    if not is_whole:
        remove(target)
    return bool(is_whole)


def _salvaged(connection: sqlite3.Connection, target: Path) -> int:
    """Make a new database with what the connection can still read; return how many conversations are in it."""
    with closing(connect(target)) as fresh:
        migrate(fresh)
        return salvage(connection, fresh)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _numbers(found)


def _numbers(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
