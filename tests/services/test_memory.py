"""The estimate stands beside what a load really took."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.commands import ListDevices
from app.core.devices import Device, Gpu, GpuReport, MainMemory
from app.core.events import DevicesListed, Loaded
from app.core.load_estimate import load_estimate
from app.core.metrics import DeviceMemory
from app.core.model import LoadOptions
from app.services.memory import Memory, MemoryRow
from tests.desk import Desk
from tests.fake_engine import model_info
from tests.fake_nvml import GIB
from tests.services.surroundings_of_tests import LIBRARY

REAL = (DeviceMemory("CUDA0", 900, 200, 50), DeviceMemory("CPU", 100, None, 10))
ESTIMATE = (DeviceMemory("CUDA0", 910, 200, 55), DeviceMemory("CUDA1", 1, None, None))


def load(desk: Desk, model: Path, **options: object) -> None:
    """Load a model that tells what it took and with which options."""
    desk.begin_load(model)
    chosen = LoadOptions(**options)  # type: ignore[arg-type]
    info = msgspec.structs.replace(model_info(str(model)), memory=REAL, options=chosen)
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()


def test_after_each_load_the_same_options_are_worked_out(desk: Desk, model: Path) -> None:
    memory, changes = desk.program.memory, []
    memory.changed.connect(lambda: changes.append(len(memory.rows)))
    load(desk, model, gpu_layers=21, experts_on_cpu=True)
    assert desk.dry_run.asked[-1].path == str(model)
    assert not desk.dry_run.asked[-1].keep
    assert desk.dry_run.asked[-1].options == LoadOptions(gpu_layers=21, experts_on_cpu=True)
    assert list(memory.rows) == [MemoryRow("CUDA0", None, REAL[0]), MemoryRow("CPU", None, REAL[1])]
    desk.dry_run.answer(*ESTIMATE)
    desk.settle()
    assert list(memory.rows) == [
        MemoryRow("CUDA0", ESTIMATE[0], REAL[0]),
        MemoryRow("CPU", None, REAL[1]),
        MemoryRow("CUDA1", ESTIMATE[1], None),
    ]
    assert changes == [2, 3]


def test_an_estimate_that_comes_to_nothing_leaves_the_real_figures(desk: Desk, model: Path) -> None:
    load(desk, model)
    desk.dry_run.fail()
    desk.settle()
    assert [row.real for row in desk.program.memory.rows] == list(REAL)
    assert desk.program.notices.latest is None


def test_an_estimate_for_an_earlier_model_is_ignored(desk: Desk, model: Path, other_model: Path) -> None:
    load(desk, model)
    load(desk, other_model)
    first, second = desk.dry_run.asked
    desk.dry_run.asked.append(first)
    desk.dry_run.answer(*ESTIMATE)
    desk.settle()
    assert all(row.estimate is None for row in desk.program.memory.rows)
    desk.dry_run.asked.append(second)
    desk.dry_run.answer(*ESTIMATE)
    desk.settle()
    assert desk.program.memory.rows[0].estimate == ESTIMATE[0]


def test_an_unloaded_model_takes_nothing(desk: Desk, model: Path) -> None:
    load(desk, model)
    desk.program.session.unload()
    desk.settle()
    assert desk.program.memory.rows == ()
    desk.dry_run.answer(*ESTIMATE)
    desk.settle()
    assert desk.program.memory.rows == ()


def test_the_command_line_asks_for_no_estimate(desk: Desk, model: Path) -> None:
    quiet = Memory(desk.program.session, desk.dry_run, asks=False)
    load(desk, model)
    assert len(desk.dry_run.asked) == 1
    assert quiet.rows[0] == MemoryRow("CUDA0", None, REAL[0])


def test_the_dry_runs_end_with_the_program(desk: Desk) -> None:
    desk.program.stop()
    assert desk.dry_run.closed


CUDA0 = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB, "0000:01:00.0")
PROCESSOR = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)
MACHINE = MainMemory(16 * GIB, 12 * GIB, 16 * GIB)
L4 = Gpu("NVIDIA L4", "GPU-1", "00000000:01:00.0", 24 * GIB, GIB, 23 * GIB)


def test_each_device_of_the_model_has_its_memory_the_gpus_first(desk: Desk, model: Path) -> None:
    load(desk, model)
    desk.dry_run.answer(*REAL, devices=(CUDA0, PROCESSOR))
    desk.settle()
    gpu, main = desk.program.memory.uses(MACHINE, GpuReport((L4,)))
    assert (gpu.device, gpu.total, gpu.others) == ("CUDA0", 24 * GIB, GIB - 1150)
    assert (main.device, main.total, main.ours) == ("CPU", 16 * GIB, 110)
    assert desk.program.memory.gpu_is_there is True


def test_without_a_model_the_machines_own_memory_is_shown(desk: Desk) -> None:
    memory = desk.program.memory
    (main,) = memory.uses(MACHINE, GpuReport())
    assert (main.device, main.used, main.free) == ("CPU", 4 * GIB, 12 * GIB)
    (gpu,) = memory.uses(MACHINE, GpuReport((L4,)))
    assert (gpu.device, gpu.used) == ("NVIDIA L4", GIB)
    assert memory.gpu_is_there is None


def test_before_the_first_sample_nothing_is_known_of_it(desk: Desk) -> None:
    (main,) = desk.program.memory.uses(None, GpuReport())
    assert (main.total, main.used, main.free) == (None, None, None)


def test_the_engine_is_asked_what_its_build_can_do(desk: Desk, model: Path) -> None:
    asking = Memory(desk.program.session, desk.dry_run, desk.engine, asks=True)
    load(desk, model)
    question = desk.engine.all(ListDevices)[-1]
    reason = asking.why_no_gpu(GpuReport((L4,)))
    assert reason is not None and "although there is one" in reason.english()
    asking.take(DevicesListed(question.request + 1, LIBRARY, (PROCESSOR, CUDA0)))
    asking.take(DevicesListed(question.request, LIBRARY, (PROCESSOR,)))
    reason = asking.why_no_gpu(GpuReport((L4,)))
    assert reason is not None and "made without CUDA" in reason.english()
    assert asking.gpu_is_there is False


def test_how_far_the_estimate_was_off_is_kept_for_the_last_loads(desk: Desk, model: Path) -> None:
    mib = 1 << 20
    for number in range(7):
        load(desk, model)
        desk.dry_run.answer(DeviceMemory("CPU", 1258 * mib - number * mib, 0, 0))
        desk.settle()
    ref = desk.program.session.ref
    assert ref is not None
    assert desk.program.settings.model(ref.identity).estimates == tuple(
        load_estimate(1258 * mib - number * mib, 1260) for number in range(2, 7)
    )
    assert desk.program.settings.model(ref.identity).options == LoadOptions(threads=None)


def test_an_estimate_that_is_not_whole_is_not_kept(desk: Desk, model: Path) -> None:
    load(desk, model)
    desk.dry_run.answer(DeviceMemory("CPU", 1258, 0, None, complete=False))
    desk.settle()
    ref = desk.program.session.ref
    assert ref is not None and desk.program.settings.model(ref.identity).estimates == ()
