"""Opens model files, and tells which model a file is.

Knows folders and bytes; what the bytes mean is `core.gguf_header`'s.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from app.core.errors import UserError
from app.core.model import ModelRef
from app.core.model_file import ModelSource
from app.core.printable import printable
from app.core.words import Sentence, translate

SUFFIX = ".gguf"
PIECES = 16
PIECE_BYTES = 64 * 1024


class Unreadable(UserError):
    """The system does not let a file be opened."""


class OpenFiles:
    """The files of one model, opened by name in its folder and closed together."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[BinaryIO] = []
        self.size = 0
        """Bytes of all files that were opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in self._files:
            file.close()

    def open(self, name: str) -> ModelSource | None:
        """Return the bytes of a file, None where there is none, or raise the sentence that says what prevents it."""
        path = self._folder / name
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise UserError(_no_file(path))
            file = path.open("rb")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreadable(_unreadable(path, error)) from error
        self._files.append(file)
        size = os.fstat(file.fileno()).st_size
        self.size += size

        def read(offset: int, count: int) -> bytes:
            file.seek(offset)
            return file.read(count)

        return ModelSource(read, size)


def identify(source: ModelSource, data_offset: int, path: Path) -> ModelRef:
    """Return which model it is: size, and the sha256 of the header and of 16 evenly spaced pieces of the weights."""
    digest = hashlib.sha256()
    for position in range(0, data_offset, 1 << 20):
        digest.update(source.read(position, min(1 << 20, data_offset - position)))
    last_start = max(source.size - PIECE_BYTES - data_offset, 0)
    for number in range(PIECES):
        digest.update(source.read(data_offset + last_start * number // (PIECES - 1), PIECE_BYTES))
    return ModelRef(size=source.size, digest=digest.hexdigest(), path=str(path))


def shown(path: Path | str) -> str:
    """Return a path that can be printed: bytes that are no text become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def readable(path: Path | str) -> str:
    """Return a path for a sentence: as `shown`, and nothing in it breaks the line or turns the words around."""
    return printable(shown(path))


def lost(path: Path | str, error: OSError) -> Sentence:
    """Return what is said where a disk fails, or the file goes, while it is read."""
    if not error.strerror:
        return translate(
            "ModelFile",
            "{path} went away while it was read: check the disk it is on, or choose the model again.",
            path=readable(path),
        )
    return translate(
        "ModelFile",
        "Reading {path} failed ({reason}): check the disk it is on, or choose the model again.",
        path=readable(path),
        reason=error.strerror,
    )


def _no_file(path: Path) -> Sentence:
    if os.path.isdir(path):  # noqa: PTH112  Path.is_dir raises when the disk fails
        return translate(
            "ModelFile", "{path} is a folder and not a model: choose the .gguf file in it.", path=readable(path)
        )
    return translate("ModelFile", "{path} is no ordinary file: choose a .gguf file.", path=readable(path))


def _unreadable(path: Path, error: OSError) -> Sentence:
    return translate(
        "ModelFile",
        "The file {path} cannot be read ({reason}): check its permissions and the disk it is on.",
        path=readable(path),
        reason=error.strerror or type(error).__name__,
    )
