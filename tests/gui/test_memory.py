"""What a model takes of memory: the real figures with the estimate beside them, and the states that were saved."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QLabel

from app.core.events import Finished, Loaded
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, MemoryKind
from app.gui.memory import MemoryRows
from tests.fake_engine import metrics, model_info
from tests.gui.conftest import Stage

MIB = 1 << 20
REAL = DeviceMemory("CPU", 92 * MIB, 180 * MIB, 22 * MIB, output=2 * MIB)


def load(stage: Stage, model: Path, kind: MemoryKind = "plain", *memory: DeviceMemory) -> None:
    """Let a model be loaded that takes this."""
    stage.desk.begin_load(model)
    info = model_info(stage.engine.load.path)
    cache = CacheSizes(full=64 * MIB, window=8 * MIB, window_cells=512) if kind == "window" else info.cache
    info = msgspec.structs.replace(info, memory=memory, memory_kind=kind, cache=cache)
    stage.engine.say(Loaded(stage.engine.load.request, info))
    stage.settle()


def parts(stage: Stage, number: int = 0) -> str:
    """Return what is written under a device."""
    row = stage.find_as(MemoryRows).layout()
    assert row is not None
    item = row.itemAt(number)
    widget = item.widget() if item is not None else None
    assert widget is not None
    texts = [found.text() for found in widget.findChildren(QLabel)]
    return texts[-1].replace("\u00a0", " ")


def reads_soon(stage: Stage, name: str, text: str) -> None:
    stage.bot.waitUntil(lambda: stage.reads(name) == text, timeout=60_000)


def test_the_estimate_stands_beside_what_was_reserved(stage: Stage, model: Path) -> None:
    assert stage.reads("vram_value") == "–" and parts(stage) == "no model loaded"
    load(stage, model, "plain", REAL)
    assert stage.reads("vram_value") == "296 MiB"
    assert parts(stage) == "estimated – · weights 92.0 MiB · KV 180 MiB · compute 22.0 MiB · output 2.0 MiB"
    stage.desk.dry_run.answer(DeviceMemory("CPU", 90 * MIB, 180 * MIB, 22 * MIB))
    stage.settle()
    assert parts(stage).startswith("estimated 292 MiB · weights 92.0 MiB")
    assert stage.find("vram_value").accessibleName() == "Main memory: 296 MiB"


def test_every_device_has_its_row_and_loses_it_with_the_model(stage: Stage, model: Path) -> None:
    load(stage, model, "plain", DeviceMemory("CUDA0", 4096 * MIB, 512 * MIB, 100 * MIB), REAL)
    assert stage.reads("vram_value") == "4.6 GiB" and stage.reads("vram_value_1") == "296 MiB"
    stage.desk.program.session.unload()
    stage.settle()
    assert stage.reads("vram_value") == "–"
    assert not stage.sees("vram_value_1")


def test_an_estimate_that_fails_leaves_a_dash(stage: Stage, model: Path) -> None:
    load(stage, model, "plain", REAL)
    stage.desk.dry_run.fail()
    stage.settle()
    assert parts(stage).startswith("estimated –")
    assert not stage.sees("notice_bar")


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_saved_states_are_shown_for_a_model_that_needs_them(stage: Stage, model: Path, kind: MemoryKind) -> None:
    load(stage, model, kind)
    reads_soon(stage, "checkpoints_value", "0 · 0 B")
    stage.sends("Hi")
    stage.engine.prompt()
    stage.engine.write("Hello")
    question, figures = stage.engine.question, metrics(1)
    kv = msgspec.structs.replace(figures.kv, checkpoints=2, checkpoint_bytes=3 * MIB)
    figures = msgspec.structs.replace(figures, kv=kv)
    stage.engine.say(Finished(question.request, "Hello", b"\0\0\0\0", "end", figures, 7, ()))
    stage.settle()
    reads_soon(stage, "checkpoints_value", "2 · 3.0 MiB")
    assert stage.sees("checkpoints_value")


def test_a_plain_cache_shows_no_saved_states(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    reads_soon(ready, "stop_reason_value", "end of answer")
    assert not ready.sees("checkpoints_value")


def test_a_window_is_filled_apart(stage: Stage, model: Path) -> None:
    load(stage, model, "window")
    stage.sends("Hi")
    stage.engine.prompt(2048)
    stage.settle()
    figures = stage.desk.program.live.figures
    assert (figures.window_cells_used, figures.window_cells) == (512, 512)
    assert figures.kv_bytes == 64 * MIB // 2 + 8 * MIB
