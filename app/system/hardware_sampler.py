"""Samples main memory and GPUs once a second while somebody looks, and posts what has changed.

Knows nothing of who looks. A driver that blocks or dies costs its figures, and is asked less and less often.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec

from app.core.devices import GpuReport, MainMemory
from app.core.job_events import HardwareSampled
from app.core.ports import EventSink
from app.system.gpu_probe import GpuProbe
from app.system.memory import main_memory

EVERY_SECONDS = 1.0
LONGEST_SECONDS = 60.0
STEP_WATTS = 5
STEP_BYTES = 16 << 20
"""Figures that differ by less are the same to people: other programs always move a little."""


class HardwareSampler:
    """One thread, started when somebody first looks; it waits without a timer while nobody does."""

    def __init__(
        self,
        sink: EventSink,
        probe: GpuProbe | None = None,
        memory: Callable[[], MainMemory] = main_memory,
        every_seconds: float = EVERY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._probe = probe or GpuProbe()
        self._memory = memory
        self._every = every_seconds
        self._clock = clock
        self._state = threading.Condition()
        self._on = False
        self._closed = False
        self._process: int | None = None
        self._thread: threading.Thread | None = None
        self._told: HardwareSampled | None = None
        self._report = GpuReport()
        self._pause = every_seconds
        self._ask_at = 0.0

    def watch(self, on: bool) -> None:
        """Start or stop sampling; returns at once, and the first sample is always posted."""
        with self._state:
            if self._closed:
                return
            self._on = on
            self._told = None
            self._state.notify()
        if on and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="hardware-sampler", daemon=True)
            self._thread.start()

    def follow(self, process: int | None) -> None:
        """Tell from now on what the driver counts for this process, the engine's."""
        self._process = process

    def close(self) -> None:
        """End the thread, whatever the driver does, and wait for it."""
        with self._state:
            self._closed = True
            self._state.notify()
        self._probe.kill()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        wait = False
        while self._wait_for_turn(wait):
            self._sample()
            wait = True
        self._probe.close()

    def _wait_for_turn(self, wait: bool) -> bool:
        """Return True when it is time for a sample, False at the end."""
        with self._state:
            if wait and self._on and not self._closed:
                self._state.wait(self._every)
            on, closed = self._on, self._closed
        if on or closed:
            return not closed
        self._probe.close()  # outside the lock: it may take a moment, and `watch` must not
        with self._state:
            while not self._on and not self._closed:
                self._state.wait()
            return not self._closed

    def _sample(self) -> None:
        self._post()  # main memory is known at once, whatever a driver does
        if self._clock() < self._ask_at:
            return
        self._report = self._probe.read(self._process)
        failed = self._report.fault is not None
        self._pause = min(2 * self._pause, LONGEST_SECONDS) if failed else self._every
        self._ask_at = self._clock() + (self._pause if failed else 0.0)
        self._post()

    def _post(self) -> None:
        sample = HardwareSampled(self._memory(), self._report)
        with self._state:
            if not self._on or self._closed or (self._told and _coarse(self._told) == _coarse(sample)):
                return
            self._told = sample
        self._sink(sample)


def _coarse(sample: HardwareSampled) -> HardwareSampled:
    """Return the sample as people see it: without what moves all the time."""
    memory = msgspec.structs.replace(sample.memory, available=sample.memory.available // STEP_BYTES)
    gpus = tuple(
        msgspec.structs.replace(
            gpu,
            used=_steps(gpu.used),
            free=_steps(gpu.free),
            ours=_steps(gpu.ours),
            power_watts=None if gpu.power_watts is None else gpu.power_watts // STEP_WATTS,
        )
        for gpu in sample.gpus.gpus
    )
    return HardwareSampled(memory, msgspec.structs.replace(sample.gpus, gpus=gpus))


def _steps(size: int | None) -> int | None:
    return None if size is None else size // STEP_BYTES
