"""Opens the database of a folder: looks before it touches, puts a damaged one aside, brings an old one up to date.

Opening stays fast however large the database is: all of it is checked only after something turned out to be damaged.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import struct
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.core.conversation import Conversation
from app.core.words import Sentence
from app.store import faults
from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.migrations import APPLICATION_ID, MIGRATIONS, Migration, migrate, tables_of, version_of
from app.store.patience import BUSY_MS, Patience
from app.store.reading import read_conversations
from app.store.salvage import salvage

FILE_NAME = "tokenlight.sqlite3"
SUSPECT_NAME = "tokenlight-check"
"""Its presence says that damage was met: all of the database is checked when it is opened next."""
OPENING_S = 5.0
"""How long another program may hold the database before the chats are given up for this run."""
WAL_LIMIT = 16 << 20
PARTS = ("-wal", "-shm", "")
"""What the names of a database's files end with, in the order in which they go: the log first."""

_log = logging.getLogger(__name__)

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_TABLES = frozenset(
    {
        "conversation",
        "message",
        "answer",
        "answer_prompt",
        "chunk",
        "vocabulary",
        "piece",
        "draft",
        "comparison",
        "model_note",
        "unsearched",
        "search_index",
    }
)


class _DamagedError(Exception):
    """The file is no database of this program, or one that cannot be relied on."""


class _NewerError(Exception):
    """The file is of a later version of this program."""


@dataclass(frozen=True)
class Opened:
    """What came of opening: a connection, or none and the reason among the problems."""

    connection: sqlite3.Connection | None
    conversations: tuple[Conversation, ...] = ()
    problems: tuple[Sentence, ...] = ()
    error: Exception | None = None
    """What was in the way where another try may help; the last of the problems says so."""


def open_database(
    folder: Path, patience: Patience, migrations: Sequence[Migration] = MIGRATIONS, *, waits: bool = True
) -> Opened:
    """Open the database of a folder, or make a new one; never raises for what the disk may hold.

    `waits` is false where another program that holds it is waited for by other means.
    """
    seconds = OPENING_S if waits else 0.0
    path = folder / FILE_NAME
    problems: list[Sentence] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            return Opened(None, problems=(faults.not_a_file(path),))
        if (log := _put_log_aside(path)) is not None:
            problems.append(faults.log_aside(path, log))
        try:
            connection, conversations = patience.run(lambda: _open(path, migrations), seconds)
        except _DamagedError:
            problems.append(_begin_anew(path, migrations))
            connection, conversations = patience.run(lambda: _open(path, migrations), seconds)
        return Opened(connection, conversations, tuple(problems))
    except _NewerError:
        return Opened(None, problems=(faults.newer(path),))
    except (*DATABASE_ERRORS, OSError, _DamagedError) as error:
        cause = _cause(error, path)
        return Opened(None, problems=(*problems, faults.unusable(cause, path)), error=cause)


def suspect(folder: Path) -> None:
    """Take down that the database is damaged, so that all of it is checked when it is opened next."""
    try:
        (folder / SUSPECT_NAME).touch()
    except OSError as error:
        _log.info("That the database is damaged could not be taken down: %s", error)


def _open(path: Path, migrations: Sequence[Migration]) -> tuple[sqlite3.Connection, tuple[Conversation, ...]]:
    is_new = _size(path) == 0
    if not is_new:
        _look(path, len(migrations))
    mark = path.with_name(SUSPECT_NAME)
    connection: sqlite3.Connection | None = None
    try:
        if mark.exists() and not is_new and not _is_sound(path):
            raise _DamagedError
        connection = connect(path)
        _make_current(connection, path, migrations)
        if _TABLES - tables_of(connection):
            raise _DamagedError
        conversations = read_conversations(connection)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, DATABASE_ERRORS) and fault_of(error) is Fault.DAMAGED and not _is_sound(path):
            raise _DamagedError from error
        raise
    mark.unlink(missing_ok=True)
    return connection, conversations


def _cause(error: Exception, path: Path) -> Exception:
    """Return why a database cannot be opened: SQLite does not say that the folder may not be written."""
    if fault_of(error) is Fault.UNREACHABLE and not may_write(path.parent):
        return PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return error


def may_write(folder: Path) -> bool:
    """Whether files can be made in a folder, as far as its rights say; one that is missing may be made."""
    if not folder.is_dir():
        return True
    effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK, effective_ids=effective)


def _put_log_aside(path: Path) -> Path | None:
    """Move a log away whose database is missing or empty, for SQLite would delete it; return where it is."""
    if _size(path) or not _size(path.with_name(f"{path.name}-wal")):
        return None
    aside = put_aside(path, "log")
    return aside.with_name(f"{aside.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection with the settings that hold for each of them."""
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, cached_statements=64)
    # Text that is no UTF-8 costs characters, not the conversation.
    connection.text_factory = _text
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
    except DATABASE_ERRORS:
        connection.close()
        raise
    return connection


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


def _look(path: Path, known: int) -> None:
    """Find out what the file is without touching it; a log beside it may hold what is newer."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise _DamagedError
    version, owner = struct.unpack_from(">I4xI", header, 60)
    log = path.with_name(f"{path.name}-wal")
    if version == 0 or (version <= known and log.exists() and log.stat().st_size):
        version, owner = _asked(path)
    if version > known:
        raise _NewerError
    if version and owner != APPLICATION_ID:
        raise _DamagedError


def _asked(path: Path) -> tuple[int, int]:
    """Return version and owner as SQLite reads them; tables without a version are another program's."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            version = version_of(connection)
            if version == 0 and tables_of(connection):
                raise _DamagedError
            return version, int(connection.execute("PRAGMA application_id").fetchone()[0])
        except DATABASE_ERRORS as error:
            if fault_of(error) is Fault.DAMAGED:
                raise _DamagedError from error
            raise


def _make_current(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    version = version_of(connection)
    if 0 < version < len(migrations):
        _copy(connection, _free(path.with_name(f"tokenlight-before-update-{version}.sqlite3")))
    migrate(connection, migrations)


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    """Copy a database while it is in use; a copy that is cut off never bears the name of a whole one."""
    unfinished = target.with_name(f"{target.name}.new")
    unfinished.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(unfinished)) as copy:
            connection.backup(copy)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_sound(path: Path) -> bool:
    """Check every page; slow for a large database."""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_MS / 1000)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except DATABASE_ERRORS as error:
        if fault_of(error) is Fault.DAMAGED:
            return False
        raise


def _begin_anew(path: Path, migrations: Sequence[Migration]) -> Sentence:
    """Put a damaged database aside and a new one in its place, with what could be read; a kill leaves either of them."""
    unfinished = path.with_name(f"{path.name}.new")
    remove(unfinished)
    try:
        with closing(connect(unfinished)) as fresh:
            migrate(fresh, migrations)
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as damaged:
                damaged.text_factory = _text
                saved = salvage(damaged, fresh)
        aside = put_aside(path, "damaged")
        unfinished.replace(path)
    except BaseException:
        remove(unfinished)
        raise
    return faults.put_aside(aside, saved)


def remove(path: Path) -> None:
    """Delete a database and what belongs to it."""
    for end in PARTS:
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def put_aside(path: Path, why: str, ends: Sequence[str] = PARTS) -> Path:
    """Move a database away with what belongs to it; the log goes first, or a new database would take it for its own."""
    day = datetime.now(UTC).astimezone().strftime("%Y-%m-%d")
    aside = _free(path.with_name(f"tokenlight-{why}-{day}.sqlite3"))
    for end in ends:
        part = path.with_name(f"{path.name}{end}")
        if part.exists():
            os.rename(part, aside.with_name(f"{aside.name}{end}"))  # noqa: PTH104  never replaces on Windows
    path.with_name(SUSPECT_NAME).unlink(missing_ok=True)
    return aside


def _free(path: Path) -> Path:
    """Return this name, or one with a number where a file has it."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
