"""A thread beside the loop for native work that can take for ever: who waits for it goes on hearing Stop.

Native code cannot be interrupted: what takes too long is left to itself, and freed once it is over. Knows no grammars.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from threading import Thread
from typing import NoReturn, TypeVar

T = TypeVar("T")

WAKE_S = 0.05
"""So often whoever waits looks whether somebody stopped."""
GRACE_S = 0.3
"""Work that hears a stop itself has so long to end."""
LONGEST_S = 20.0
"""Native work has so long to show that it goes on."""
_NAME = "engine-aside"
_left: list[Thread] = []


class Stopped(Exception):
    """Somebody stopped, and the work is left to itself."""


class TooLong(Exception):
    """The work did not show for too long that it goes on, and is left to itself."""


def work_left() -> frozenset[Thread]:
    """Return the threads of native work that nobody waits for and that still runs: what it reads may not be freed."""
    _left[:] = [thread for thread in _left if thread.is_alive()]
    return frozenset(_left)


def is_work_left() -> bool:
    """Return whether native work that nobody waits for still runs."""
    return bool(work_left())


class Aside:
    """One thread, for one owner; begun with its first work and ended by `close`."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        """`stopped` tells whether nobody wants the work any more."""
        self._stopped = stopped
        self._thread: Thread | None = None
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._ends: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._sign_of_life = 0.0
        self._left_for: Stopped | TooLong | None = None

    @property
    def is_left(self) -> bool:
        """Whether nobody waits for the work any more."""
        return self._left_for is not None

    def goes_on(self) -> None:
        """Say, from within the work, that it goes on."""
        self._sign_of_life = time.monotonic()

    def run(self, work: Callable[[], T]) -> T:
        """Return what some work returns, or raise what it raises. Raises `Stopped` and `TooLong`, and from then on always."""
        if self._left_for is not None:
            raise self._left_for
        if self._thread is None:
            self._thread = Thread(target=self._run, name=_NAME, daemon=True)
            self._thread.start()
        self.goes_on()
        found = list[T]()
        self._work.put(lambda: found.append(work()))
        seconds = WAKE_S
        while True:
            try:
                error = self._ends.get(timeout=seconds)
            except queue.Empty:
                if seconds == GRACE_S:
                    self._leave(Stopped())
                if self._stopped():
                    seconds = GRACE_S
                elif time.monotonic() - self._sign_of_life > LONGEST_S:
                    self._leave(TooLong())
                continue
            if error is not None:
                raise error
            return found[0]

    def close(self, free: Callable[[], None]) -> None:
        """End the thread and free what its work used: at once, or once work that is left to itself is over.

        Calling it twice is harmless where `free` is.
        """
        if self.is_left:
            self._work.put(free)
            self._work.put(None)
            return
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
        free()

    def _leave(self, reason: Stopped | TooLong) -> NoReturn:
        self._left_for = reason
        if self._thread is not None:
            _left.append(self._thread)
        raise reason

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  it is raised again where the result is asked for
                self._ends.put(error)
            else:
                self._ends.put(None)
