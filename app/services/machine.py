"""Main memory and GPUs as they are now, for whoever shows them; samples only while somebody looks.

Knows nothing of how they are asked.
"""

from __future__ import annotations

from app.core.devices import GpuReport, MainMemory
from app.core.events import EngineGone, HardwareSampled, Hello, Unloaded
from app.core.signal import Signal
from app.system.hardware_sampler import HardwareSampler


class Machine:
    """The latest sample of this machine."""

    def __init__(self, sampler: HardwareSampler) -> None:
        self.changed: Signal[()] = Signal()
        """At least one figure is another one."""
        self._sampler = sampler
        self._sample: HardwareSampled | None = None

    @property
    def memory(self) -> MainMemory | None:
        """Main memory; None before the first sample."""
        return self._sample.memory if self._sample else None

    @property
    def gpus(self) -> GpuReport:
        """The GPUs, or why nothing is known of them; empty before the first answer of their driver."""
        return self._sample.gpus if self._sample else GpuReport()

    def watch(self, on: bool) -> None:
        """Start or stop sampling; `changed` follows."""
        self._sampler.watch(on)

    def take(self, event: HardwareSampled | Hello | EngineGone | Unloaded) -> None:
        """Take in a sample, or which process is the engine now."""
        if isinstance(event, HardwareSampled):
            self._sample = event
            self.changed.emit()
        else:
            self._sampler.follow(event.pid if isinstance(event, Hello) else None)

    def stop(self) -> None:
        """End the sampling for good."""
        self._sampler.close()
