"""Drop-down lists and tick boxes: rows that can be hit, and ticks that can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionButton, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.gui.theme import Themes, contrast
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.choices import WIDEST_PX
from app.gui.widgets.tick_box import TickBox
from app.system.resources import find_resources
from app.system.settings_file import SettingsFile

LONG = "A name that somebody typed for a preset that writes like a captain on a long voyage"
LEAST_PX = 28
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def themes(qapp: QApplication, tmp_path: Path) -> Iterator[Themes]:
    made = Themes(qapp, find_resources(), SettingsFile(tmp_path / "settings.json", lambda *_: None))
    yield made
    qapp.setStyleSheet("")


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_tick_can_be_told_from_its_box(
    qtbot: QtBot, themes: Themes, theme: Literal["light", "dark", "contrast"], is_enabled: bool
) -> None:
    themes.choose(theme)
    box = TickBox("On")
    qtbot.addWidget(box)
    box.setChecked(True)
    box.setEnabled(is_enabled)
    box.resize(box.sizeHint())
    option = QStyleOptionButton()
    box.initStyleOption(option)
    indicator: QRect = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box)
    picture = box.grab(indicator.adjusted(2, 2, -2, -2)).toImage()
    colours = [picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height())]
    fill = picture.pixelColor(1, 1)
    assert max(contrast(fill, colour) for colour in colours) >= (4.5 if is_enabled else 2.0)


@pytest.fixture
def choice(qtbot: QtBot, themes: Themes) -> ChoiceBox:
    made = ChoiceBox()
    qtbot.addWidget(made)
    made.addItems(["Greedy", "Wild"])
    made.insertSeparator(2)
    made.addItem(LONG)
    made.setFixedWidth(120)
    made.show()
    made.showPopup()
    qtbot.waitUntil(made.view().isVisible, timeout=60_000)
    return made


def test_the_rows_of_a_list_can_be_hit_and_all_are_there(choice: ChoiceBox) -> None:
    view = choice.view()
    heights = [view.visualRect(choice.model().index(row, 0)).height() for row in range(choice.count())]
    assert [height >= LEAST_PX for height in heights] == [True, True, False, True]
    assert view.viewport().height() >= sum(heights)
    assert choice.width() < view.width() <= WIDEST_PX + 4
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(choice.model().index(1, 0)).center()
    )
    assert choice.currentText() == "Wild"


def test_a_choice_that_does_not_fit_is_told_whole_on_hover(choice: ChoiceBox, qtbot: QtBot) -> None:
    view = choice.view()

    def hint_at(row: int) -> str:
        place: QPoint = view.visualRect(choice.model().index(row, 0)).center()
        QToolTip.hideText()
        event = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
        QApplication.sendEvent(view.viewport(), event)
        return QToolTip.text()

    assert hint_at(0) == ""
    assert LONG in hint_at(3)
    QToolTip.hideText()


def test_the_chosen_row_is_filled_with_the_accent(choice: ChoiceBox, themes: Themes) -> None:
    view: QWidget = choice.view().viewport()
    row = choice.view().visualRect(choice.model().index(0, 0))
    picture = view.grab(row).toImage()
    assert picture.pixelColor(row.width() // 2, 3) == QColor(themes.current.colours["accent"])


@pytest.mark.parametrize("words", ["First token", "Off", "Colour by probability"])
def test_a_box_has_room_for_its_longest_choice(qtbot: QtBot, themes: Themes, words: str) -> None:
    themes.choose("light")
    box = ChoiceBox()
    qtbot.addWidget(box)
    box.addItem(words)
    with qtbot.waitExposed(box):
        box.show()
    box.resize(box.sizeHint())
    assert box.shown == words
    box.resize(box.minimumSizeHint())
    assert box.shown == words


def test_a_long_list_has_room_for_its_choices_beside_its_scroll_bar(choice: ChoiceBox, qtbot: QtBot) -> None:
    choice.hidePopup()
    choice.clear()
    choice.addItems([f"A choice of a usual length · {number:02}" for number in range(2 * choice.maxVisibleItems())])
    choice.showPopup()
    qtbot.waitUntil(choice.view().isVisible, timeout=60_000)
    view = choice.view()
    wanted = max(view.sizeHintForIndex(choice.model().index(row, 0)).width() for row in range(choice.count()))
    assert view.verticalScrollBar().isVisible() and view.viewport().width() >= wanted
