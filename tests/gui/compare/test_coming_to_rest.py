"""What people have before them when lanes have ended, when two are compared by words, and when they set up the next."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from tests.gui.compare.conftest import desk, model, stage
from tests.gui.compare.insight import InsightStage, insight

__all__ = ["desk", "insight", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
LONG = 600
"""Tokens, of which a lane shows only a part at once."""


def words_are_compared(insight: InsightStage, shown: str = "words") -> None:
    box = insight.stage.find_as(QComboBox, "differences_box")
    box.setCurrentIndex(box.findData(shown))
    box.activated.emit(box.currentIndex())
    insight.known()


def shown_lanes(insight: InsightStage) -> list[int]:
    return [column.lane.index for column in insight.page.run_view.columns if column.isVisible()]


def test_at_the_end_each_lane_shows_where_it_parts(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c", count=LONG)
    for lane in range(3):
        text, overlay = insight.text(lane), insight.overlay(lane)
        assert text.verticalScrollBar().maximum() > 0
        place = overlay.place_of(overlay.marks.tokens[0].span) if overlay.marks.tokens else None
        if place is None:
            assert text.verticalScrollBar().value() == 0
        else:
            assert text.viewport().rect().intersects(place)


def test_two_lanes_whose_words_are_compared_stand_beside_each_other(insight: InsightStage) -> None:
    insight.asked().ran()
    assert shown_lanes(insight) == [0, 1, 2, 3, 4]
    insight.text(1).setFocus()
    words_are_compared(insight)
    pair = insight.differences.bar.pair
    assert pair is not None and shown_lanes(insight) == sorted(pair)
    width = insight.page.run_view.area.width()
    assert all(insight.page.run_view.columns[lane].width() > width * 2 // 5 for lane in pair)
    focus = insight.stage.window.focusWidget()
    assert any(insight.page.run_view.columns[lane].isAncestorOf(focus) for lane in pair)
    words_are_compared(insight, "tokens")
    assert shown_lanes(insight) == [0, 1, 2, 3, 4]


def test_a_lane_that_is_laid_aside_comes_back_when_it_is_wanted(insight: InsightStage) -> None:
    insight.asked().ran()
    words_are_compared(insight)
    aside = next(lane for lane in range(5) if lane not in shown_lanes(insight))
    insight.differences.strip.figures.lane_wanted.emit(aside)
    assert aside in shown_lanes(insight)


def test_the_keyboard_is_where_the_next_comparison_begins_and_its_key_begins_it(insight: InsightStage) -> None:
    insight.asked().ran("a", "b", "c")
    insight.stage.find("compare_new_button").setFocus()
    insight.presses(Qt.Key.Key_Space)
    assert insight.stage.window.focusWidget() is insight.start
    insight.stage.find("start_temperature").setFocus()
    insight.presses(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    insight.stage.settle()
    assert insight.comparing.running is not None
