"""Waiting for a database that another program holds, for a while and never past the end of the program."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.store.faults import Fault, fault_of

BUSY_MS = 200
"""How long SQLite itself waits in one attempt: it cannot be called off while it does."""
PAUSE_S = 0.05

_Result = TypeVar("_Result")


class Patience:
    """Repeats what fails because of a lock, until a limit that the program's end brings forward."""

    def __init__(self) -> None:
        self._end = float("inf")
        self._pressed = float("inf")
        self._never = threading.Event()

    def hurry(self, seconds: float) -> None:
        """Let nothing wait for longer than this from now on; safe from any thread."""
        self._end = time.monotonic() + seconds

    def press(self, seconds: float) -> None:
        """Let nothing wait for longer than this until `relax`; safe from any thread."""
        self._pressed = time.monotonic() + seconds

    def relax(self) -> None:
        """Wait as before."""
        self._pressed = float("inf")

    def run(self, action: Callable[[], _Result], seconds: float) -> _Result:
        """Return what the action returns; it is tried at least once."""
        until = time.monotonic() + seconds
        while True:
            try:
                return action()
            except sqlite3.Error as error:
                if fault_of(error) is not Fault.LOCKED or time.monotonic() >= min(until, self._end, self._pressed):
                    raise
            self._never.wait(PAUSE_S)
