"""The starters of the welcome and the field below them: nothing is cut off, nothing scrolls sideways."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton, QStyle, QStyleOptionButton

from tests.gui.conftest import Stage


def starters(stage: Stage) -> list[QPushButton]:
    return [each for each in stage.window.findChildren(QPushButton) if each.property("look") == "starter"]


def room(button: QPushButton) -> QRect:
    """Return the place for words in a button."""
    option = QStyleOptionButton()
    button.initStyleOption(option)
    return button.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, button)


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_starters_take_the_lines_that_they_need_in_columns_of_one_width(ready: Stage, theme: str) -> None:
    ready.themes.choose(theme)  # type: ignore[arg-type]
    ready.window.resize(900, 600)
    ready.clicks("panel_button")
    QApplication.sendPostedEvents()
    assert len({button.width() for button in starters(ready)}) == 1
    flags = int(Qt.TextFlag.TextWordWrap)
    for button in starters(ready):
        place = room(button)
        needed = button.fontMetrics().boundingRect(QRect(0, 0, place.width(), 1000), flags, button.accessibleName())
        assert needed.width() <= place.width() and needed.height() <= place.height()


def test_the_words_of_a_starter_are_painted_in_all_of_their_lines(ready: Stage) -> None:
    ready.window.resize(900, 600)
    ready.clicks("panel_button")
    QApplication.sendPostedEvents()
    button = max(starters(ready), key=lambda each: len(each.accessibleName()))
    place, line = room(button), button.fontMetrics().lineSpacing()
    image = button.grab().toImage()
    ground = image.pixel(place.left(), place.center().y())
    inked = [
        y
        for y in range(place.top(), place.bottom() + 1)
        if any(image.pixel(x, y) != ground for x in range(place.left(), place.right() + 1))
    ]
    assert max(inked) - min(inked) > line


def test_a_pasted_line_that_is_long_scrolls_nothing_sideways(ready: Stage) -> None:
    QGuiApplication.clipboard().setText("https://example.org/" + "a" * 3000)
    ready.composer.paste()
    policy = ready.composer.horizontalScrollBarPolicy()
    assert policy == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    assert not ready.composer.horizontalScrollBar().isVisible()
