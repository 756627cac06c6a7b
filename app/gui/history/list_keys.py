"""What keys do in the list of chats. The list acts by it, and what is said of keys is read from it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.gui.widgets.pressed_keys import meant_by

translate = QCoreApplication.translate
Does = Literal["open", "rename", "delete", "fold", "menu"]
_KEYS: dict[Does, tuple[str, ...]] = {
    "open": ("Return", "Enter"),
    "rename": ("F2",),
    "delete": ("Del",),
    "fold": ("Left", "Right"),
    "menu": ("Shift+F10", "Menu"),
}


def list_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with the chat that has the keyboard: in words, and the keys."""
    words: dict[Does, str] = {
        "open": translate("ListKeys", "Open the chat"),
        "rename": translate("ListKeys", "Rename the chat"),
        "delete": translate("ListKeys", "Delete the chat"),
        "fold": translate("ListKeys", "Fold or unfold the folder"),
        "menu": translate("ListKeys", "Everything that can be done with it"),
    }
    return [(words[does], tuple(map(QKeySequence, keys))) for does, keys in _KEYS.items()]


def keys_in_words(does: Does) -> str:
    """Return the first of the keys that do something, as people read it."""
    return QKeySequence(_KEYS[does][0]).toString(QKeySequence.SequenceFormat.NativeText)


def wanted_by(event: QKeyEvent) -> Does | None:
    """Return what a key does with a chat."""
    return meant_by(event, _KEYS)
