"""A comparison of which a lane was deleted: the others stay where they were."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from app.core.sampling import SamplingSettings
from app.gui.compare.deleted_cell import cell_settings
from tests.gui.compare.conftest import CompareStage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def grid(comparer: CompareStage) -> CompareStage:
    """A grid of two columns and three rows that has ended."""
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    comparer.stage.find_as(QLineEdit, "grid_columns_values").setText("0.4, 1.2")
    comparer.stage.find_as(QLineEdit, "grid_rows_values").setText("0.5, 0.8, 1")
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    comparer.planned()
    for lane in range(6):
        comparer.writes(lane, f"lane {lane}")
    comparer.ends()
    return comparer


def loses(comparer: CompareStage, *letters: str) -> None:
    """Make lanes answers of the chat, delete these, and look at the comparison again."""
    for letter in letters:
        lane = "abcdef".index(letter)
        assert comparer.comparing.keep(lane)
        comparer.desk.program.branches.delete(comparer.desk.program.chat.turns[-1])
        comparer.stage.settle()
    comparer.opened()


def places(comparer: CompareStage) -> dict[str, tuple[int, int]]:
    """Return column and row of each cell of the grid by what it is called."""
    inside = comparer.page.run_view.area.widget()
    assert inside is not None
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    cells = [
        each
        for each in inside.findChildren(QWidget, options=direct)
        if each.objectName().partition("_")[0] in ("lane", "deleted")
    ]
    across = sorted({each.x() for each in cells})
    down = sorted({each.y() for each in cells})
    return {each.objectName(): (across.index(each.x()), down.index(each.y())) for each in cells}


def test_the_lanes_of_a_grid_keep_their_rows_and_columns_where_one_is_deleted(grid: CompareStage) -> None:
    before = places(grid)
    assert before["lane_d"] == (1, 1)
    loses(grid, "b", "c", "f")
    moved = {"lane_b": "deleted_lane_b", "lane_c": "deleted_lane_c", "lane_f": "deleted_lane_f"}
    assert places(grid) == {moved.get(name, name): place for name, place in before.items()}
    assert grid.is_there("deleted_text_b") and grid.reads("deleted_text_b") == "This lane was deleted."
    called = grid.stage.find("deleted_lane_b").accessibleName()
    assert called == "Lane B: deleted · T 1.2 · top-p 0.5"


def test_what_a_deleted_cell_was_is_not_said_where_nothing_else_tells_it(grid: CompareStage) -> None:
    loses(grid, "a", "b")
    run = grid.comparing.shown
    assert run is not None and cell_settings(run, 0) is None
    assert grid.stage.find("deleted_lane_a").accessibleName() == "Lane A: deleted"
    assert places(grid)["lane_c"] == (0, 1)


def test_the_keyboard_passes_by_a_deleted_cell(grid: CompareStage) -> None:
    loses(grid, "b")
    grid.text(0).setFocus()
    grid.presses(Qt.Key.Key_Right)
    assert grid.stage.window.focusWidget() is grid.text(2)


def test_a_grid_from_right_to_left_keeps_its_columns(grid: CompareStage, qapp: QApplication) -> None:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        loses(grid, "b")
        assert places(grid)["deleted_lane_b"] == (0, 0) and places(grid)["lane_d"] == (0, 1)
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_what_is_left_of_a_grid_is_set_up_anew_as_lanes_side_by_side(grid: CompareStage) -> None:
    loses(grid, "b")
    grid.stage.clicks("compare_new_button")
    draft = grid.page.setup_view.draft
    assert len(draft.settings) == 5 and not draft.lanes.is_grid
    grid.stage.clicks("compare_start_button")
    grid.stage.settle()
    run = grid.comparing.running
    assert run is not None and run.comparison.layout.columns == 0


def test_lanes_side_by_side_close_up_where_one_is_deleted(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b", "c").planned()
    for lane in range(3):
        comparer.writes(lane, f"lane {lane}")
    comparer.ends()
    loses(comparer, "b")
    assert places(comparer) == {"lane_a": (0, 0), "lane_c": (1, 0)}
    saved = comparer.reads("compare_prefill_text")
    assert "for all 3 lanes" in saved, "one prefill in place of three, whatever was deleted since"


def test_the_menu_of_a_cell_offers_what_other_lanes_have_buttons_for(grid: CompareStage) -> None:
    before = set(grid.stage.window.findChildren(QMenu))
    grid.stage.clicks("more_lane_b")
    menu = next(each for each in grid.stage.window.findChildren(QMenu) if each not in before and each.actions())
    names = [each.objectName() for each in menu.actions() if not each.isSeparator()]
    menu.close()
    assert names == [
        "keep_lane_action",
        "pin_lane_action",
        "stop_lane_action",
        "copy_lane_action",
        "settings_lane_action",
        "show_divergence_action",
        "what_if_action",
    ]


def test_the_settings_of_a_deleted_cell_are_those_above_and_beside_it(grid: CompareStage) -> None:
    loses(grid, "d")
    run = grid.comparing.shown
    assert run is not None
    settings = cell_settings(run, 3)
    assert isinstance(settings, SamplingSettings)
    assert (settings.temperature, settings.top_p) == (1.2, 0.8)


def test_the_chat_can_have_the_settings_of_a_lane_and_keeps_its_seed_and_its_limit(grid: CompareStage) -> None:
    sampling = grid.desk.program.sampling
    sampling.change(seed=11, max_tokens=7)
    before = sampling.values
    run = grid.comparing.shown
    assert run is not None and run.lanes[3].settings.seed != 11
    grid.page.run_view.columns[3].wanted.emit(3, "settings")
    wanted = msgspec.structs.replace(before, temperature=1.2, top_p=0.8)
    assert sampling.values == wanted != before
    assert grid.reads("compare_said_text") == "The chat has the settings of lane D now."
