"""Opens the chats for reading alone, where nothing may be written: people still see what was said.

Must not write beside the database, nor bring an old one up to date.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from app.core.conversation import Conversation
from app.store.faults import DATABASE_ERRORS
from app.store.migrations import APPLICATION_ID, MIGRATIONS, version_of
from app.store.patience import BUSY_MS
from app.store.reading import read_conversations

MOST_COPIED = 256 << 20
"""Bytes of a database that are read into memory, where its log can be taken in nowhere else."""

_log = logging.getLogger(__name__)

Reading = tuple[sqlite3.Connection, tuple[Conversation, ...]]


def open_read_only(path: Path) -> Reading | None:
    """Return a connection that only reads, and the conversations; None where they cannot be read either."""
    try:
        if not path.is_file():
            return None
        if (opened := _opened(f"{path.absolute().as_uri()}?mode=ro")) is not None:
            return opened
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            return _copied(path, log)
        # SQLite reads such a file only where it need not lock it, which nobody can change anyway.
        return _opened(f"{path.absolute().as_uri()}?immutable=1")
    except (*DATABASE_ERRORS, OSError) as error:
        _log.info("The chats cannot be read either: %s", error)
        return None


def _opened(name: str) -> Reading | None:
    connection = sqlite3.connect(name, uri=True, timeout=BUSY_MS / 1000, isolation_level=None)
    connection.text_factory = _text
    try:
        if version_of(connection) == len(MIGRATIONS) and _owner(connection) == APPLICATION_ID:
            return connection, read_conversations(connection)
    except DATABASE_ERRORS as error:
        _log.info("%s cannot be read: %s", name, error)
    connection.close()
    return None


def _copied(path: Path, log: Path) -> Reading | None:
    """Read a database and its log into memory: what was said last may lie in the log alone."""
    if path.stat().st_size + log.stat().st_size > MOST_COPIED:
        return None
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name(log.name))
        memory = sqlite3.connect(":memory:", isolation_level=None)
        memory.text_factory = _text
        try:
            with closing(sqlite3.connect(copy)) as source:
                source.backup(memory)
            if version_of(memory) == len(MIGRATIONS) and _owner(memory) == APPLICATION_ID:
                memory.execute("PRAGMA query_only = ON")
                return memory, read_conversations(memory)
        except DATABASE_ERRORS as error:
            _log.info("A copy of %s cannot be read: %s", path, error)
        memory.close()
        return None


def _owner(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")
