"""Drop-down lists lie inside the screen, also where they open at its edge and are wider than their box."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.search_box import SearchBox
from tests.gui.conftest import Stage

# The offscreen platform says this of every list that opens.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
LONG = "a model with a long name " * 6


def opened(bot: QtBot, box: QComboBox, words: str) -> tuple[QRect, QRect]:
    """Open a box in the lower right corner of the screen for the first time, and return its list's place and the room."""
    window = QWidget()
    bot.addWidget(window)
    room = window.screen().availableGeometry()
    window.setGeometry(room.right() - 200, room.bottom() - 80, 200, 80)
    box.setParent(window)
    box.setGeometry(20, 20, 160, 28)
    for number in range(4):
        box.addItem(f"{words}{number}")
    window.show()
    box.showPopup()
    popup = box.popup if isinstance(box, SearchBox) else box.view().window()
    assert popup is not None
    bot.waitUntil(popup.isVisible)
    place = popup.frameGeometry()
    box.hidePopup()
    return place, room


@pytest.mark.parametrize("words", [LONG, LONG * 20])
def test_a_list_that_opens_for_the_first_time_at_the_edge_is_seen_whole(qtbot: QtBot, words: str) -> None:
    place, room = opened(qtbot, ChoiceBox(), words)
    assert room.contains(place) and place.width() > 200


def test_a_list_with_a_search_as_well(qtbot: QtBot) -> None:
    place, room = opened(qtbot, SearchBox("Search", "Nothing is called so."), LONG)
    assert room.contains(place) and place.width() > 200


def test_the_models_of_the_planner_are_seen_whole_at_the_first_opening(ready: Stage) -> None:
    ready.triggers("planner_action")
    box = ready.find_as(QComboBox, "plan_model_box")
    ready.desk.until(lambda: box.count() > 1)
    room = box.screen().availableGeometry()
    ready.window.move(room.right() - box.mapTo(ready.window, QPoint(box.width(), 0)).x() + 1, ready.window.y())
    ready.settle()
    box.setItemText(0, LONG[:60])
    box.showPopup()
    ready.bot.waitUntil(box.view().isVisible)
    ready.settle()
    place = box.view().window().frameGeometry()
    assert room.contains(place), place
    box.hidePopup()
