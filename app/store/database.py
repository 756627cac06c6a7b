"""The database as it is open at the moment: for writing, for reading alone, or not at all.

Must not decide when it is opened, nor tell anybody of it.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from app.core.conversation import Conversation
from app.core.store_commands import RestoreTrash
from app.store.answering import Reader
from app.store.erasing import Erasing
from app.store.faults import DATABASE_ERRORS
from app.store.indexing import Indexing
from app.store.patience import Patience
from app.store.rescue import OpenFiles
from app.store.trash import restore
from app.store.writing import Writer

_log = logging.getLogger(__name__)


class Database:
    """One connection and all that goes with it."""

    def __init__(self, path: Path, search_ready: Callable[[], None]) -> None:
        self._path = path
        self.connection: sqlite3.Connection | None = None
        """The one that writes."""
        self.reading: sqlite3.Connection | None = None
        """Where the chats may be read and not written."""
        self.writer: Writer | None = None
        self.indexing = Indexing(path.parent, search_ready)
        self.reader = Reader(path, None)
        self.files = OpenFiles(path)
        self.erasing = Erasing()

    def use(self, connection: sqlite3.Connection | None, reading: sqlite3.Connection | None = None) -> None:
        """Close what is open, and go on with another connection or none."""
        for earlier in (self.connection, self.reading):
            if earlier is not None:
                earlier.close()
        self.connection, self.reading = connection, reading
        self.writer = Writer(connection) if connection is not None else None
        self.reader = Reader(self._path, connection or reading, self.indexing if connection is not None else None)
        self.files.watch(opened=connection is not None)
        if connection is not None:
            self.erasing.begin()
            self.indexing.begin()
        else:
            self.erasing.stop()
            self.indexing.stop()

    def rest(self) -> bool:
        """Do one piece of the work that can wait; true when more of it is left."""
        if self.connection is None or self.writer is None:
            return False
        return self.erasing.step(self.connection, self.writer.prompts) or self.indexing.step(self.connection)

    def restore(self, command: RestoreTrash, patience: Patience, seconds: float) -> Conversation | None:
        """Bring something back out of the trash; None where it is gone or nothing can be written.

        Another program that writes is waited for so many seconds. Raises `DATABASE_ERRORS`; then nothing has changed.
        """
        connection = self.connection
        if connection is None:
            return None
        patience.run(lambda: connection.execute("BEGIN IMMEDIATE"), seconds)
        try:
            head = restore(connection, command.conversation, command.message)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return head

    def interrupt(self) -> None:
        """Break off what SQLite does at the moment; safe from any thread."""
        connection = self.connection
        if connection is None:
            return
        try:
            connection.interrupt()
        except sqlite3.ProgrammingError:
            return  # it was closed meanwhile

    def close(self) -> None:
        """Tidy the files up, and let go of them."""
        if self.connection is not None:
            try:
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except DATABASE_ERRORS as error:
                _log.info("The write-ahead log stays as it is: %s", error)
        self.use(None)
