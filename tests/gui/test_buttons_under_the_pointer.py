"""A button looks pointed at only while the mouse is its own: not under a menu or a dialog, and not after them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def point_at(button: QToolButton) -> None:
    """Let the pointer come to a button, as Qt tells it."""
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    QApplication.sendEvent(button, QEnterEvent(QPointF(3, 3), QPointF(3, 3), QPointF(3, 3)))
    assert button.underMouse()


@pytest.mark.parametrize("name", ["model_button", "menu_button", "preset_menu_button", "new_chat_preset_button"])
def test_a_button_whose_menu_opens_is_pointed_at_no_more(ready: Stage, name: str) -> None:
    buttons = [each for each in ready.window.findChildren(QToolButton) if each.menu() is not None]
    button = next((each for each in buttons if each.objectName() == name), buttons[0])
    point_at(button)
    menu = button.menu()
    menu.aboutToShow.emit()
    assert not button.underMouse()
    point_at(button)
    menu.aboutToHide.emit()
    ready.bot.waitUntil(lambda: not button.underMouse(), timeout=60_000)


def test_a_dialog_and_another_window_take_the_pointer(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "model_button")
    for kind in (QEvent.Type.WindowBlocked, QEvent.Type.WindowDeactivate):
        point_at(button)
        QApplication.sendEvent(ready.window, QEvent(kind))
        assert not button.underMouse()


def test_a_button_that_opens_a_menu_by_itself_gives_the_pointer_up(ready: Stage) -> None:
    ready.sends("One")
    ready.desk.answer("1")
    ready.settle()
    button = ready.find_as(QToolButton, "turn_more_button")
    point_at(button)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    ready.bot.waitUntil(lambda: not button.underMouse(), timeout=60_000)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()
