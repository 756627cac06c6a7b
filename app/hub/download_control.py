"""Stops a download from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Stopped(Exception):
    """Somebody stopped it."""


class Control:
    """Stops a download from any thread, whatever it waits for."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []

    @property
    def is_stopped(self) -> bool:
        """Whether somebody stopped it."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End whatever it waits for."""
        with self._lock:
            self._stop.set()
            ends = tuple(self._ends)
        for end in ends:
            end()

    def ending(self, end: Callable[[], None]) -> None:
        """Call this when somebody stops it; at once where that has happened."""
        with self._lock:
            self._ends.append(end)
        if self.is_stopped:
            end()

    def check(self) -> None:
        """Raise where it was stopped."""
        if self.is_stopped:
            raise Stopped
