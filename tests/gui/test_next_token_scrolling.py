from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.gui.next_token.candidates import ROW_PX
from tests.gui.looker import Looker, looking
from tests.made_up_steps import row_of


@pytest.fixture
def looker(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Looker]:
    yield from looking(qtbot, qapp, tmp_path)


def first_row(looker: Looker) -> int:
    return looker.chart.verticalScrollBar().value()


def points_at_list(looker: Looker) -> None:
    QTest.mouseMove(looker.chart.viewport(), QPoint(40, ROW_PX // 2))
    looker.bot.waitUntil(looker.chart.underMouse, timeout=60_000)


def points_elsewhere(looker: Looker) -> None:
    QTest.mouseMove(looker.window, QPoint(40, looker.window.height() - 20))
    looker.bot.waitUntil(lambda: not looker.chart.underMouse(), timeout=60_000)


def test_a_scrolled_list_is_back_at_its_top_with_the_next_step_unless_somebody_points_at_it(looker: Looker) -> None:
    looker.steps()
    looker.quiet()
    points_at_list(looker)
    looker.turns_wheel(-1)
    scrolled = first_row(looker)
    assert scrolled > 0
    looker.desk.sampling.change(temperature=0.9)
    assert first_row(looker) == scrolled
    looker.next_step()
    assert first_row(looker) == scrolled
    points_elsewhere(looker)
    looker.desk.sampling.change(temperature=0.8)
    assert first_row(looker) == scrolled
    looker.next_step(place=2)
    assert first_row(looker) == 0


def test_the_next_answer_begins_at_the_top_wherever_somebody_points(looker: Looker) -> None:
    looker.steps()
    looker.quiet()
    points_at_list(looker)
    looker.turns_wheel(-1)
    assert first_row(looker) > 0
    looker.steps(6)
    looker.quiet()
    assert first_row(looker) == 0


def test_the_drawn_token_stays_in_sight_when_somebody_scrolls_past_it(looker: Looker) -> None:
    looker.steps(drawn=0)
    looker.quiet()
    chart = looker.chart
    assert chart.pinned is None
    chart.verticalScrollBar().setValue(1)
    assert chart.pinned is not None and chart.pinned.rank == 1
    last = chart.rows.rowCount() - 1
    chart.scrollToBottom()
    assert chart.visualRect(chart.rows.index(last)).bottom() < chart.viewport().height()
    chart.verticalScrollBar().setValue(0)
    assert chart.pinned is None


def test_the_wheel_is_the_panels_where_nothing_below_was_left_by_the_chain(looker: Looker) -> None:
    looker.desk.sampling.change(top_k=3)
    looker.steps()
    looker.quiet()
    chart = looker.chart
    assert not looker.turns_wheel(-1) and first_row(looker) == 0
    looker.desk.sampling.change(top_k=0)
    assert looker.turns_wheel(-1) and first_row(looker) > 0
    looker.desk.sampling.change(top_k=3)
    assert looker.turns_wheel(9) and first_row(looker) == 0
    assert chart.focusPolicy() == Qt.FocusPolicy.StrongFocus
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    looker.bot.waitUntil(chart.hasFocus, timeout=60_000)
    assert looker.turns_wheel(-1) and first_row(looker) > 0


@pytest.mark.qt_log_ignore(r"does not support raise\(\)", extend=True)
def test_a_hint_does_not_tell_of_a_token_that_has_moved_on(looker: Looker, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[bool] = []
    monkeypatch.setattr(QToolTip, "hideText", lambda: hidden.append(True))
    looker.steps()
    looker.quiet()
    points_at_list(looker)
    viewport, place = looker.chart.viewport(), QPoint(40, ROW_PX // 2)
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, place, viewport.mapToGlobal(place)))
    assert QToolTip.isVisible() and "Because" in QToolTip.text()
    looker.next_step()
    assert hidden == []
    looker.row = row_of(3000, 2)
    looker.next_step(place=2)
    assert hidden == [True]
    monkeypatch.undo()
    QToolTip.hideText()
