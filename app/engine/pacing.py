"""When the next token of an answer may be drawn: at once, after a while, or when somebody says so.

Set by the reader thread, waited for by the loop. Knows no tokens' meaning and no clock of an answer.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

LONGEST_WAIT_S = 3600.0
"""Nobody waits longer at once: a lock has a limit of its own."""


class Turn(NamedTuple):
    """Leave to go on by one token."""

    token: int | None = None
    """The token that somebody chose; None leaves it to the draw."""
    place: int | None = None
    """The one token that it is for; None is the next, whichever that is."""


FREELY = Turn()


class Pacing:
    """The pace of one answer; `rate` is in tokens/s, None as fast as it goes, 0 one by one."""

    def __init__(self, rate: float | None = None, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._rate = _usable(rate)
        self._given: deque[Turn] = deque()
        self._is_over = False
        self._last_ns = 0
        self.changes = 0
        """Grows with everything that is said here; see `wait`."""

    def set_rate(self, rate: float | None) -> None:
        """Go on at another pace; steps that were given and not taken yet are forgotten when it no longer waits for them."""
        with self._changed:
            self._rate = _usable(rate)
            if self._rate != 0:
                self._given.clear()
            self._tell()

    def give(self, token: int | None = None, place: int | None = None) -> None:
        """Let one token follow, where the answer waits for that or will."""
        with self._changed:
            if self._rate == 0:
                self._given.append(Turn(token, place))
                self._tell()

    def end(self) -> None:
        """Wait for nothing any more."""
        with self._changed:
            self._is_over = True
            self._tell()

    @property
    def is_held(self) -> bool:
        """Whether the next token waits for somebody."""
        with self._changed:
            return self._rate == 0 and not self._given

    @property
    def is_over(self) -> bool:
        """Whether nobody is to be waited for any more."""
        return self._is_over

    def take(self, place: int | None = None) -> Turn | None:
        """Return leave for the next token, which has this place, or None where that waits.

        One that only waits for its time is let go at the end; leave for another place came too late and is forgotten.
        """
        with self._changed:
            if self._rate == 0:
                while self._given and None not in (place, self._given[0].place) and self._given[0].place != place:
                    self._given.popleft()
                turn = self._given.popleft() if self._given else None
            else:
                turn = FREELY if self._is_over or self._left_s() <= 0 else None
            if turn is not None:
                self._last_ns = self._now()
            return turn

    def wait(self, seen: int) -> None:
        """Wait until something is said that was not when `changes` was `seen`, or until it is time for the next token."""
        with self._changed:
            if self.changes == seen and not self._is_over:
                self._changed.wait(None if self._rate == 0 else min(max(self._left_s(), 0.0), LONGEST_WAIT_S))

    def _tell(self) -> None:
        self.changes += 1
        self._changed.notify_all()

    def _left_s(self) -> float:
        """Return how long the next token has to wait for its time."""
        if not self._rate:
            return 0.0
        return 1 / self._rate - (self._now() - self._last_ns) / 1e9


def _usable(rate: float | None) -> float | None:
    """Return a rate that is a number and not below 0; anything else is as fast as it goes."""
    return rate if rate is not None and math.isfinite(rate) and rate >= 0 else None
