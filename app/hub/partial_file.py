"""The partial file beside its goal: what is there of it, what it is a part of, and who writes it.

Its length is the truth of how far it is; what its bytes are is checked when it is whole.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from app.core.download import DownloadWanted, refusal_of, safe_parts
from app.core.errors import UserError
from app.core.gguf_magic import GGUF_MAGIC
from app.hub import download_sentences

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PART = ".part"
STATE = ".part.json"
_MOST_STATE_BYTES = 64 * 1024
_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_MOST_OPENED = 5
_MOST_NUMBER = (1 << 63) - 1
_LOCKED_BYTE = 1 << 62
"""Of the file that Windows locks: beyond all content, which others may then read."""


class PartState(msgspec.Struct, frozen=True):
    """What a partial file is a part of."""

    repository: str
    revision: str
    path: str
    size: int
    sha256: str
    etag: str = ""
    """A strong one, or empty."""

    def is_part_of(self, wanted: PartState) -> bool:
        """Whether what is there belongs to what is wanted: with one checksum that is so in any commit."""
        if self.sha256:
            return (self.sha256, self.size) == (wanted.sha256, wanted.size)
        return self == wanted


class FileStamp(msgspec.Struct, frozen=True):
    """Which file lay somewhere at some moment: another one of that name, or one that was written since, differs."""

    device: int
    inode: int
    size: int
    modified_ns: int


class PartialFile:
    """The one writer of a partial file; another process that writes it is told by a sentence."""

    def __init__(self, goal: Path) -> None:
        self.goal = goal
        self.path = goal.with_name(goal.name + PART)
        self._state_path = goal.with_name(goal.name + STATE)
        self.file: BinaryIO = self._open()
        self.size = os.fstat(self.file.fileno()).st_size

    def close(self) -> None:
        """Let another one write it."""
        self.file.close()

    def state(self) -> PartState | None:
        """Return what it is a part of; None where nobody wrote that down, or it cannot be read."""
        try:
            with self._state_path.open("rb") as file:
                return msgspec.json.decode(file.read(_MOST_STATE_BYTES), type=PartState)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None

    def begin(self, state: PartState) -> None:
        """Empty it, and write down what it is going to be a part of."""
        self.check()
        self.file.truncate(0)
        self.file.seek(0)
        self.size = 0
        self._state_path.write_bytes(msgspec.json.encode(state))

    def append(self, content: bytes) -> None:
        """Write at its end, all of it; OSError says why that does not work."""
        view = memoryview(content)
        while view:
            written = os.write(self.file.fileno(), view)
            self.size += written
            view = view[written:]

    def check(self) -> None:
        """Raise where this file has its name no more: what is called so now is somebody else's."""
        if not _is_at(self.file, self.path):
            raise download_sentences.vanished(self.goal.name)

    def finish(self) -> FileStamp | None:
        """Give the whole file its name; nobody else may write it before it has that. Return what has it now."""
        os.fsync(self.file.fileno())
        self.check()
        if sys.platform == "win32":
            self.file.close()  # no open file is renamed there, and none is that another process has opened meanwhile
        self.path.replace(self.goal)
        self._state_path.unlink(missing_ok=True)
        self.file.close()
        return stamp_of(self.goal)

    def delete(self) -> None:
        """Leave nothing of it; what somebody else has put in its place stays."""
        is_ours = _is_at(self.file, self.path)
        if sys.platform == "win32":
            self.file.close()
        for path in (self._state_path, self.path) if is_ours else ():
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self.file.close()

    def _open(self) -> BinaryIO:
        self.goal.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        for _ in range(_MOST_OPENED):
            file = os.fdopen(os.open(self.path, flags, 0o666), "r+b", buffering=0)
            try:
                _lock(file.fileno())
            except OSError as error:
                if error.errno in _HELD:
                    file.close()
                    break
            # a disk without locks takes it all the same
            if _is_at(file, self.path):
                return file
            file.close()  # whoever wrote it has given it its name, or deleted it, before it was free
        raise download_sentences.written_elsewhere(self.goal.name)


def goals_of(folder: Path, wanted: DownloadWanted) -> list[Path]:
    """Return where the files belong, or raise the sentence about one that could lead elsewhere."""
    refusal = refusal_of(wanted.repository, (file.path for file in wanted.files))
    if refusal is not None:
        raise UserError(refusal)
    return [folder.joinpath(*safe_parts(f"{wanted.repository}/{file.path}") or ()) for file in wanted.files]


def stamp_of(path: Path) -> FileStamp | None:
    """Return which file lies there; None where there is none, or it cannot be told."""
    with suppress(OSError):
        status = path.stat()
        device, inode = status.st_dev & _MOST_NUMBER, status.st_ino & _MOST_NUMBER  # Windows has some of 128 bits
        return FileStamp(device, inode, status.st_size, status.st_mtime_ns)
    return None


def beginning(path: Path) -> bytes:
    """Return the first bytes of a file, which say whether it may be a model."""
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC))


def partial_size(goal: Path) -> int:
    """Return how many bytes of a file are there, of the whole file or of a part."""
    for path in (goal, goal.with_name(goal.name + PART)):
        with suppress(OSError):
            return path.stat().st_size
    return 0


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is still the one that has this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _lock(number: int) -> None:
    if sys.platform == "win32":
        os.lseek(number, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        os.lseek(number, 0, os.SEEK_SET)
    else:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_empty_folders(goals: Iterable[Path], top: Path) -> None:
    """Remove the folders below `top` in which files were to lie, where nothing is in them."""
    folders = {parent for goal in goals for parent in goal.parents if top in parent.parents}
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        with suppress(OSError):  # something else is in it
            folder.rmdir()
