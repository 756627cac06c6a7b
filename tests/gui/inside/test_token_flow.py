"""The flow of an answer's tokens by itself: it stays at the end of one that grows, and lays out no more than is wanted."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gui.inside.token_flow import TokenFlow
from app.gui.inside.token_rows import LAID_AT_ONCE
from app.services.inspection import InspectedAnswer
from tests.gui.conftest import Stage, desk, stage

__all__ = ["desk", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WORDS = (" Bella", " loved", " Wh", "isk", "ers", ",")
LONG = 6 * LAID_AT_ONCE


def answer(count: int, message: int = 1) -> InspectedAnswer:
    texts = tuple(WORDS[token % len(WORDS)] for token in range(count))
    none = (None,) * count
    return InspectedAnswer(message, tuple(range(count)), texts, none, none, none, none, none, none, (0,) * count)


def shown(stage: Stage, width: int, height: int = 240) -> TokenFlow:
    flow = TokenFlow(stage.themes)
    stage.bot.addWidget(flow)
    flow.resize(width, height)
    flow.show()
    stage.settle()
    return flow


def long_one(stage: Stage) -> TokenFlow:
    """Show a long answer of which only what fills a screen is laid out; the rest follows when events are handled."""
    flow = shown(stage, 620)
    flow.show_answer(answer(LONG))
    flow._rest.stop()
    return flow


def laid(flow: TokenFlow) -> int:
    assert flow._layout is not None
    return len(flow._layout.firsts)


def test_the_end_of_an_answer_that_grows_stays_in_view_also_where_the_bar_takes_room(stage: Stage) -> None:
    lost = []
    for width in range(560, 640, 4):  # at some of them the bar that comes makes one row more
        flow = shown(stage, width)
        bar = flow.verticalScrollBar()
        for count in range(1, 260, 3):
            flow.show_answer(answer(count))
            stage.settle()
        lost += [width] if bar.value() < bar.maximum() or not bar.maximum() else []
    assert not lost


def test_who_reads_further_up_is_left_there_and_follows_again_at_the_end(stage: Stage) -> None:
    flow = shown(stage, 600)
    bar = flow.verticalScrollBar()
    flow.show_answer(answer(300))
    assert bar.value() == 0 < bar.maximum(), "an answer that is there is read from its beginning"
    flow.show_answer(answer(320))
    assert bar.value() == 0
    bar.setValue(bar.maximum())
    flow.show_answer(answer(400))
    assert bar.value() == bar.maximum()
    flow.resize(480, 240)
    stage.settle()
    assert bar.value() == bar.maximum()
    bar.setValue(30)
    flow.show_answer(answer(500))
    assert bar.value() == 30


@pytest.mark.parametrize(
    "key", [Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_A, Qt.Key.Key_End]
)
def test_no_key_lays_out_all_of_a_long_answer_at_once(stage: Stage, key: Qt.Key) -> None:
    flow = long_one(stage)
    flow.looked_at.connect(flow.show_token)
    flow.keep(40)
    QTest.keyClick(flow, key)
    assert laid(flow) <= 2 * LAID_AT_ONCE
    assert key == Qt.Key.Key_A or flow.current != 40


def test_the_last_token_is_in_view_once_it_is_laid_out(stage: Stage) -> None:
    flow = shown(stage, 620)
    flow.looked_at.connect(flow.show_token)
    flow.show_answer(answer(LONG))
    QTest.keyClick(flow, Qt.Key.Key_End)
    assert flow.current == LONG - 1 and laid(flow) < LONG
    stage.bot.waitUntil(lambda: laid(flow) == LONG)
    box = flow.place_of(LONG - 1)
    assert box.top() >= 0 and box.bottom() <= flow.viewport().height()


def test_rows_are_found_behind_what_is_laid_out(stage: Stage) -> None:
    flow, whole = long_one(stage), shown(stage, 620)
    whole.show_answer(answer(LONG))
    stage.bot.waitUntil(lambda: laid(whole) == LONG)
    for each in (flow, whole):
        each.looked_at.connect(each.show_token)
        each.keep(LAID_AT_ONCE - 3)
        QTest.keyClick(each, Qt.Key.Key_PageDown)
        QTest.keyClick(each, Qt.Key.Key_Up)
    assert flow.current == whole.current
