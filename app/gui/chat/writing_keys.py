"""What keys do where people write: in the composer, and where a text is changed.

The one list of them: the fields act by it, and what is said of keys is read from it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

translate = QCoreApplication.translate
Place = Literal["composer", "editor"]
PLACES: tuple[Place, ...] = ("composer", "editor")
Does = Literal["send", "new_line", "use", "leave"]
_KEYS: dict[Place, dict[Does, tuple[str, ...]]] = {
    "composer": {
        "send": ("Return", "Enter", "Ctrl+Return", "Ctrl+Enter"),
        "new_line": ("Shift+Return", "Shift+Enter", "Alt+Return", "Alt+Enter"),
    },
    "editor": {
        "new_line": ("Return", "Enter", "Shift+Return", "Shift+Enter"),
        "use": ("Ctrl+Return", "Ctrl+Enter"),
        "leave": ("Esc",),
    },
}
"""The first of each is the one that is named in a sentence."""


class WritingKey(NamedTuple):
    """One thing that keys do, in words, and the keys; those of the number pad, which do the same, are not named."""

    words: str
    keys: tuple[QKeySequence, ...]


def writing_keys(place: Place) -> list[WritingKey]:
    """Return what keys do in a place."""
    words: dict[Does, str] = {
        "send": translate("WritingKeys", "Send the message"),
        "new_line": translate("WritingKeys", "Begin a new line"),
        "use": translate("WritingKeys", "Use what is written: ask, save"),
        "leave": translate("WritingKeys", "Leave; what is written is kept"),
    }
    return [
        WritingKey(words[does], tuple(QKeySequence(key) for key in keys if "Enter" not in key))
        for does, keys in _KEYS[place].items()
    ]


def wanted_by(event: QKeyEvent, place: Place) -> Does | None:
    """Return what a key does in a place; None where it writes or moves."""
    without_pad = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(event.key() | without_pad.value)
    found = (does for does, keys in _KEYS[place].items() if any(pressed == QKeySequence(key) for key in keys))
    return next(found, None)


def key_named(place: Place, does: Does) -> str:
    """Return the key that is named for something, as this system writes it."""
    return QKeySequence(_KEYS[place][does][0]).toString(QKeySequence.SequenceFormat.NativeText)
