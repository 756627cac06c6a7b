"""The hardware sampler: it posts what changed, only while somebody looks, and nothing can hold up its end."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.core.devices import GpuReport, MainMemory
from app.core.events import Event
from app.core.job_events import HardwareSampled
from app.system.gpu_probe import GpuProbe
from app.system.gpus import fault_report
from app.system.hardware_sampler import LONGEST_SECONDS, STEP_BYTES, HardwareSampler
from tests.fake_nvml import MODE

GIB = 1 << 30
GUARD_S = 60.0
NEVER_S = 1e6


class ScriptedProbe(GpuProbe):
    """Says what a test put in; None once there is nothing more to say."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[GpuReport] = []
        self.asked: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self.closed = threading.Event()

    def read(self, process: int | None = None) -> GpuReport:
        self.asked.put(process)
        return self.reports.pop(0) if len(self.reports) > 1 else self.reports[0] if self.reports else GpuReport()

    def close(self) -> None:
        super().close()
        self.closed.set()


class Bench:
    """A sampler whose memory, clock and GPUs a test leads."""

    def __init__(self) -> None:
        self.probe = ScriptedProbe()
        self.memory = MainMemory(16 * GIB, 8 * GIB, 16 * GIB)
        self.now = 0.0
        self.looked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.sampler = HardwareSampler(
            self.events.put, self.probe, self._memory, every_seconds=0.001, clock=lambda: self.now
        )

    def _memory(self) -> MainMemory:
        self.looked.put(None)
        return self.memory

    def next(self) -> HardwareSampled:
        """Return the next sample that is posted."""
        event = self.events.get(timeout=GUARD_S)
        assert isinstance(event, HardwareSampled)
        return event

    def turns(self, count: int) -> None:
        """Wait until the sampler has looked so often again."""
        while not self.looked.empty():
            self.looked.get()
        for _ in range(count):
            self.looked.get(timeout=GUARD_S)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.sampler.close()


def test_nothing_is_sampled_before_somebody_looks(bench: Bench) -> None:
    bench.sampler.follow(1)
    assert bench.sampler._thread is None
    assert bench.looked.empty()


def test_only_changes_that_people_can_see_are_posted(bench: Bench) -> None:
    bench.sampler.watch(True)
    assert bench.next().memory.available == 8 * GIB
    bench.memory = MainMemory(16 * GIB, 8 * GIB + STEP_BYTES - 1, 16 * GIB)
    bench.turns(4)
    assert bench.events.empty()
    bench.memory = MainMemory(16 * GIB, 7 * GIB, 16 * GIB)
    assert bench.next().memory.available == 7 * GIB


def test_the_engines_process_is_asked_for(bench: Bench) -> None:
    bench.sampler.follow(4711)
    bench.sampler.watch(True)
    assert bench.probe.asked.get(timeout=GUARD_S) == 4711


def test_whoever_looks_again_gets_a_sample_at_once(bench: Bench) -> None:
    bench.sampler.watch(True)
    bench.next()
    bench.sampler.watch(False)
    bench.sampler.watch(True)
    assert bench.next().memory == bench.memory


def test_while_nobody_looks_the_driver_is_let_go(bench: Bench) -> None:
    bench.sampler.watch(True)
    bench.next()
    bench.sampler.watch(False)
    assert bench.probe.closed.wait(GUARD_S)


def test_a_failing_driver_is_asked_less_and_less_often_while_memory_goes_on(bench: Bench) -> None:
    bench.probe.reports = [fault_report("failed", 999)]
    bench.sampler.watch(True)
    waits = []
    for _ in range(20):
        bench.probe.asked.get(timeout=GUARD_S)
        bench.turns(3)
        assert bench.probe.asked.empty(), "it was asked again although no time has passed"
        waits.append(bench.sampler._pause)
        bench.now = bench.sampler._ask_at
    assert waits == sorted(waits)
    assert waits[0] < waits[-1] == LONGEST_SECONDS
    bench.probe.reports = [GpuReport(driver="550")]
    bench.turns(3)
    assert bench.sampler._ask_at <= bench.now


def test_a_blocked_driver_costs_its_figures_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "blocks")
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    blocked = GpuProbe("tests.fake_nvml", lambda: True, first_seconds=NEVER_S, seconds=NEVER_S)
    sampler = HardwareSampler(events.put, blocked)
    sampler.watch(True)
    first: Any = events.get(timeout=GUARD_S)
    assert first.memory.total > 0
    assert first.gpus == GpuReport()
    closing = threading.Thread(target=sampler.close)
    closing.start()
    closing.join(GUARD_S)
    assert not closing.is_alive(), "the driver holds up the end"
    sampler.close()
    sampler.watch(True)
    assert sampler._thread is not None
    assert not sampler._thread.is_alive()
