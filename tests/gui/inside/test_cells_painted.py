"""What is painted on the map of cells, and which facts stand below it, in each of its two views."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QImage

from app.gui.inside.cache.cache_part import CachePart
from app.gui.inside.cache.cell_grid import CellGrid
from app.services.kv_cells import CellsHeld, Stretch
from app.services.kv_map import KVMap
from app.services.next_send import Shares
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.inside.test_cache import answered
from tests.gui.inside.test_cache_windows import FULL, WINDOW, reads

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def cells(stage: Stage) -> CellGrid:
    made = CellGrid(stage.themes)
    stage.bot.addWidget(made)
    made.resize(400, 200)
    return made


def picture(cells: CellGrid, *stretches: Stretch, in_blocks: bool = False) -> QImage:
    cells.show_cells(CellsHeld(256, stretches), range(0), range(0), in_blocks=in_blocks)
    return cells.viewport().grab().toImage()


def test_the_letter_of_a_lane_stands_at_its_first_cell(cells: CellGrid) -> None:
    prompt = Stretch(0, 40, "prompt", 0)
    one = picture(cells, prompt, Stretch(40, 60, "lanes", 40, 0))
    other = picture(cells, prompt, Stretch(40, 60, "lanes", 40, 1))
    assert one != other, "nothing but its letter tells lanes apart"
    first, far = cells.place_of(40).center(), cells.place_of(58).center()
    assert one.pixelColor(far) == other.pixelColor(far)
    near = [(x, y) for x in range(-6, 7) for y in range(-6, 7)]
    assert any(
        one.pixelColor(first.x() + x, first.y() + y) != other.pixelColor(first.x() + x, first.y() + y)
        for x, y in near
    )


def test_copies_of_the_prompt_s_end_look_other_than_what_they_are_copies_of(cells: CellGrid) -> None:
    plain = picture(cells, Stretch(0, 32, "prompt", 0), Stretch(32, 48, "prompt", 16), in_blocks=True)
    copied = picture(cells, Stretch(0, 32, "prompt", 0), Stretch(32, 48, "prompt", 16, is_copy=True), in_blocks=True)
    assert plain.copy(cells.place_of(3)) == copied.copy(cells.place_of(3))
    assert plain.copy(cells.place_of(40)) != copied.copy(cells.place_of(40))


def test_the_card_of_the_window_is_there_where_there_is_one_and_cells_are_shown(stage: Stage, model: Path) -> None:
    reads(stage, model, 600, (FULL, WINDOW))
    assert stage.sees("kv_window_value")
    stage.find_as(CachePart, "inside_cache")._switch("blocks")
    stage.settle()
    assert not stage.sees("kv_window_value") and stage.sees("kv_pool_value")


def test_without_a_window_there_is_no_card_of_one(stage: Stage, model: Path) -> None:
    answered(stage, model)
    assert stage.sees("kv_saving_value") and not stage.sees("kv_window_value")


def _told(counted: SimpleNamespace, _map: KVMap) -> SimpleNamespace:
    return counted


def test_the_cells_of_the_next_turn_end_with_the_context(
    stage: Stage, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = answered(stage, model)
    held = part._map.held
    for new, added in ((10, range(40, 50)), (5_000, range(40, held.cells))):
        counted = SimpleNamespace(shares=Shares(new, 40, 0), answering=False)
        monkeypatch.setattr(KVMap, "next", property(partial(_told, counted)))
        assert part._added(held) == added
