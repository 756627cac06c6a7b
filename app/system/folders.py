"""What can be done with a folder: written to or not, and how much room there is; leaves nothing in it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple


class Folder(NamedTuple):
    """A folder that is there or would be made when it is needed."""

    path: Path
    is_there: bool
    is_writable: bool
    """Whether files can be made in it, or it can be made itself."""
    free: int | None
    """Bytes for this user on its disk; None where the system does not tell."""


def look_at(path: Path) -> Folder:
    """Look at a folder, or at the nearest one above it that is there."""
    nearest = next((folder for folder in (path, *path.parents) if folder.exists()), path)
    is_writable = nearest.is_dir() and _can_hold_files(nearest)
    try:
        usage = shutil.disk_usage(nearest)
        free = usage.free if usage.total else None  # what is no disk, such as /proc, tells no room
    except OSError:
        free = None
    return Folder(path, nearest == path, is_writable, free)


def _can_hold_files(folder: Path) -> bool:
    """Try it: permissions alone promise files in folders of the kernel, too."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)  # that is another trouble
