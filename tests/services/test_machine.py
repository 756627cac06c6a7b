"""The machine's figures reach whoever shows them once, and only while somebody looks."""

from __future__ import annotations

import msgspec

from app.core.devices import Gpu, GpuReport, MainMemory
from app.core.events import EngineGone, Hello, Unloaded
from app.core.job_events import HardwareSampled
from app.core.words import translate
from app.services.machine import Machine
from app.system.gpus import GpuReader
from tests.fake_nvml import GIB, FakeGpu, FakeNvml

MEMORY = MainMemory(24 * GIB, 17 * GIB, 24 * GIB)


class FakeSampler:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def watch(self, on: bool) -> None:
        self.told.append(on)

    def follow(self, process: int | None) -> None:
        self.told.append(process)

    def close(self) -> None:
        self.told.append("closed")


def test_nothing_is_known_before_the_first_sample() -> None:
    machine = Machine(FakeSampler())
    assert (machine.memory, machine.gpus, machine.activities) == (None, GpuReport(), ())


def test_a_sample_that_says_the_same_is_not_told_again() -> None:
    machine, changes = Machine(FakeSampler()), []
    machine.changed.connect(lambda: changes.append(machine.memory))
    sample = HardwareSampled(MEMORY, GpuReport())
    for each in (sample, HardwareSampled(MEMORY, GpuReport()), sample):
        machine.take(each)
    machine.take(HardwareSampled(msgspec.structs.replace(MEMORY, available=GIB), GpuReport()))
    assert changes == [MEMORY, MainMemory(24 * GIB, GIB, 24 * GIB)]


def test_the_engine_of_now_is_followed() -> None:
    sampler = FakeSampler()
    machine = Machine(sampler)
    machine.watch(True)
    machine.take(Hello(3, 4711, 0, ()))
    machine.take(EngineGone(-9, (), translate("Test", "Gone.")))
    machine.take(Unloaded())
    machine.watch(False)
    machine.stop()
    assert sampler.told == [True, 4711, None, None, False, "closed"]


def test_what_the_driver_says_is_shown() -> None:
    nvml = FakeNvml(FakeGpu(used=5.5, processes={4711: 4.0}))
    report = GpuReader(lambda: nvml, {}).read(4711)
    machine = Machine(FakeSampler())
    machine.take(HardwareSampled(MEMORY, report))
    (gpu,) = machine.gpus.gpus
    assert isinstance(gpu, Gpu)
    assert (gpu.total, gpu.used, gpu.ours) == (24 * GIB, int(5.5 * GIB), 4 * GIB)


def test_the_machine_is_sampled_as_long_as_anybody_looks() -> None:
    sampler = FakeSampler()
    machine = Machine(sampler)
    machine.watch(True, "one")
    machine.watch(True, "other")
    machine.watch(False, "one")
    machine.watch(False, "one")
    assert sampler.told == [True]
    machine.watch(False, "other")
    assert sampler.told == [True, False]
