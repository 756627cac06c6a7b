"""Writes a file whole or not at all: a file of that name stays as it was until the new one is complete."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def replace_whole(path: Path, content: bytes) -> None:
    """Write a file beside the place and put it there; OSError says why that did not work, and nothing is left over."""
    target = path.resolve()
    beside = target.with_name(f"{target.stem[:100]}.{os.getpid()}.new")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


class GrowingFile:
    """A file that is written bit by bit beside its place, and is put there when it is complete.

    Every method raises OSError where the disk refuses; nothing is left over of one that is given up.
    """

    def __init__(self, path: Path) -> None:
        self._target = path.resolve()
        self._beside = self._target.with_name(f"{self._target.stem[:100]}.{os.getpid()}.new")
        self._file: BinaryIO | None = None

    def add(self, data: bytes) -> None:
        """Write what comes next."""
        if self._file is None:
            self._file = self._beside.open("xb")
        self._file.write(data)

    def finish(self) -> None:
        """Put what was written in its place."""
        try:
            self.add(b"")
            if self._file is not None:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
            self._beside.replace(self._target)
        finally:
            self.give_up()

    def give_up(self) -> None:
        """Leave everything as it was; twice is once."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
            self._beside.unlink(missing_ok=True)
