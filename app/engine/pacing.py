"""When the next token of an answer may be drawn: at once, after a while, or when somebody says so.

Set by the reader thread, waited for by the loop. Knows no tokens' meaning and no clock of an answer.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple


class Turn(NamedTuple):
    """Leave to go on by one token."""

    token: int | None = None
    """The token that somebody chose; None leaves it to the draw."""


FREELY = Turn()


class Pacing:
    """The pace of one answer; `rate` is in tokens/s, None as fast as it goes, 0 one by one."""

    def __init__(self, rate: float | None = None, now: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._rate = rate
        self._given: deque[Turn] = deque()
        self._is_over = False
        self._last_ns = 0

    def set_rate(self, rate: float | None) -> None:
        """Go on at another pace; steps that were given and not taken yet are forgotten when it no longer waits for them."""
        with self._changed:
            self._rate = rate
            if rate != 0:
                self._given.clear()
            self._changed.notify_all()

    def give(self, token: int | None = None) -> None:
        """Let one token follow, where the answer waits for that or will."""
        with self._changed:
            if self._rate == 0:
                self._given.append(Turn(token))
                self._changed.notify_all()

    def end(self) -> None:
        """Wait for nothing any more."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    @property
    def is_held(self) -> bool:
        """Whether the next token waits for somebody."""
        with self._changed:
            return self._rate == 0 and not self._given and not self._is_over

    def wait(self) -> Turn | None:
        """Wait for the next turn; None when the answer is to end instead."""
        with self._changed:
            while not self._is_over:
                if self._rate == 0:
                    if self._given:
                        return self._taken(self._given.popleft())
                    self._changed.wait()
                elif (left := self._left_s()) <= 0:
                    return self._taken(FREELY)
                else:
                    self._changed.wait(left)
            return None

    def _taken(self, turn: Turn) -> Turn:
        self._last_ns = self._now()
        return turn

    def _left_s(self) -> float:
        """Return how long the next token has to wait for its time."""
        if self._rate is None:
            return 0.0
        return 1 / self._rate - (self._now() - self._last_ns) / 1e9
