"""Where every layer that keeps tokens has a sliding window, nobody is told that others keep what it dropped."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint

from app.core.cache_shape import CacheClass
from app.core.events import Loaded, PrefillProgress, PromptReady
from app.core.model import CacheSizes
from app.gui.inside.cache.cache_part import CachePart
from app.gui.inside.cache.cell_grid import CellGrid
from app.gui.inside.cache.fact_words import pool_fact, window_fact
from app.services.kv_cells import CellsHeld, Stretch
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


def test_what_is_dropped_of_lanes_is_told_beside_what_is_dropped_of_their_prompt(stage: Stage, model: Path) -> None:
    reads(stage, model, 100, (FULL, WINDOW))
    info = stage.desk.program.views.kv_map.model
    assert info is not None
    prompt, lane = Stretch(0, 300, "prompt", 0), Stretch(300, 500, "lanes", 300, 1, 120)
    before = window_fact(128, 256, CellsHeld(CONTEXT, (prompt, lane)), is_everywhere=False)
    assert before.value == "120 dropped" and before.words.count("\n") == 0
    assert "120 tokens of the lanes" in before.words
    both = window_fact(128, 256, CellsHeld(CONTEXT, (prompt, lane), dropped=44), is_everywhere=False)
    assert both.value == "164 dropped"
    assert "the first 44 positions" in both.words and "120 tokens of the lanes" in both.words


def test_cells_that_a_lane_dropped_are_painted_small_as_those_of_the_chat(stage: Stage) -> None:
    cells = CellGrid(stage.themes)
    stage.bot.addWidget(cells)
    cells.resize(400, 200)
    lane = Stretch(40, 60, "lanes", 40, 1, 10)
    cells.show_cells(CellsHeld(256, (Stretch(0, 40, "history", 0), lane)), range(0), range(0), in_blocks=False)
    picture, ground = cells.viewport().grab().toImage(), cells.palette().base().color()

    def is_small(cell: int) -> bool:
        return picture.pixelColor(cells.place_of(cell).bottomRight() - QPoint(2, 2)) == ground

    assert [is_small(cell) for cell in (0, 39, 40, 49, 50, 59)] == [False, False, True, True, False, False]


def test_where_every_layer_has_a_window_the_legend_the_summary_and_the_pool_count_its_cells(
    stage: Stage, model: Path
) -> None:
    reads(stage, model, 600, (WINDOW,))
    assert "256 of 256 cells hold a token" in grid(stage).accessibleName()
    legend = stage.find("kv_legend").accessibleName()
    assert f"left of the context {CONTEXT - 600:,}" in legend and "small: dropped, in no cell any more 344" in legend
    info, held = stage.desk.program.views.kv_map.model, stage.desk.program.views.kv_map.held
    assert info is not None and pool_fact(held, 256 * 1024).value == "one pool of 256 cells"
    lane = Stretch(600, 700, "lanes", 600, 1, 56)
    more = msgspec.structs.replace(held, stretches=(*held.stretches, lane))
    entries = stage.find_as(CachePart, "inside_cache")._entries(more, 0, 0)
    assert [each.words for each in entries if each.sign == "dropped"] == ["small: dropped, in no cell any more 400"]


def test_some_layers_are_not_told_as_all_before_anything_is_dropped(stage: Stage, model: Path) -> None:
    reads(stage, model, 100, (FULL, WINDOW))
    words = stage.reads("kv_window_words")
    assert words.startswith("Some layers look back 128 tokens only") and words.endswith("They still hold all tokens.")
