"""Writes a file whole or not at all: a file of that name stays as it was until the new one is complete."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_log = logging.getLogger(__name__)


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

    `add` and `finish` raise OSError where the disk refuses. Nothing is left over of one that is given up; where the disk
    refuses even that, the log has it, and why it was given up is what people are told.
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
        if file is None:
            return
        with suppress(OSError):  # what is buffered is written, which a full disk refuses; nobody wants it any more
            file.close()
        try:
            self._beside.unlink(missing_ok=True)
        except OSError:
            _log.warning("%s is left over", self._beside, exc_info=True)
