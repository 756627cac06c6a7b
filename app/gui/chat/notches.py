"""How far a wheel is turned, counted in notches."""

from __future__ import annotations

from PySide6.QtGui import QWheelEvent

_NOTCH = 120
"""So far a wheel turns from one notch to the next, as Qt counts."""


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
