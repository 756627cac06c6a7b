"""Draws pages in the time that the window has left: in slices of a few milliseconds, until all are there or nobody wants them."""

from __future__ import annotations

import time
from collections.abc import Generator

from PySide6.QtCore import QObject, QTimer, Signal

from app.gui.chat.pages import Pages, PagesLost

SLICE_MS = 8
WAIT_MS = 15
"""So long it waits for what is prepared in the background, before it looks again."""
_NS_PER_MS = 1_000_000


class PageJob(QObject):
    """One set of pages that is being drawn."""

    progressed = Signal(int)
    """So many turns are drawn."""
    finished = Signal(bool)
    """It is over; false says that not all pages were taken."""

    def __init__(self, pages: Pages, steps: Generator[bool, None, None], parent: QObject) -> None:
        super().__init__(parent)
        self._pages = pages
        self._steps = steps
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._go_on)
        self._next.start()

    def cancel(self) -> None:
        """Draw no more; `finished` is not told."""
        self._next.stop()
        self._steps.close()

    def _go_on(self) -> None:
        end_ns = time.perf_counter_ns() + SLICE_MS * _NS_PER_MS
        try:
            while not (waits := next(self._steps)) and time.perf_counter_ns() < end_ns:
                pass
        except StopIteration:
            self.finished.emit(True)
            return
        except PagesLost:
            self.finished.emit(False)
            return
        self._next.start(WAIT_MS if waits else 0)
        self.progressed.emit(self._pages.done)
