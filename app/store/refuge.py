"""Where words go that could not be written when the program ended: a file beside the database, or on another disk.

The next start takes them over. Such a file is one change after another, each behind its length; whoever else may write
in a shared folder cannot put words into people's chats.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import logging
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from app.core.store_commands import KeepPieces
from app.core.words import Sentence
from app.store import columns, faults
from app.store.changes import Asked, Change, Stretch, TakenOver

NOBODY = -1
"""In place of a request of an earlier run: nobody waits for its answer."""

_LENGTH = struct.Struct("<I")
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Change)}
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link or a pipe that somebody put there is not followed, nor waited for."""

_log = logging.getLogger(__name__)


def temporary_folders() -> Iterable[Path]:
    """Return where else files can be made: first where they outlive the machine's next start."""
    shared = ("/var/tmp", "/tmp") if os.name == "posix" else ()
    named = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
    return (Path(folder) for folder in (*shared, *named) if folder)


class _Taken(NamedTuple):
    """What became of a file: whether all of it was understood, and whether words came out of it."""

    is_whole: bool
    has_words: bool


class Refuge:
    """The files of one data folder."""

    def __init__(self, folder: Path) -> None:
        digest = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:16]
        self._name = f"tokenlight-unsaved-{digest}.changes"
        self._folder = folder
        self._taken: dict[Path, _Taken] = {}
        self._not_ours: dict[Path, bool] = {}
        """What lies where such a file would, and whether that was told."""

    def keep(self, changes: Sequence[Change]) -> list[Sentence]:
        """Put changes down in the first place that takes them; return where, or that they are lost, and what else is."""
        frames = b"".join(_frame(change) for change in changes if not isinstance(change, KeepPieces))
        for path in self._places():
            try:
                told = self._write(path, frames)
            except OSError as error:
                _log.info("%s cannot take what was not saved: %s", path, error)
                continue
            self._taken.pop(path, None)
            return [faults.set_aside(path), *told, *self._remove_taken(), *self._tell_not_ours()]
        return [faults.lost(), *self._tell_not_ours()]

    def take(self, taken_over: frozenset[bytes]) -> list[Change]:
        """Return what was put down and not taken yet, the oldest first; it stays there until `forget`.

        What has one of these digests was written and only not removed.
        """
        files = [file for path in self._places() if path not in self._taken and (file := self._read(path))]
        found = [
            (path, hashlib.sha256(frames).digest(), [change for _, change in _changes(frames)])
            for _, path, frames in sorted(files, key=lambda file: file[0])
        ]
        # A later file holds what was taken out of an earlier one, too.
        inner = {change.digest for _, _, read in found for change in read if isinstance(change, TakenOver)}
        changes: list[Change] = []
        for path, digest, read in found:
            new = [change for change in read if change is not None] if digest not in inner | taken_over else []
            changes += [*new, TakenOver(digest)]
            self._taken[path] = _Taken(None not in read, bool(new))
        return changes

    def forget(self) -> list[Sentence]:
        """Remove what was taken, because it is written elsewhere; return what people must know of it."""
        told = [faults.taken_over()] if any(taken.has_words for taken in self._taken.values()) else []
        return [*told, *self._remove_taken(), *self._tell_not_ours()]

    def _remove_taken(self) -> list[Sentence]:
        """Remove what was taken, but for files that were not understood whole; return where those are kept."""
        told = []
        for path, taken in self._taken.items():
            try:
                if taken.is_whole:
                    path.unlink(missing_ok=True)
                else:
                    told.append(faults.kept_in_part(path.replace(_free(path))))
            except OSError as error:
                _log.warning("%s was taken over and stays: %s", path, error)
        self._taken.clear()
        return told

    def _tell_not_ours(self) -> list[Sentence]:
        told = [faults.not_ours(path) for path, is_told in self._not_ours.items() if not is_told]
        self._not_ours = dict.fromkeys(self._not_ours, True)
        return told

    def _places(self) -> list[Path]:
        return list(dict.fromkeys(folder / self._name for folder in (self._folder, *temporary_folders())))

    def _write(self, path: Path, frames: bytes) -> list[Sentence]:
        """Make a file that holds changes, behind those that are there and were not taken; return what people must know.

        Where not all of what is there is understood, it is kept under another name: a cut frame would swallow the next.
        """
        earlier = self._read(path)
        if earlier is None and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        there = earlier[2] if earlier is not None else b""
        understood, is_whole = _understood(there)
        unfinished = path.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        try:
            _make(unfinished, frames if path in self._taken else understood + frames)
            kept = None if is_whole else _make(_free(path), there)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        return [] if kept is None else [faults.kept_in_part(kept)]

    def _read(self, path: Path) -> tuple[int, Path, bytes] | None:
        """Return when a file was written, its path and its bytes; None where there is none that this user made."""
        try:
            descriptor = os.open(path, os.O_RDONLY | _FLAGS)
        except OSError as error:
            if os.path.lexists(path):
                self._leave_alone(path, error)
            return None
        try:
            found = os.fstat(descriptor)
            is_own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
            if is_own and stat.S_ISREG(found.st_mode):
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    return found.st_mtime_ns, path, file.read()
            self._leave_alone(path, "it was made by somebody else, or is no file")
        except OSError as error:
            self._leave_alone(path, error)
        finally:
            os.close(descriptor)
        return None

    def _leave_alone(self, path: Path, reason: object) -> None:
        _log.info("%s is left alone: %s", path, reason)
        self._not_ours.setdefault(path, False)


def _make(path: Path, contents: bytes) -> Path:
    """Make a file that is on disk on return, and leave nothing where that fails."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _free(path: Path) -> Path:
    """Return where a file can be kept under another name."""
    names = (path.with_suffix(f".{number}.kept" if number > 1 else ".kept") for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))


def _frame(change: Change) -> bytes:
    """Return a change behind its length; nothing where no file and no database takes it."""
    try:
        frame = columns.to_msgpack((type(change).__name__, change))
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError):
        _log.exception("A change that was not saved cannot be put down: %s", type(change).__name__)
        return b""
    return _LENGTH.pack(len(frame)) + frame


def _understood(frames: bytes) -> tuple[bytes, bool]:
    """Return the frames that this version understands, and whether those are all."""
    found = list(_changes(frames))
    return b"".join(frame for frame, change in found if change is not None), all(
        change is not None for _, change in found
    )


def _changes(frames: bytes) -> Iterator[tuple[bytes, Change | None]]:
    """Yield frames with their changes; None is one that is cut, or that this version does not understand."""
    rest = memoryview(frames)
    while rest:
        head, rest = rest[: _LENGTH.size], rest[_LENGTH.size :]
        length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else 0
        frame, rest = rest[:length], rest[length:]
        change: Change | None = None
        try:
            name, value = msgspec.msgpack.decode(frame, type=tuple[str, msgspec.Raw])
            change = _renewed(msgspec.msgpack.decode(value, type=_KINDS[name]))
        except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as error:
            _log.warning("A change that was not saved cannot be read: %s", error)
        yield bytes(head) + bytes(frame), change


def _renewed(change: Change) -> Change:
    """Return a change of an earlier run as one that nobody waits for, and that may be on disk already."""
    if isinstance(change, Asked):
        return msgspec.structs.replace(change, request=NOBODY)
    if isinstance(change, Stretch):
        change.once = True
    return change
