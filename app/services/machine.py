"""Main memory and GPUs as they are now, for whoever shows them; samples only while somebody looks.

Knows nothing of how they are asked.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from app.core.devices import Gpu, GpuReport, MainMemory
from app.core.events import EngineGone, Hello, Unloaded
from app.core.job_events import HardwareSampled
from app.core.signal import Signal


class Sampler(Protocol):
    """Samples the machine and posts what has changed."""

    def watch(self, on: bool) -> None:
        """Start or stop sampling; returns at once."""

    def follow(self, process: int | None) -> None:
        """Tell from now on what the driver counts for this process."""

    def close(self) -> None:
        """End the sampling for good."""


class GpuActivity(msgspec.Struct, frozen=True):
    """How busy, hungry and hot a GPU is; None is unknown."""

    name: str
    percent: int | None = None
    watts: int | None = None
    celsius: int | None = None

    @property
    def tells_something(self) -> bool:
        """Whether any of it is known."""
        return not (self.percent is None and self.watts is None and self.celsius is None)


def activity_of(gpu: Gpu) -> GpuActivity:
    """Return what the driver says of a GPU's work."""
    return GpuActivity(gpu.name, gpu.busy_percent, gpu.power_watts, gpu.celsius)


class Machine:
    """The latest sample of this machine."""

    def __init__(self, sampler: Sampler) -> None:
        self.changed: Signal[()] = Signal()
        """At least one figure is another one."""
        self._sampler = sampler
        self._sample: HardwareSampled | None = None
        self._watchers: set[str] = set()

    @property
    def memory(self) -> MainMemory | None:
        """Main memory; None before the first sample."""
        return self._sample.memory if self._sample else None

    @property
    def gpus(self) -> GpuReport:
        """The GPUs, or why nothing is known of them; empty before the first answer of their driver."""
        return self._sample.gpus if self._sample else GpuReport()

    @property
    def activities(self) -> tuple[GpuActivity, ...]:
        """How busy each GPU is that programs can use and that tells it."""
        told = (activity_of(gpu) for gpu in self.gpus.gpus if gpu.visible is not False)
        return tuple(activity for activity in told if activity.tells_something)

    def watch(self, on: bool, watcher: str = "live") -> None:
        """Let somebody look or look away; sampled as long as anybody looks, and `changed` follows."""
        was_watched = bool(self._watchers)
        if on:
            self._watchers.add(watcher)
        else:
            self._watchers.discard(watcher)
        if bool(self._watchers) != was_watched:
            self._sampler.watch(not was_watched)

    def take(self, event: HardwareSampled | Hello | EngineGone | Unloaded) -> None:
        """Take in a sample, or which process is the engine now."""
        if isinstance(event, HardwareSampled):
            if event != self._sample:
                self._sample = event
                self.changed.emit()
        else:
            self._sampler.follow(event.pid if isinstance(event, Hello) else None)

    def stop(self) -> None:
        """End the sampling for good."""
        self._sampler.close()
