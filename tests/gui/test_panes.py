"""The right pane stands beside the chat in a narrow window, too, where people opened it there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.gui.widgets.panes import PINNED_WIDTH_PX, RIGHT_WIDTH_PX, Panes
from app.gui.widgets.section_column import SectionColumn
from tests.gui.conftest import Stage

PROJECTOR, SMALLEST = (960, 600), (900, 600)
BETWEEN, WIDE = (1050, 700), (1280, 800)
LEAST_TRANSCRIPT_PX = 480


def place(stage: Stage, name: str) -> QRect:
    widget = stage.find(name)
    return QRect(widget.mapTo(stage.window, widget.rect().topLeft()), widget.size())


@pytest.fixture
def narrow(ready: Stage) -> Stage:
    """Return the stage on a screen that is 960 wide, with an answer."""
    ready.window.panes.moves = False
    ready.window.resize(*PROJECTOR)
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    return ready


def test_figures_and_answer_are_seen_together_in_a_narrow_window(narrow: Stage) -> None:
    assert not narrow.sees("side_panel")
    narrow.clicks("panel_button")
    assert narrow.sees("side_panel") and not narrow.sees("scrim") and not narrow.sees("history_pane")
    panel, chat = place(narrow, "side_panel"), place(narrow, "chat_surface")
    assert panel.width() == PINNED_WIDTH_PX and panel.right() == PROJECTOR[0] - 1
    assert chat.width() >= LEAST_TRANSCRIPT_PX and chat.right() < panel.left()
    for name in ("composer", "send_button", "model_button", "panel_button", "transcript"):
        assert not place(narrow, name).intersects(panel) and narrow.sees(name), name
    narrow.bot.waitUntil(lambda: narrow.reads("decode_rate_value") == "77.6 tok/s", timeout=60_000)
    assert not narrow.find("ttft_value").visibleRegion().isEmpty()


def test_the_narrow_column_cuts_nothing_off(narrow: Stage) -> None:
    narrow.clicks("panel_button")
    column = narrow.find_as(SectionColumn)
    content = column.widget()
    assert content is not None and content.width() <= column.viewport().width()
    right = place(narrow, "side_panel").right() - column.verticalScrollBar().width()
    for each in column.findChildren(QWidget):
        if each.isVisible() and content.isAncestorOf(each):
            assert each.mapTo(narrow.window, each.rect().topRight()).x() <= right, each.objectName()


def test_the_same_key_takes_the_pane_away_again(narrow: Stage) -> None:
    for shown in (True, False, True):
        narrow.triggers("panel_action")
        assert narrow.sees("side_panel") is shown
        assert narrow.window.panes.pinned is shown


def test_a_pane_that_was_opened_in_a_narrow_window_is_there_when_it_is_narrow_again(narrow: Stage) -> None:
    narrow.window.panes.want("right", False)
    narrow.clicks("panel_button")
    narrow.window.resize(*WIDE)
    assert narrow.sees("side_panel") and narrow.sees("history_pane")
    assert place(narrow, "side_panel").width() == RIGHT_WIDTH_PX
    narrow.window.resize(*PROJECTOR)
    assert place(narrow, "side_panel").width() == PINNED_WIDTH_PX
    narrow.clicks("panel_button")
    narrow.window.resize(*WIDE)
    assert narrow.sees("side_panel")
    narrow.window.resize(*PROJECTOR)
    assert not narrow.sees("side_panel")


def test_the_chats_are_a_drawer_over_a_pinned_pane(narrow: Stage) -> None:
    narrow.window.resize(*BETWEEN)
    assert narrow.sees("history_pane")
    narrow.clicks("panel_button")
    assert not narrow.sees("history_pane")
    narrow.clicks("history_button")
    assert narrow.sees("history_pane") and narrow.sees("scrim") and narrow.sees("side_panel")
    narrow.triggers("panel_action")
    assert narrow.sees("history_pane") and not narrow.sees("scrim") and not narrow.sees("side_panel")


def test_the_smallest_window_has_room_for_it(narrow: Stage) -> None:
    narrow.window.resize(*SMALLEST)
    narrow.clicks("panel_button")
    assert place(narrow, "chat_surface").width() >= LEAST_TRANSCRIPT_PX
    assert narrow.sees("side_panel") and not narrow.sees("scrim")


def test_where_there_is_no_room_for_it_either_it_is_a_drawer_that_is_pinned_once_there_is(qtbot: QtBot) -> None:
    left, middle, right = QWidget(), QWidget(), QWidget()
    panes = Panes(left, middle, right)
    panes.moves = False
    qtbot.addWidget(panes)
    panes.resize(800, 500)
    with qtbot.waitExposed(panes):
        panes.show()
    panes.toggle("right")
    assert (panes.drawer, right.width(), middle.width()) == ("right", RIGHT_WIDTH_PX, 800)
    panes.resize(900, 500)
    assert (panes.drawer, right.width(), middle.width()) == (None, PINNED_WIDTH_PX, 900 - PINNED_WIDTH_PX)
    assert panes.pinned and right.isVisible()


def test_what_was_chosen_earlier_is_taken_over(narrow: Stage) -> None:
    panes = narrow.window.findChild(Panes)
    assert panes is not None
    panes.pin(True)
    assert narrow.sees("side_panel")
    panes.want("right", False)
    assert narrow.sees("side_panel")
    narrow.window.resize(*WIDE)
    assert not narrow.sees("side_panel")
