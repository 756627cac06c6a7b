"""Whose turn it is: one contender evaluates, the others are at rest, and that they are is looked at.

OpenMP threads spin on for a while behind a decode; whoever spins would slow the next one's slice down.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Protocol

import psutil

from tests.bench.arithmetic import BenchError

LOOK_S = 0.03
TICK_S = 0.011
"""CPU time is counted in steps of 10 ms on most systems: one step in a look is nothing."""
LOOKS = 200


class Contender(Protocol):
    """A program that generates slices of tokens."""

    @property
    def process_id(self) -> int:
        """The process that evaluates."""

    def slice(self, seed: int) -> float:
        """Generate one slice and return its speed in tokens/s."""


class Turns:
    """Lets processes work one after another."""

    def __init__(self, process_ids: Iterable[int]) -> None:
        self._processes = {number: psutil.Process(number) for number in process_ids}
        self._pause = threading.Event()
        self.idle_cpu = 0.0
        """The largest share of a core that the processes at rest used during somebody's slice."""

    def take(self, contender: Contender, seed: int) -> float:
        """Return the speed of one slice, measured while the others rest."""
        others = [process for number, process in self._processes.items() if number != contender.process_id]
        self._wait_for_rest(others)
        used, began = _cpu_seconds(others), time.perf_counter()
        speed = contender.slice(seed)
        seconds = time.perf_counter() - began
        self.idle_cpu = max(self.idle_cpu, (_cpu_seconds(others) - used - TICK_S) / seconds)
        return speed

    def _wait_for_rest(self, processes: list[psutil.Process]) -> None:
        for _ in range(LOOKS):
            used = _cpu_seconds(processes)
            if not processes or (not self._pause.wait(LOOK_S) and _cpu_seconds(processes) - used <= TICK_S):
                return
        raise BenchError("A process that should wait for its turn keeps working.")


def _cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))
