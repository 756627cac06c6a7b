"""Enter presses the button that has the keyboard, as Space does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the button of a window that has the keyboard if a key that nobody took is Enter; a held key presses once.

    Boxes to tick are left out: there Enter is the main button's.
    """
    button = window.focusWidget()
    without_pad = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    is_enter = event.key() in _ENTER and without_pad == Qt.KeyboardModifier.NoModifier
    if not is_enter or not isinstance(button, QPushButton | QToolButton) or not button.isEnabled():
        return False
    event.accept()
    if not event.isAutoRepeat():
        button.click()
    return True
