"""What keys do in the transcript: which copy as plain text, scroll all turns, and use what has the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider

SCROLLING: dict[int, QAbstractSlider.SliderAction] = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}
_NOTCH = 120
"""So far a wheel turns from one notch to the next, as Qt counts."""
COPY_PLAIN = QKeySequence("Ctrl+Shift+C")
PRESSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def copies_plain(event: QKeyEvent) -> bool:
    """Return whether a key asks for what is selected as it is shown."""
    return COPY_PLAIN.matches(QKeySequence(event.keyCombination())) is QKeySequence.SequenceMatch.ExactMatch


class Notches:
    """Counts how far a wheel is turned: some tell it in small parts."""

    def __init__(self) -> None:
        self._turned = 0

    def turn(self, event: QWheelEvent) -> int:
        """Return how many notches it was turned by now, upwards counted positive."""
        self._turned += event.angleDelta().y()
        notches = int(self._turned / _NOTCH)
        self._turned -= notches * _NOTCH
        return notches
