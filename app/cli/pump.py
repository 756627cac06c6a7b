"""Hands the events of background threads to the program, blocking in between; the window has a pump of its own."""

from __future__ import annotations

import queue
import signal
import sys
from collections.abc import Callable
from types import FrameType

from app.core.events import Event
from app.system.inbox import Inbox

WINDOWS_WAIT_S = 0.2
"""A blocked wait hides Ctrl+C on Windows; elsewhere the handler's own token ends it."""


class Pump:
    """Drains the inbox until it is told to stop, and takes Ctrl+C in between."""

    def __init__(self, inbox: Inbox, dispatch: Callable[[Event], None], on_interrupt: Callable[[], None]) -> None:
        self._inbox = inbox
        self._dispatch = dispatch
        self._on_interrupt = on_interrupt
        self._tokens: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._interrupts = 0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl+C was pressed."""
        return self._interrupts > 0

    def run(self, is_done: Callable[[], bool], end_at_once: Callable[[], None]) -> None:
        """Dispatch until `is_done`; the second Ctrl+C calls `end_at_once`."""

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                end_at_once()
            self._tokens.put(None)

        taken = [signal.SIGINT, signal.SIGTERM]
        earlier = {number: signal.signal(number, interrupt) for number in taken}
        self._inbox.on_first(lambda _is_urgent: self._tokens.put(None))
        told = 0
        try:
            while not is_done():
                self._wait()
                if self._interrupts > told:
                    told = self._interrupts
                    self._on_interrupt()
                for event in self._inbox.drain():
                    self._dispatch(event)
        finally:
            self._inbox.on_first(None)
            for number, handler in earlier.items():
                signal.signal(number, handler)

    def _wait(self) -> None:
        try:
            self._tokens.get(timeout=WINDOWS_WAIT_S if sys.platform == "win32" else None)
        except queue.Empty:
            return
