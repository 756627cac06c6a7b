"""The folder in which the states of conversations are kept: what they take, which go when they take too much.

Knows names, sizes and times; what is in the files is the engine's business. All of it may wait for a disk.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ENDING = ".state"
PARTIAL_ENDING = ".state.partial"
LONGEST_S = 30 * 24 * 3600.0
"""What was not used for so long goes, whatever there is room for."""
ABANDONED_S = 3600.0
"""A file that nobody finished for so long is nobody's."""


class StatesLook(NamedTuple):
    """What there is."""

    files: int
    bytes: int


class StateFolder:
    """Files that are named after a conversation and a model."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def place(self, conversation: int, identity: str) -> Path:
        """Return where the state of a conversation with a model lies, or may."""
        return self._path / f"{conversation}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}{ENDING}"

    def tidy(self, budget: int) -> StatesLook:
        """Remove what was used least recently until the rest takes at most `budget` bytes. Raises OSError.

        With 0 nothing stays, not even what is half written: nobody writes it then.
        """
        now = time.time()
        kept: list[tuple[float, int, Path]] = []
        for path in self._files():
            with suppress(FileNotFoundError):  # the engine put another one in its place just now
                found = path.stat()
                is_partial = path.name.endswith(PARTIAL_ENDING)
                if not budget or now - found.st_mtime > (ABANDONED_S if is_partial else LONGEST_S):
                    path.unlink()
                elif not is_partial:
                    kept.append((found.st_mtime, found.st_size, path))
        kept.sort()
        total = sum(size for _, size, _ in kept)
        while kept and total > budget:
            _, size, path = kept.pop(0)
            path.unlink(missing_ok=True)
            total -= size
        return StatesLook(len(kept), total)

    def remove(self, conversation: int | None = None) -> None:
        """Remove the states of a conversation, or all. Raises OSError."""
        for path in self._files():
            if conversation is None or path.name.startswith(f"{conversation}-"):
                path.unlink(missing_ok=True)

    def _files(self) -> tuple[Path, ...]:
        try:
            return tuple(path for path in self._path.iterdir() if path.name.endswith((ENDING, PARTIAL_ENDING)))
        except FileNotFoundError:
            return ()
