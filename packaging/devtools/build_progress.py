"""Reads a compiler's progress and says how far it is and how long it may still take.

It must not know what is being built or start anything.
"""

from __future__ import annotations

import math
import re
import time
from typing import TYPE_CHECKING

from devtools.console import plural

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")
STEPS_BEFORE_ESTIMATE = 5
SECONDS_BEFORE_ESTIMATE = 8.0
# Processor time of the whole build, the fastest and the slowest machine measured.
CPU_BUILD_CORE_S = (160, 400)


def step_of(line: str) -> tuple[int, int] | None:
    """Return (3, 83) for a line that begins with "[3/83]"."""
    match = STEP.match(line)
    return (int(match[1]), int(match[2])) if match else None


def duration(seconds: float) -> str:
    """Return "40 seconds" or "3 minutes", as exact as people need."""
    if seconds < 90:
        return plural(max(5, round(seconds / 5) * 5), "second")
    return plural(round(seconds / 60), "minute")


def expected(cores: int) -> str:
    """Say before the first step how long the build for the CPU takes on so many cores."""
    least, most = (math.ceil(core_s / cores / 60) for core_s in CPU_BUILD_CORE_S)
    return f"about {plural(least, 'minute')}" if least == most else f"{least} to {plural(most, 'minute')}"


class BuildProgress:
    """Turns the lines of a build into a sentence; the estimate rests on the steps done so far."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._begun = clock()
        self._first_step_s: float | None = None
        self._done = 0
        self._total = 0

    def read(self, line: str) -> str:
        """Take one line of output and return what to show now."""
        step = step_of(line)
        if step is not None:
            if self._first_step_s is None or step[1] != self._total:
                self._first_step_s = self._clock()
                self._done = 0
            self._done = max(self._done, step[0])
            self._total = step[1]
        return self.sentence()

    def sentence(self) -> str:
        """Say where the build is and what is left."""
        now = self._clock()
        if self._first_step_s is None:
            return f"{self._name}: preparing, {duration(now - self._begun)} so far"
        text = f"{self._name}: step {self._done} of {self._total}"
        left = self.seconds_left()
        if left is None:
            return text
        if self._done >= self._total:
            return f"{text}, packing"
        return f"{text}, about {duration(left)} left"

    def seconds_left(self) -> float | None:
        """Estimate the rest from the pace so far; None while that would be a guess."""
        if self._first_step_s is None or self._done < STEPS_BEFORE_ESTIMATE:
            return None
        elapsed = self._clock() - self._first_step_s
        if elapsed < SECONDS_BEFORE_ESTIMATE:
            return None
        return elapsed / self._done * (self._total - self._done)
