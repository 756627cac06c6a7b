"""What is in the memory of each device: the model's parts, other programs, what is free, and the states that are saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.devices import Device, GpuReport
from app.core.job_events import HardwareSampled
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, MemoryKind
from app.gui.widgets.gauge import Gauge
from app.gui.widgets.legend import Legend
from app.system.gpus import GpuReader
from app.system.settings_file import Theme
from tests.desk import Desk
from tests.fake_engine import metrics
from tests.fake_nvml import FakeGpu, FakeNvml
from tests.gui.live_panel import GIB, MACHINE, PanelStage
from tests.gui.test_charts import contrast

MIB = 1 << 20
REAL = DeviceMemory("CPU", 92 * MIB, 180 * MIB, 22 * MIB, output=2 * MIB)
ON_GPU = DeviceMemory("CUDA0", 4096 * MIB, 512 * MIB, 100 * MIB)
CUDA0 = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 * GIB, 23 * GIB, "0000:01:00.0")
PROCESSOR = Device("CPU", "a processor", "cpu", "CPU", 16 * GIB, None)


@pytest.fixture
def memory(desk: Desk, qtbot: QtBot, qapp: QApplication) -> Iterator[PanelStage]:
    stage = PanelStage(desk, qtbot, qapp)
    stage.show()
    yield stage
    stage.panel.disconnect_services()
    qapp.setStyleSheet("")


def gpus(*cards: FakeGpu, **errors: int) -> GpuReport:
    """Return what a driver says of these cards."""
    return GpuReader(lambda: FakeNvml(*cards, **errors), {}).read()


def on_gpu(stage: PanelStage, model: Path, *cards: FakeGpu, **errors: int) -> None:
    """Let a model be loaded onto a GPU."""
    stage.load(model, memory=(ON_GPU, REAL), gpu_layers=31, devices=("CUDA0", "CPU"))
    stage.desk.dry_run.answer(ON_GPU, REAL, devices=(CUDA0, PROCESSOR))
    stage.sample(gpus=gpus(*cards, **errors))


def test_before_the_first_sample_nothing_is_known_and_it_says_so(memory: PanelStage) -> None:
    assert memory.reads("vram_value") == "–"
    assert memory.hint("vram_value") == "Nothing is known of this memory yet."
    assert not memory.sees("no_gpu_text")


def test_without_a_model_the_main_memory_is_shown_as_it_is(memory: PanelStage) -> None:
    memory.sample()
    assert memory.reads("vram_value") == "4.0 / 16 GiB"
    assert memory.names("vram_gauge") == "Main memory: 4.0 / 16 GiB. others 4.0 GiB, free 12.0 GiB"


def test_the_main_memory_shows_the_models_parts_and_why_no_gpu_is_used(memory: PanelStage, model: Path) -> None:
    memory.load(model, memory=(REAL,))
    memory.sample()
    assert memory.reads("vram_value") == "4.0 / 16 GiB"
    told = "weights 92.0 MiB, KV 180 MiB, compute 22.0 MiB, output 2.0 MiB, others 3.7 GiB, free 12.0 GiB"
    assert memory.names("vram_gauge") == memory.hint("vram_gauge") == f"Main memory: 4.0 / 16 GiB. {told}"
    shares = [segment.share for segment in memory.find_as(Gauge, "vram_gauge").segments]
    assert shares == pytest.approx([size / 16 / 1024 for size in (92, 180, 22, 2, 4096 - 296)])
    assert memory.reads("no_gpu_text").startswith("No GPU that this build can use was found")
    assert memory.panel.findChild(QWidget, "gpu_value") is None


def test_the_estimate_stands_beside_what_was_reserved(memory: PanelStage, model: Path) -> None:
    memory.load(model, memory=(REAL,))
    assert memory.reads("vram_estimate") == "reserved 296 MiB · estimated –"
    memory.desk.dry_run.answer(DeviceMemory("CPU", 90 * MIB, 180 * MIB, 22 * MIB))
    memory.settle()
    assert memory.reads("vram_estimate") == "reserved 296 MiB (+1 %) · estimated 292 MiB"


def test_an_estimate_that_fails_leaves_a_dash(memory: PanelStage, model: Path) -> None:
    memory.load(model, memory=(REAL,))
    memory.desk.dry_run.fail()
    memory.settle()
    assert memory.reads("vram_estimate") == "reserved 296 MiB · estimated –"
    assert memory.desk.program.notices.latest is None


def test_every_device_has_its_row_the_gpu_first(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(used=20))
    assert memory.reads("vram_value") == "20.0 / 24 GiB"
    told = "weights 4.0 GiB, KV 512 MiB, compute 100 MiB, others + driver 15.4 GiB, free 4.0 GiB"
    assert memory.names("vram_gauge") == f"CUDA0: 20.0 / 24 GiB. {told}"
    assert memory.reads("vram_value_1") == "4.0 / 16 GiB"
    assert memory.names("vram_value_1") == "Main memory: 4.0 / 16 GiB"
    assert memory.hint("vram_value").startswith("NVIDIA L4")
    assert not memory.sees("no_gpu_text")
    assert memory.reads("computing_value") == "CUDA · 31 of 31 layers"
    line = memory.find("computing_value")
    assert line.fontMetrics().horizontalAdvance("Vulkan · 128 of 128 layers") <= line.width(), "it is whole"
    assert "the output layer counts as one" in line.toolTip()


def test_without_details_the_device_that_computes_is_left(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(used=20))
    memory.panel.show_details(False)
    assert memory.sees("vram_value") and memory.sees("vram_gauge")
    assert not memory.sees("vram_value_1") and not memory.sees("vram_estimate") and not memory.sees("gpu_value")
    memory.sample(gpus=gpus(FakeGpu(used=21)))
    assert memory.reads("vram_value") == "21.0 / 24 GiB"
    assert not memory.sees("vram_value_1") and not memory.sees("vram_estimate")
    memory.panel.show_details(True)
    assert memory.sees("vram_value_1") and memory.sees("vram_estimate") and memory.sees("gpu_value")


def test_a_row_goes_with_its_model(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(used=20))
    memory.desk.program.session.unload()
    memory.sample()
    assert memory.reads("vram_value") == "4.0 / 16 GiB"
    assert not memory.sees("vram_value_1") and not memory.sees("vram_estimate")


def test_a_gpu_that_tells_no_memory_shows_what_is_reserved_and_why(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(), DeviceGetMemoryInfo=3)
    assert memory.reads("vram_value") == "4.6 / 24 GiB"
    assert "does not tell its memory" in memory.hint("vram_value")
    assert "other programs" not in memory.names("vram_gauge")


def test_a_driver_in_trouble_is_why_no_gpu_is_used(memory: PanelStage, model: Path) -> None:
    memory.load(model, memory=(REAL,))
    memory.sample(gpus=gpus(FakeGpu(), Init=18))
    assert "was updated while it was running" in memory.reads("no_gpu_text")


def test_the_part_that_is_the_cache_has_its_colour(memory: PanelStage, model: Path) -> None:
    memory.load(model, memory=(REAL,))
    memory.sample()
    colours = [segment.colour.name() for segment in memory.find_as(Gauge, "vram_gauge").segments]
    assert colours[1] == memory.themes.current.colour("stage_kv").name()
    assert len(set(colours)) == 5


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_parts_can_be_told_apart_and_none_is_near_black_or_near_the_surface(
    memory: PanelStage, model: Path, theme: Theme
) -> None:
    memory.themes.choose(theme)
    memory.load(model, memory=(REAL,))
    memory.sample()
    look = memory.themes.current
    weights, cache, compute, output, others = (
        segment.colour for segment in memory.find_as(Gauge, "vram_gauge").segments
    )
    for colour in (weights, cache, compute, output, others):
        assert contrast(colour, look.colour("surface")) >= 3
    for colour in (weights, cache, compute, output):
        assert colour.hslSaturationF() > 0.2
    assert weights.name() == look.colour("stage_decode").name()
    assert contrast(weights, compute) >= 1.25
    assert "Weights: what the model has learned" in str(memory.panel.findChildren(Legend)[-1].property("hint"))


def test_a_gpu_that_tells_nothing_of_its_work_has_no_row(memory: PanelStage, model: Path) -> None:
    silent = {"DeviceGetUtilizationRates": 3, "DeviceGetPowerUsage": 3, "DeviceGetTemperature": 3}
    on_gpu(memory, model, FakeGpu(used=20), **silent)
    assert memory.panel.findChild(QWidget, "gpu_value") is None


def test_how_busy_hungry_and_hot_a_gpu_is_has_a_row(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(used=20))
    assert memory.reads("gpu_value") == "97 % · 68 W · 61 °C"
    assert memory.hint("gpu_value").startswith("NVIDIA L4: how busy it is")


def test_what_a_gpu_does_not_tell_of_its_work_is_a_dash(memory: PanelStage, model: Path) -> None:
    on_gpu(memory, model, FakeGpu(used=20, busy_percent=0), DeviceGetPowerUsage=3)
    assert memory.reads("gpu_value") == "0 % · – · 61 °C"
    assert "does not tell all of it" in memory.hint("gpu_value")


def test_a_sample_that_says_the_same_paints_nothing(memory: PanelStage) -> None:
    memory.sample()
    memory.machine.take(HardwareSampled(MACHINE, GpuReport()))
    assert memory.timers() == 0
    memory.machine.take(HardwareSampled(msgspec.structs.replace(MACHINE, available=GIB), GpuReport()))
    assert memory.timers() == 1


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_saved_states_are_shown_for_a_model_that_needs_them(
    memory: PanelStage, model: Path, kind: MemoryKind
) -> None:
    cache = CacheSizes(full=64 * MIB, window=8 * MIB, window_cells=512) if kind == "window" else CacheSizes(64 * MIB)
    memory.load(model, memory_kind=kind, cache=cache)
    assert memory.reads("checkpoints_value") == "0 · 0 B"
    memory.ask()
    memory.prompt(40)
    figures = metrics(1)
    kv = msgspec.structs.replace(figures.kv, checkpoints=2, checkpoint_bytes=3 * MIB)
    memory.finish(msgspec.structs.replace(figures, kv=kv))
    assert memory.reads("checkpoints_value") == "2 · 3.0 MiB"
    assert memory.sees("checkpoints_value")


def test_a_plain_cache_shows_no_saved_states(memory: PanelStage, model: Path) -> None:
    memory.load(model)
    memory.ask()
    memory.finish()
    assert not memory.sees("checkpoints_value")
