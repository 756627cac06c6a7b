"""Renames the files of a model, or moves them to the trash: all of them, or none.

Where something fails in the middle, what was done is undone; what cannot be undone is told. Nothing is ever deleted.
"""

from __future__ import annotations

import errno
import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from app.system.model_files import shown

Trash = Callable[[str], str]
"""Moves a file to the system's trash and returns where it lies there, empty where that is not told; raises OSError."""


class NoTrash(OSError):
    """There is no trash for the disk that a file is on, or it cannot be used."""


class NotMoved(Exception):
    """A file could not be moved; `stuck` are those moved before which could not be put back."""

    def __init__(self, reason: OSError, file: str, stuck: Sequence[str]) -> None:
        super().__init__(f"{file}: {reason}")
        self.reason = reason
        self.file = file
        self.stuck = tuple(stuck)


def trash_of_module(name: str) -> Trash:
    """Return the trash that a module has as `move_to_trash`; it is loaded when it is first wanted, and need not be there."""

    def move(path: str) -> str:
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise NoTrash(str(error)) from error
        return str(module.move_to_trash(path))

    return move


def rename_together(pairs: Sequence[tuple[str, str]]) -> None:
    """Give files other names, each from its old path to its new one; nothing that is there is replaced."""
    done: list[tuple[str, str]] = []
    for old, new in pairs:
        try:
            if os.path.lexists(new) and not _is_one(old, new):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
            os.rename(old, new)  # noqa: PTH104  names need not be text
        except OSError as error:
            raise NotMoved(error, old, _put_back(done)) from error
        done.append((old, new))


def trash_together(paths: Sequence[str], move: Trash) -> None:
    """Move files to the trash."""
    done: list[tuple[str, str]] = []
    for path in paths:
        try:
            place = _trashed(path, move)
        except OSError as error:
            raise NotMoved(error, path, _put_back(done)) from error
        done.append((path, place))


def _trashed(path: str, move: Trash) -> str:
    """Move one file to the trash and return where it lies there; one whose name is no text gets one that is: trashes need that."""
    folder, name = os.path.split(path)
    text = shown(name)
    if text == name:
        return move(path)
    number = 1
    while os.path.lexists(free := os.path.join(folder, text)):  # noqa: PTH118
        number += 1
        text = f"{number} {shown(name)}"
    os.rename(path, free)  # noqa: PTH104
    try:
        return move(free)
    except OSError:
        os.rename(free, path)  # noqa: PTH104
        raise


def _put_back(done: Sequence[tuple[str, str]]) -> list[str]:
    """Give files their places back, the last first; return those for which that did not work."""
    stuck = []
    for old, now in reversed(done):
        try:
            if not now or (os.path.lexists(old) and not _is_one(old, now)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), old)
            os.rename(now, old)  # noqa: PTH104
        except OSError:
            stuck.append(old)
        else:
            _forget_note(Path(now))
    return stuck[::-1]


def _forget_note(was: Path) -> None:
    """Remove what the trash of a desktop wrote down of a file that has left it."""
    if was.parent.name == "files":
        with suppress(OSError):
            (was.parent.parent / "info" / f"{was.name}.trashinfo").unlink()


def _is_one(old: str, new: str) -> bool:
    """Return whether two paths are one name to the disk, such as two spellings in upper and lower case."""
    try:
        first, second = os.lstat(old), os.lstat(new)
    except OSError:
        return False
    one = os.path.samestat(first, second) and first.st_ino != 0
    return one and first.st_nlink == 1
