"""How much memory is in use, asked somewhere else than llama.cpp: NVML for a GPU, else the engine process's own memory.

It must not know what the engine says of itself.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Protocol, Self

import psutil

try:
    import pynvml
except ImportError:  # there is no NVIDIA GPU without it to be asked
    pynvml = None

SAMPLE_S = 0.02


class Meter(Protocol):
    """Tells bytes in use."""

    name: str
    sees_gpu: bool
    """Whether it shows what lies on the GPU, other programs included; else main memory of the engine alone."""

    def used(self, process_id: int | None) -> int:
        """Return the bytes in use now; `process_id` is the engine's, None when it is not there."""


class NvmlMeter:
    """What the driver says of one GPU."""

    name = "NVML"
    sees_gpu = True

    def __init__(self, bus_id: str | None) -> None:
        """Find the GPU by its PCI address, the first one where that is unknown; raises `pynvml.NVMLError`."""
        pynvml.nvmlInit()
        by_bus = bus_id is not None
        self._handle = (
            pynvml.nvmlDeviceGetHandleByPciBusId(bus_id) if by_bus else pynvml.nvmlDeviceGetHandleByIndex(0)
        )

    def used(self, process_id: int | None) -> int:
        """Return the bytes in use on the GPU, by whomever."""
        return int(pynvml.nvmlDeviceGetMemoryInfo(self._handle).used)


class ProcessMeter:
    """Main memory of the engine process."""

    name = "process memory"
    sees_gpu = False

    def used(self, process_id: int | None) -> int:
        """Return the resident bytes."""
        if process_id is None or not psutil.pid_exists(process_id):
            return 0
        return int(psutil.Process(process_id).memory_info().rss)


def meter_for(bus_id: str | None) -> Meter:
    """Return NVML's meter where NVML answers, else the process's."""
    if pynvml is None:
        return ProcessMeter()
    try:
        return NvmlMeter(bus_id)
    except pynvml.NVMLError:
        return ProcessMeter()


class Watch:
    """Samples a meter on a thread while something runs; `highest` is the most that was in use."""

    def __init__(self, meter: Meter, process_id: int) -> None:
        self._meter, self._process_id = meter, process_id
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="gpu-check-meter")
        self.highest = 0

    def _sample(self) -> None:
        while True:
            self.highest = max(self.highest, self._meter.used(self._process_id))
            if self._over.wait(SAMPLE_S):
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
