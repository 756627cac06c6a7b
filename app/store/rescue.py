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

from app.store.opening import PARTS, put_aside, remove

LOOK_S = 1.0
"""How often is looked at most."""
MOST_RESCUES = 3
"""On some network disks files get other numbers by themselves: each would look like another file again and again."""

Identity = tuple[int, int]
"""Device and number of a file."""


class OpenFiles:
    """The files of the database that is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Identity] = {}
        self._looked = 0.0
        self._rescues = 0
        self.are_written = False
        """Whether everything is being written anew at this moment; read by other threads."""

    def watch(self, *, opened: bool) -> None:
        """Know the files as they are now that the database was opened, or none where it is not."""
        self._known.clear()
        self._looked = time.monotonic()
        if os.name == "nt" or not opened or self._rescues == MOST_RESCUES:
            return  # Windows deletes no open file
        for end in PARTS:
            found = _identity(self._part(end))
            if found is not None:
                self._known[end] = found

    def are_gone(self, *, at_once: bool = False) -> bool:
        """Whether one of them is no longer in its place; looks at most every `LOOK_S`, unless at once."""
        if not at_once and time.monotonic() - self._looked < LOOK_S:
            return False
        self._looked = time.monotonic()
        return any(not self._is_there(end) for end in self._known)

    def write_anew(self, connection: sqlite3.Connection) -> Path | None:
        """Write all that the connection still reads to a new file in the old place.

        Return where another file was put that stood there. Raises `DATABASE_ERRORS` and `OSError`; then nothing has
        changed. The connection must be closed before the new file is opened.
        """
        self.are_written = True
        try:
            aside = self._replace(connection, self._path)
        finally:
            self.are_written = False
        self._rescues += 1
        return aside

    def _replace(self, connection: sqlite3.Connection, path: Path) -> Path | None:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.new")
        remove(unfinished)
        try:
            with closing(sqlite3.connect(unfinished)) as copy:
                connection.backup(copy)
            aside = self._clear()
            unfinished.replace(path)
        finally:
            remove(unfinished)
        return aside

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

    def _is_there(self, end: str) -> bool:
        """Whether a file is in its place still; where that cannot be seen it counts as there."""
        try:
            found = self._part(end).stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return (found.st_dev, found.st_ino) == self._known[end]


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
