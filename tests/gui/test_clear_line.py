"""The cross of a line stands in its middle, empties it, and is there only where there is something to empty."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.gui.icons import Icons
from app.gui.widgets.clear_line import ClearLine


@pytest.fixture
def line(qtbot: QtBot) -> ClearLine:
    """Return a line that is shown."""
    line = ClearLine()
    line.setObjectName("some_line")
    line.setProperty("look", "field")
    qtbot.addWidget(line)
    line.resize(200, 30)
    line.show()
    qtbot.waitExposed(line)
    return line


@pytest.mark.parametrize("height", [24, 30, 41])
@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_it_stands_within_the_line_at_its_end(line: ClearLine, height: int, direction: Qt.LayoutDirection) -> None:
    line.setLayoutDirection(direction)
    line.resize(220, height)
    line.setText("some words")
    cross = line.clear_button.geometry()
    assert line.rect().contains(cross)
    assert abs(cross.center().y() - line.rect().center().y()) <= 1
    is_left = cross.center().x() < line.width() / 2
    assert is_left == (direction is Qt.LayoutDirection.RightToLeft)
    margins = line.textMargins()
    assert (margins.left() if is_left else margins.right()) >= cross.width()


def test_it_is_there_while_something_is_typed_and_empties_the_line(line: ClearLine) -> None:
    assert not line.clear_button.isVisible()
    assert line.textMargins().right() == 0
    line.setText("some words")
    assert line.clear_button.isVisible()
    assert (line.clear_button.objectName(), line.clear_button.accessibleName()) == ("some_line_clear", "Clear")
    emptied: list[str] = []
    line.textEdited.connect(emptied.append)
    QTest.mouseClick(line.clear_button, Qt.MouseButton.LeftButton)
    assert line.text() == "" and line.hasFocus() and not line.clear_button.isVisible()
    assert emptied == [""]


def test_it_looks_like_any_other_line(line: ClearLine) -> None:
    plain = QLineEdit()
    assert line.sizeHint().height() == plain.sizeHint().height()


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_an_icon_stands_before_what_is_typed_and_takes_no_click(
    line: ClearLine, icons: Icons, direction: Qt.LayoutDirection
) -> None:
    line.setLayoutDirection(direction)
    line.lead_with(icons, "search")
    line.resize(221, 30)
    before = line.grab().toImage()
    line.setText("some words")
    icon = next(each for each in line.findChildren(QWidget) if each is not line.clear_button)
    assert line.rect().contains(icon.geometry()) and not icon.geometry().intersects(line.clear_button.geometry())
    place, other = icon.geometry().center().x(), line.clear_button.geometry().center().x()
    assert (place > other) == (direction is Qt.LayoutDirection.RightToLeft)
    margins = line.textMargins()
    assert min(margins.left(), margins.right()) >= icon.width()
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=icon.geometry().center())
    assert line.hasFocus()
    inside = icon.geometry()
    shown = {
        before.pixel(x, y) for x in range(inside.left(), inside.right()) for y in range(inside.top(), inside.bottom())
    }
    assert len(shown) > 3
