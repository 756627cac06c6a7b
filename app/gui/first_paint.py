"""The moment from which somebody sees the window: what takes long begins only then."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

NEVER_MS = 500
"""A window that nobody paints within this time, such as one that starts as an icon, is not waited for."""


class FirstPaint(QObject):
    """Calls something once when a window has been painted and the event loop is free."""

    def __init__(self, window: QWidget, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._then = then
        window.installEventFilter(self)
        self._limit = QTimer(self)
        self._limit.setSingleShot(True)
        self._limit.setInterval(NEVER_MS)
        self._limit.timeout.connect(self._call)
        self._limit.start()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Wait for the paint, then for the loop."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            self._limit.start(0)
        return False

    def _call(self) -> None:
        self._window.removeEventFilter(self)
        self._then()
