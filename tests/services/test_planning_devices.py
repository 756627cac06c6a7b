"""This machine as it is planned for: what is free, what the open model gives back, and how fast each device is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.devices import Device, GpuReport, MainMemory
from app.core.devices import Gpu as DriverGpu
from app.core.events import Loaded
from app.core.machine_speed import KeptAnswers, KnownMemory
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions, ModelInfo
from app.core.own_gpu import OwnGpu
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu
from app.planner.memory_plan import PlannedDevice
from app.planner.model_work import ModelWork
from app.services.own_devices import answers_key, own_gpu, own_processor
from app.services.planning_devices import KnownGpus, SpeedFacts, known_gpus, planned_here
from app.services.planning_words import rests_on
from app.system.resources import find_resources
from tests.desk import Desk
from tests.fake_engine import model_info

GIB = 1 << 30
CUDA = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 20 * GIB, "0000:01:00.0")
INTEGRATED = Device("Vulkan0", "Some graphics", "integrated_gpu", "Vulkan", 12 * GIB, 3 * GIB)
MAIN = MainMemory(16 * GIB, 8 * GIB, 16 * GIB)


def report(free: int | None) -> GpuReport:
    return GpuReport((DriverGpu("NVIDIA L4", "a", "00000000:01:00.0", 24 * GIB, None, free),))


def opened(**changes: object) -> ModelInfo:
    memory = (DeviceMemory("CUDA0", 2 * GIB, GIB, 0), DeviceMemory("CPU", GIB, 0, GIB // 2))
    return msgspec.structs.replace(model_info("a.gguf"), memory=memory, **changes)


def test_a_machine_without_a_gpu_is_its_main_memory() -> None:
    assert planned_here((), GpuReport(), MAIN) == (PlannedDevice("CPU", False, 16 * GIB, 8 * GIB),)


def test_what_the_open_model_holds_is_free_by_the_newest_figures() -> None:
    back = {"CUDA0": 3 * GIB, "CPU": GIB}
    gpu, main = planned_here((CUDA,), report(15 * GIB), MAIN, back, {"CUDA0": GIB})
    assert (gpu.name, gpu.is_gpu, gpu.total, gpu.free) == ("CUDA0", True, 24 * GIB, 18 * GIB)
    assert main.free == 9 * GIB
    gpu, _ = planned_here((CUDA,), report(None), MAIN, back, {"CUDA0": GIB})
    assert gpu.free == 21 * GIB
    gpu, _ = planned_here((CUDA,), report(23 * GIB), MAIN, back)
    assert gpu.free == 24 * GIB


def test_an_integrated_gpu_shares_main_memory_and_counts_only_by_itself() -> None:
    gpu, main = planned_here((INTEGRATED,), GpuReport(), MAIN, {"Vulkan0": GIB})
    assert gpu.shares_main_memory and gpu.free == 9 * GIB and main.free == 8 * GIB
    assert [device.name for device in planned_here((INTEGRATED, CUDA), GpuReport(), MAIN)] == ["CUDA0", "CPU"]


def test_a_program_tells_its_machine_and_what_unloading_gives_back(desk: Desk, model: Path) -> None:
    devices = desk.program.planner.devices
    (main,) = devices.here
    assert not main.is_gpu and main.free is not None
    desk.begin_load(model)
    desk.program.dispatch(Loaded(desk.engine.load.request, opened(options=LoadOptions(mmap=False))))
    devices.note((CUDA,))
    gpu, _ = devices.here
    assert gpu.free == 23 * GIB
    desk.program.session.unload()
    desk.settle()
    assert devices.here[0].free == 23 * GIB


def test_gpus_are_read_in_the_background_and_anew_when_answers_say_more(desk: Desk) -> None:
    devices, told = desk.program.planner.devices, list[int]()
    devices.changed.connect(lambda: told.append(1))
    assert devices.gpus.all == () and not devices.is_known
    desk.until(lambda: devices.is_known)
    assert told and {"rtx-4090", "l4"} <= {gpu.id for gpu in devices.gpus.table}
    before = devices.gpus.here["CPU"]
    assert before.is_processor and before.usable > 0
    kept = KeptAnswers(tuple((30, 1e8, 1e5, 0.01) for _ in range(4)), (), 4)
    desk.program.settings.change(answers_here={"CPU, 2": kept}, gpus={"My card": OwnGpu(16, 500)})
    assert devices.gpus.here["CPU"] == before
    desk.until(lambda: devices.gpus.own)
    assert [gpu.name for gpu in devices.gpus.own] == ["My card"]
    assert devices.gpus.here["CPU"].source_kind("efficiency") == "measured" != before.source_kind("efficiency")


def test_a_gpu_is_known_by_its_makers_name_and_one_that_is_not_by_its_memory() -> None:
    table = find_resources().gpu_table()
    other = msgspec.structs.replace(CUDA, name="CUDA1", description="Unheard of")
    gpus = known_gpus(table, SpeedFacts({}, {}, {}), (CUDA, other), 16 * GIB)
    assert gpus.here["CUDA0"].is_this_machine and "CUDA1" not in gpus.here
    facts = SpeedFacts({"CUDA1": KnownMemory(400.0)}, {}, {})
    assert known_gpus(table, facts, (CUDA, other), 16 * GIB).here["CUDA1"].bandwidth == 400.0
    assert known_gpus("", SpeedFacts({}, {}, {}), (), 16 * GIB).table == ()


def test_the_processor_is_known_by_the_threads_that_answered() -> None:
    processor, gpu = own_processor({}), own_gpu(CUDA, {})
    assert answers_key(processor, 4) == "CPU, 4"
    assert answers_key(processor, None, ("CPU, 8", "NVIDIA L4", "CPU, 2", "NVIDIA T4")) == "CPU, 2"
    assert answers_key(processor, None, ("NVIDIA L4",)) == "CPU" and answers_key(gpu, 4) == "NVIDIA L4"


def test_what_answers_here_changed_is_carried_over_to_gpus_of_the_same_class() -> None:
    work = ModelWork(32, 4_640_000_000)
    slow = tuple((32.0, 4.64e9, 0.0, 1 / 20, 1.0) for _ in range(6))
    text, devices = find_resources().gpu_table(), (CUDA, msgspec.structs.replace(CUDA, name="CUDA1"))
    before = {gpu.id: gpu for gpu in known_gpus(text, SpeedFacts({}, {}, {}), devices, 16 * GIB).table}
    like = {"Mine": OwnGpu(24, 300, like="l4")}

    def known(count: int) -> KnownGpus:
        answers = {"NVIDIA L4": KeptAnswers(slow[:count], (), count)}
        return known_gpus(text, SpeedFacts({}, answers, like), devices, 16 * GIB)

    def rate(gpu: Gpu) -> float:
        speed = decode_speed([Part(work, gpu)], 0)
        assert speed is not None
        return speed.tokens_per_s

    gpus = known(6)
    after = {gpu.id: gpu for gpu in (*gpus.table, *gpus.own)}
    assert rate(gpus.here["CUDA0"]) == rate(gpus.here["CUDA1"]) == pytest.approx(20, rel=0.1)
    factor = rate(gpus.here["CUDA0"]) / rate(before["l4"])
    for key in ("l4", "rtx-4090"):
        assert rate(after[key]) == pytest.approx(rate(before[key]) * factor, rel=0.02)
    assert rate(after["mine"]) == pytest.approx(rate(after["l4"]))
    assert (
        rests_on(after["rtx-4090"])
        .english()
        .startswith("Judged by the figures of NVIDIA GeForce RTX 4090 and by answers on")
    )
    assert after["h200"] == before["h200"]
    assert {gpu.id: gpu for gpu in known(2).table} == before  # too few tell nothing of others
