"""Dry runs that a test leads by the hand: it notes what is asked and says what the test wants it to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.core.devices import Device
from app.core.events import Event, Failed, FailureKind, MemoryMeasured
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.core.words import translate

CPU = Device("CPU", "a processor", "cpu", "CPU", 16 << 30, None)


class Asked(NamedTuple):
    """One question."""

    request: int
    path: str
    options: LoadOptions
    keep: bool
    sizes_only: bool


class FakeDryRun:
    """Implements `DryRunPort` without a process."""

    def __init__(self, sink: Callable[[Event], None]) -> None:
        self._sink = sink
        self.asked: list[Asked] = []
        self.closed = False

    def measure(
        self, request: int, path: str, options: LoadOptions, *, keep: bool = True, sizes_only: bool = False
    ) -> None:
        self.asked.append(Asked(request, path, options, keep, sizes_only))

    def close(self) -> None:
        self.closed = True

    def answer(self, *memory: DeviceMemory, devices: tuple[Device, ...] = (CPU,), **options: object) -> None:
        """Say what the configuration that was asked for last would take; `options` are those that were chosen."""
        asked = self.asked[-1]
        chosen = LoadOptions(**options) if options else asked.options  # type: ignore[arg-type]
        self._sink(
            MemoryMeasured(asked.request, asked.path, chosen, memory, asked.options.context or 8192, 2, devices)
        )

    def fail(self, kind: FailureKind = "engine", text: str = "Nobody knows.") -> None:
        self._sink(Failed(self.asked[-1].request, kind, translate("Test", text)))
