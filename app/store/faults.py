"""What goes wrong around a database, by SQLite's and the system's codes, and the sentence for each case.

Must not know what was being written or read.
"""

from __future__ import annotations

import errno
import sqlite3
from enum import Enum, auto
from pathlib import Path

from app.core.words import Sentence, translate


class Fault(Enum):
    """A trouble of the surroundings: the same command may work later, or on another disk."""

    FULL = auto()
    LOCKED = auto()
    READ_ONLY = auto()
    DAMAGED = auto()
    UNREACHABLE = auto()


DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite's module raises; the second where a damaged schema is quoted in the error's own text."""

_OF_SQLITE = {
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_BUSY: Fault.LOCKED,
    sqlite3.SQLITE_LOCKED: Fault.LOCKED,
    sqlite3.SQLITE_PROTOCOL: Fault.LOCKED,
    sqlite3.SQLITE_INTERRUPT: Fault.LOCKED,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
    sqlite3.SQLITE_PERM: Fault.READ_ONLY,
    sqlite3.SQLITE_AUTH: Fault.READ_ONLY,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_CANTOPEN: Fault.UNREACHABLE,
    sqlite3.SQLITE_IOERR: Fault.UNREACHABLE,
    sqlite3.SQLITE_NOMEM: Fault.UNREACHABLE,
    sqlite3.SQLITE_NOLFS: Fault.UNREACHABLE,
}
_OF_SYSTEM = {
    errno.ENOSPC: Fault.FULL,
    errno.EDQUOT: Fault.FULL,
    errno.EACCES: Fault.READ_ONLY,
    errno.EPERM: Fault.READ_ONLY,
    errno.EROFS: Fault.READ_ONLY,
}


def fault_of(error: Exception) -> Fault | None:
    """Return what of the surroundings is in the way; None says that the command itself is at fault."""
    if isinstance(error, sqlite3.Error):
        # Errors of Python's own module carry no code: they are mistakes of the caller.
        code = getattr(error, "sqlite_errorcode", None)
        return None if code is None else _OF_SQLITE.get(code & 0xFF)
    if isinstance(error, UnicodeDecodeError):
        return Fault.DAMAGED
    if isinstance(error, OSError):
        return _OF_SYSTEM.get(error.errno or 0, Fault.UNREACHABLE)
    return None


def may_pass(error: Exception | None) -> bool:
    """Whether what is in the way may be gone soon, by itself or because somebody does something about it."""
    return error is not None and fault_of(error) in (Fault.FULL, Fault.LOCKED, Fault.READ_ONLY)


def reason_of(error: Exception) -> str:
    """Return the short technical name of an error, for the end of a sentence."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def unusable(error: Exception, path: Path) -> Sentence:
    """Say why the store cannot be opened, and what to do so that chats are kept."""
    match fault_of(error):
        case Fault.FULL:
            return translate(
                "Store",
                "The disk of {path} is full, so chats are not saved yet: free some space.",
                path=str(path.parent),
            )
        case Fault.LOCKED:
            return translate(
                "Store",
                "Another program is using {path}, so chats are neither shown nor saved yet: close that program.",
                path=str(path),
            )
        case Fault.READ_ONLY:
            return translate(
                "Store",
                "Tokenlight may not write in {path}, so new chats are not saved: "
                "allow it in the folder's properties.",
                path=str(path.parent),
            )
        case _:
            return translate(
                "Store",
                "The chats in {path} cannot be opened ({reason}), so new ones are not kept: "
                "check the disk and start Tokenlight again.",
                path=str(path),
                reason=reason_of(error),
            )


def unwritten(error: Exception, path: Path) -> Sentence:
    """Say why something could not be written; it is in memory and will be tried again."""
    match fault_of(error):
        case Fault.FULL:
            return translate(
                "Store",
                "The disk is full, so this chat is not saved yet: free some space on the disk of {path}.",
                path=str(path.parent),
            )
        case Fault.LOCKED:
            return translate(
                "Store",
                "Another program is using {path}, so this chat is not saved yet: close that program.",
                path=str(path),
            )
        case Fault.READ_ONLY:
            return translate(
                "Store",
                "Tokenlight may not write {path}, so this chat is not saved yet: allow it in the file's properties.",
                path=str(path),
            )
        case Fault.DAMAGED:
            return damaged(path)
        case _:
            return translate(
                "Store",
                "This chat cannot be saved in {path} yet ({reason}): check the disk.",
                path=str(path),
                reason=reason_of(error),
            )


def unsaved(error: Exception) -> Sentence:
    """Ask whether the program may end although something could not be written."""
    match fault_of(error):
        case Fault.FULL:
            return translate(
                "Store",
                "What was written last could not be saved: the disk is full. "
                "Close anyway and risk losing it, or keep the window open?",
            )
        case Fault.LOCKED:
            return translate(
                "Store",
                "What was written last could not be saved: another program is using the file with the chats. "
                "Close anyway and risk losing it, or keep the window open?",
            )
        case Fault.READ_ONLY:
            return translate(
                "Store",
                "What was written last could not be saved: Tokenlight may not write the file with the chats. "
                "Close anyway and risk losing it, or keep the window open?",
            )
        case _:
            return translate(
                "Store",
                "What was written last could not be saved: the disk does not take it ({reason}). "
                "Close anyway and risk losing it, or keep the window open?",
                reason=reason_of(error),
            )


def unread(error: Exception, path: Path) -> Sentence:
    """Say why something could not be read."""
    if fault_of(error) is Fault.DAMAGED:
        return damaged(path)
    return translate(
        "Store",
        "Some of the chats in {path} cannot be read ({reason}): check the disk and start Tokenlight again.",
        path=str(path),
        reason=reason_of(error),
    )


def damaged(path: Path) -> Sentence:
    """Say that a damage was found while the store was in use."""
    return translate(
        "Store",
        "The file with the chats ({path}) is damaged in places: close Tokenlight and put a backup "
        "in its place if you have one.",
        path=str(path),
    )


def put_aside(aside: Path, saved: int) -> Sentence:
    """Say that a damaged file was moved away, where to, and how many chats could be taken over from it."""
    if saved:
        return translate(
            "Store",
            "The file with the chats was damaged and is kept as {path}. What could be read was taken over "
            "(chats: {count}): look through them, and put a backup in its place if you have one.",
            path=str(aside),
            count=saved,
        )
    return translate(
        "Store",
        "The file with the chats was damaged and is kept as {path}, and a new one was begun: "
        "put a backup in its place if you have one.",
        path=str(aside),
    )


def written_anew(path: Path, aside: Path | None) -> Sentence:
    """Say that the file went away while it was in use and was written again, and where one in its place was put."""
    if aside is None:
        return translate(
            "Store",
            "The file with the chats ({path}) was deleted while Tokenlight was using it. "
            "It was written anew, and no chat is lost.",
            path=str(path),
        )
    return translate(
        "Store",
        "Another file took the place of the one with the chats while Tokenlight was using it. It is kept as {path}; "
        "the chats that you see here were written anew, and none of them is lost.",
        path=str(aside),
    )


def emptied(path: Path, saved: int | None, aside: Path | None) -> Sentence:
    """Say that another program emptied the file while it was in use, and what was saved; None is all of it."""
    if saved is None:
        return translate(
            "Store",
            "Another program emptied the file with the chats ({path}) while Tokenlight was using it. "
            "It was written anew, and no chat is lost.",
            path=str(path),
        )
    if aside is None:
        return translate(
            "Store",
            "Another program emptied the file with the chats ({path}) while Tokenlight was using it. Earlier chats are "
            "lost, except what could still be read (chats: {count}): put a backup in its place if you have one.",
            path=str(path),
            count=saved,
        )
    return translate(
        "Store",
        "Another program emptied the file with the chats while Tokenlight was using it. Earlier chats are lost, except "
        "what could still be read (chats: {count}); the rest of the file is kept as {path}: "
        "put a backup in its place if you have one.",
        path=str(aside),
        count=saved,
    )


def set_aside(path: Path) -> Sentence:
    """Say where what could not be saved lies until it can be."""
    return translate(
        "Store",
        "What was written last could not be saved with the chats. It is kept as {path}, and is in the chats again when "
        "Tokenlight can save it at its next start.",
        path=str(path),
    )


def lost() -> Sentence:
    """Say that what could not be saved found no place anywhere."""
    return translate(
        "Store", "What was written last could be saved neither with the chats nor elsewhere, and is lost."
    )


def taken_over() -> Sentence:
    """Say that what an earlier run could not save is saved now."""
    return translate(
        "Store",
        "Tokenlight could not save everything when it was closed last. What was missing is in your chats now.",
    )


def kept_in_part(path: Path) -> Sentence:
    """Say that not all of that could be read, and where it is kept."""
    return translate(
        "Store",
        "Some of what Tokenlight could not save when it was closed last cannot be read, and is kept as {path}.",
        path=str(path),
    )


def not_ours(path: Path) -> Sentence:
    """Say that something lies where what could not be saved would."""
    return translate(
        "Store",
        "{path} was not written by Tokenlight, or cannot be read: it is left alone, and nothing of it is in your chats.",
        path=str(path),
    )


def log_aside(path: Path, log: Path) -> Sentence:
    """Say that a log was found without its file, and where it is kept."""
    return translate(
        "Store",
        "The file with the chats ({path}) was missing or empty, but a part that belongs to it was there and may hold "
        "chats. It is kept as {log}, and a new file was begun: put a backup in its place if you have one.",
        path=str(path),
        log=str(log),
    )


def left_alone(path: Path) -> Sentence:
    """Say that the files went away so often that others in their place are no longer noticed."""
    return translate(
        "Store",
        "The files with the chats in {folder} keep changing, and Tokenlight no longer notices when others take their "
        "place: keep programs that synchronise or tidy up away from that folder, and start Tokenlight again.",
        folder=str(path.parent),
    )


def not_a_file(path: Path) -> Sentence:
    """Say that something that is no file stands where the database belongs."""
    return translate(
        "Store",
        "{path} is a folder where the file with the chats belongs, so chats are not kept: "
        "move it away and start Tokenlight again.",
        path=str(path),
    )


def newer(path: Path) -> Sentence:
    """Say that the database is from a later version of the program."""
    return translate(
        "Store",
        "The chats in {path} were written by a newer Tokenlight and are left alone, so new ones are not kept: "
        "install the newer version.",
        path=str(path),
    )
