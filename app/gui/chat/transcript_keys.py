"""What keys do in the transcript: which do something with the message at hand, and which scroll all turns."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSlider

from app.gui.chat.turn_wish import Wish

translate = QCoreApplication.translate
SCROLLING: dict[int, QAbstractSlider.SliderAction] = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}
COPY_PLAIN = QKeySequence("Ctrl+Shift+C")
PRESSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_KEYS: dict[Wish, tuple[str, ...]] = {
    "earlier": ("Alt+Left",),
    "later": ("Alt+Right",),
    "edit": ("Return", "Enter"),
    "again": ("Ctrl+R",),
    "copy": ("Ctrl+C",),
    "copy_plain": ("Ctrl+Shift+C",),
    "delete": ("Del",),
    "more": ("Shift+F10", "Menu"),
}
"""With the transcript in use and a message at hand; the first of each is the one that is named.

None of them means something else in the window: F2 is the chat's everywhere, Alt+C the last answer's.
"""


class MessageKey(NamedTuple):
    """One thing that is done with the message at hand, in words, and the keys that do it."""

    wish: Wish
    words: str
    keys: tuple[QKeySequence, ...]


def message_keys() -> list[MessageKey]:
    """Return what keys do with the message at hand."""
    words: dict[Wish, str] = {
        "earlier": translate("MessageKeys", "Earlier version"),
        "later": translate("MessageKeys", "Later version"),
        "edit": translate("MessageKeys", "Edit"),
        "again": translate("MessageKeys", "Answer again"),
        "copy": translate("MessageKeys", "Copy"),
        "copy_plain": translate("MessageKeys", "Copy as plain text"),
        "delete": translate("MessageKeys", "Delete from here on"),
        "more": translate("MessageKeys", "Everything that can be done with it"),
    }
    return [MessageKey(wish, words[wish], tuple(map(QKeySequence, keys))) for wish, keys in _KEYS.items()]


def wish_of(event: QKeyEvent) -> Wish | None:
    """Return what a key wants of the message at hand; Enter on the number pad is Enter."""
    pressed = QKeySequence(event.keyCombination())
    pad = Qt.KeyboardModifier.KeypadModifier
    if event.modifiers() & pad:
        pressed = QKeySequence(event.key() | (event.modifiers() & ~pad).value)
    return next((wish for wish, keys in _KEYS.items() if any(pressed == QKeySequence(key) for key in keys)), None)


def named(words: str, wish: Wish) -> str:
    """Return words with the key that does what they say, for a hint."""
    key = QKeySequence(_KEYS[wish][0]).toString(QKeySequence.SequenceFormat.NativeText)
    return translate("MessageKeys", "{words} ({key})").format(words=words, key=key)


def key_of(wish: str) -> QKeySequence | None:
    """Return the key that is named for something; None where there is none."""
    return next((QKeySequence(keys[0]) for known, keys in _KEYS.items() if known == wish), None)
