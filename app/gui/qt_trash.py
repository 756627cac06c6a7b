"""The trash of this system, through Qt; needs no window, and is loaded in a background thread."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QFile

from app.system.model_moves import NoTrash


def move_to_trash(path: str) -> str:
    """Move a file, or a link itself, to the trash; return where it lies there, empty where that is not told."""
    if not os.path.lexists(path):
        raise FileNotFoundError(2, os.strerror(2), path)
    if not os.access(Path(path).parent, os.W_OK):
        raise PermissionError(13, os.strerror(13), path)
    _make_home()
    file = QFile(path)
    if not file.moveToTrash() or os.path.lexists(path):
        raise NoTrash(file.errorString())
    place = file.fileName()
    return place if place != path else ""


def _make_home() -> None:
    """Make the folder that holds the trash of a desktop: without it there would be none for a fresh user."""
    if sys.platform.startswith("linux"):
        home = os.environ.get("XDG_DATA_HOME", "")
        folder = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "share"  # noqa: PTH117
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return  # the disk that the file is on may have a trash of its own
