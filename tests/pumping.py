"""Hands on the events of a real program to its services, as its pump would, until something is so."""

from __future__ import annotations

import threading
from collections.abc import Callable

from app.services.program import Program

GUARD_SECONDS = 120


class Pumped:
    """A program without a window and without a command line."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._woken = threading.Event()

    def until(self, is_so: Callable[[], object]) -> None:
        """Hand on what is said until something is so."""
        inbox = self._program.inbox
        inbox.on_first(lambda _urgent: self._woken.set())
        while not is_so():
            self._woken.clear()
            events = inbox.drain()
            for event in events:
                self._program.dispatch(event)
            if not events:
                assert self._woken.wait(GUARD_SECONDS), "nothing happened any more"
        inbox.on_first(None)
