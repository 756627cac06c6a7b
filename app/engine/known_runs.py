"""What dry runs have said, by file and options, so that the same question needs no process.

A machine with a GPU also tells what is free on it, which does not stay true: its answers are for who wants sizes alone.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import msgspec

from app.core.devices import GPU_KINDS
from app.core.events import MemoryMeasured
from app.core.model import LoadOptions

MOST_KEPT = 64
"""Answers; of more than these the one that was used longest ago goes."""


class Stamp(NamedTuple):
    """Which content a file has, as far as the file system tells."""

    changed_ns: int
    size: int


class KnownRuns:
    """Bounded; belongs to one thread at a time."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, LoadOptions], tuple[Stamp, MemoryMeasured]] = {}

    def has(self, path: str, options: LoadOptions, *, sizes_only: bool = False) -> bool:
        """Return whether there is an answer, if the file is still the same."""
        known = self._answers.get((path, options))
        return known is not None and (sizes_only or not _tells_free(known[1]))

    def get(self, path: str, options: LoadOptions, stamp: Stamp | None) -> MemoryMeasured | None:
        """Return what was said of a file with this stamp; an answer about another content is forgotten."""
        known = self._answers.pop((path, options), None)
        if known is None or known[0] != stamp:
            return None
        self._answers[path, options] = known  # the last one is the one that was used last
        return known[1]

    def note(self, options: LoadOptions, stamp: Stamp | None, answer: MemoryMeasured) -> None:
        """Keep an answer to a question with these options."""
        if stamp is None:
            return
        self._answers.pop((answer.path, options), None)
        self._answers[answer.path, options] = (stamp, answer)
        while len(self._answers) > MOST_KEPT:
            del self._answers[next(iter(self._answers))]


def _tells_free(answer: MemoryMeasured) -> bool:
    return any(device.kind in GPU_KINDS for device in answer.devices)


def stamp_of(path: str) -> Stamp | None:
    """Return a file's stamp; None where there is none. Asks the file system."""
    try:
        about = os.stat(path)  # noqa: PTH116  Path.stat raises ValueError for some names, as this does
    except (OSError, ValueError):
        return None
    return Stamp(about.st_mtime_ns, about.st_size)


def renumbered(answer: MemoryMeasured, request: int) -> MemoryMeasured:
    """Return an answer as one to another question."""
    return msgspec.structs.replace(answer, request=request)
