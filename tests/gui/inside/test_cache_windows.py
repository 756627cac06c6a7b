"""Where every layer that keeps tokens has a sliding window, nobody is told that others keep what it dropped."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.cache_shape import CacheClass
from app.core.events import Loaded, PrefillProgress, PromptReady
from app.core.model import CacheSizes
from app.services.kv_sum import keeps_all
from tests.fake_engine import CONTEXT, model_info
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.inside.test_cache import grid, opens, said

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WINDOW = CacheClass(256, 4, "f16", 256 * 512, "f16", 256 * 512, is_window=True)
FULL = CacheClass(CONTEXT, 4, "f16", CONTEXT * 512, "f16", CONTEXT * 512)


def reads(stage: Stage, model: Path, tokens: int, classes: tuple[CacheClass, ...]) -> None:
    """Have a prompt read by a model with such layers, and look at the cells."""
    stage.desk.program.conversations.start()
    stage.desk.begin_load(model)
    full = CONTEXT * 1024 if FULL in classes else 0
    sizes = CacheSizes(full=full, window=256 * 1024, window_cells=256, state=0)
    info = msgspec.structs.replace(
        model_info(str(model)), memory_kind="hybrid", window=128, cache=sizes, cache_classes=classes
    )
    stage.engine.say(Loaded(stage.engine.load.request, info))
    stage.settle()
    stage.desk.program.chat.send("Why?")
    stage.settle()
    request = stage.engine.question.request
    stage.engine.say(PromptReady(request, array("i", [1] * tokens).tobytes(), (), 0, 0))
    stage.engine.say(PrefillProgress(request, tokens, tokens, 0, 1_000_000))
    stage.settle()
    opens(stage)


@pytest.mark.parametrize("classes", [(WINDOW,), (FULL, WINDOW)])
def test_who_keeps_what_a_window_dropped_is_said(stage: Stage, model: Path, classes: tuple[CacheClass, ...]) -> None:
    reads(stage, model, 600, classes)
    words, everywhere = stage.reads("kv_window_words"), classes == (WINDOW,)
    assert stage.reads("kv_window_value") == "344 dropped"
    assert ("The other layers keep every token" in words) != everywhere
    assert words.startswith("Every layer that keeps tokens looks back 128" if everywhere else "Some layers")
    grid(stage).look_at(343)
    assert ("kept by the others" in said(stage)) != everywhere
    assert ("dropped: every layer" in said(stage)) == everywhere
    grid(stage).look_at(344)
    assert "dropped" not in said(stage)


def test_before_anything_is_dropped_all_is_held(stage: Stage, model: Path) -> None:
    reads(stage, model, 100, (WINDOW,))
    assert stage.reads("kv_window_value") == "0 dropped"
    assert stage.reads("kv_window_words").endswith("of them only and has 256 cells. They still hold all.")


def test_where_nobody_knows_the_layers_some_are_taken_to_keep_all() -> None:
    assert keeps_all(())
