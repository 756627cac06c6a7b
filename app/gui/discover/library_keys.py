"""What keys do in the list of the models on this machine. The list acts by it, and what is said of keys is read from it."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

translate = QCoreApplication.translate
Does = Literal["load", "rename", "trash", "menu"]
KEYS: dict[Does, tuple[str, ...]] = {
    "load": ("Return", "Enter"),
    "rename": ("F2",),
    "trash": ("Del",),
    "menu": ("Shift+F10", "Menu"),
}


def library_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with the model that has the keyboard: in words, and the keys."""
    words: dict[Does, str] = {
        "load": translate("LibraryKeys", "Load the model and chat"),
        "rename": translate("LibraryKeys", "Rename its file"),
        "trash": translate("LibraryKeys", "Move its file to the trash"),
        "menu": translate("LibraryKeys", "Everything that can be done with it"),
    }
    return [(words[does], tuple(map(QKeySequence, keys))) for does, keys in KEYS.items()]


def shown_key(does: Does) -> str:
    """Return the first key that does something, as this system writes it."""
    return QKeySequence(KEYS[does][0]).toString(QKeySequence.SequenceFormat.NativeText)
