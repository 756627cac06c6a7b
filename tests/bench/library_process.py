"""The whole application with a folder of many models: when they stand in its menu, and what they take of the memory.

`python -m tests.bench.window_start tests.bench.library_process` with `TOKENLIGHT_HOME` set.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QMenu, QToolButton

from tests.bench.window_process import Led


class LedLibrary(Led):
    """Shows the models."""

    def first_list(self, count: int) -> None:
        """Search for so many models with the menu open; tell how long it took until they were painted there."""
        button = self.window.findChild(QToolButton, "model_button")
        assert button is not None
        menu = button.menu()
        paint = _MenuPaint(menu, count)
        begun = time.perf_counter_ns()
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))  # which begins the search
        self._when(lambda: paint.at_ns, lambda: {"ms": (paint.at_ns - begun) / 1e6})

    def read(self, count: int) -> None:
        """Wait until the headers of so many models have been read."""
        models = self.program.models
        self._when(lambda: len(models.found) >= count and not models.is_reading, dict)


class _MenuPaint(QObject):
    """Notes when a menu was painted with at least so many entries and the event loop is free again."""

    def __init__(self, menu: QMenu, count: int) -> None:
        super().__init__(menu)
        self.at_ns = 0
        self._menu, self._count = menu, count
        menu.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Wait for the paint, then for the loop."""
        if event.type() == QEvent.Type.Paint and not self.at_ns and len(self._menu.actions()) >= self._count:
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        self.at_ns = self.at_ns or time.perf_counter_ns()


LEADER = LedLibrary
