"""What the system gave the engine during an answer: how often it waited for the disk, and how much of the cores it got.

Weights that are mapped into memory come from the disk when they are first touched, and again after the system took their
pages. Windows does not tell a process's own hard faults here: there nothing is known.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from app.core.metrics import PageIns

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_IO = "/proc/self/io"
_READ = b"read_bytes: "


class _Count(NamedTuple):
    faults: int
    read: int | None
    """Bytes from the disk by all threads; None where the system does not tell."""


class Paging:
    """Counts from when it is made: first the prefill, then the decode."""

    def __init__(self) -> None:
        self._began = self._read = _count()
        self._cpu_ns = time.process_time_ns()

    def mark_prefill(self) -> None:
        """The prompt is evaluated."""
        self._read = _count()
        self._cpu_ns = time.process_time_ns()

    def decode_cpu_s(self) -> float:
        """Return how much time of cores this process got since the prefill."""
        return (time.process_time_ns() - self._cpu_ns) / 1e9

    def page_ins(self) -> PageIns | None:
        """Return what was read from the disk until now; None where the system does not tell."""
        began, read, ended = self._began, self._read, _count()
        if began is None or read is None or ended is None:
            return None
        prefill, decode = _grown(began, read), _grown(read, ended)
        return PageIns(prefill.faults, decode.faults, prefill.read, decode.read)


def _grown(before: _Count, after: _Count) -> _Count:
    read = None if before.read is None or after.read is None else after.read - before.read
    return _Count(after.faults - before.faults, read)


def _count() -> _Count | None:
    if resource is None:
        return None
    return _Count(resource.getrusage(resource.RUSAGE_SELF).ru_majflt, _bytes_read())


def _bytes_read() -> int | None:
    try:
        with open(_IO, "rb") as file:  # noqa: PTH123  # a path object costs more than the reading
            lines = file.read().splitlines()
    except OSError:
        return None
    return next((int(line.removeprefix(_READ)) for line in lines if line.startswith(_READ)), None)
