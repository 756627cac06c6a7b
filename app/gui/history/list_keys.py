"""What keys do in the list of chats. The list acts by it, and what is said of keys is read from it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

translate = QCoreApplication.translate
Does = Literal["open", "rename", "delete", "menu"]
_KEYS: dict[Does, tuple[str, ...]] = {
    "open": ("Return", "Enter"),
    "rename": ("F2",),
    "delete": ("Del",),
    "menu": ("Shift+F10", "Menu"),
}


def list_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with the chat that has the keyboard: in words, and the keys."""
    words: dict[Does, str] = {
        "open": translate("ListKeys", "Open the chat"),
        "rename": translate("ListKeys", "Rename the chat"),
        "delete": translate("ListKeys", "Delete the chat"),
        "menu": translate("ListKeys", "Everything that can be done with it"),
    }
    return [(words[does], tuple(map(QKeySequence, keys))) for does, keys in _KEYS.items()]


def wanted_by(event: QKeyEvent) -> Does | None:
    """Return what a key does with a chat; Enter on the number pad is Enter."""
    without_pad = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(event.key() | without_pad.value)
    return next((does for does, keys in _KEYS.items() if any(pressed == QKeySequence(key) for key in keys)), None)
