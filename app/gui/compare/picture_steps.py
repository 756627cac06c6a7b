"""Makes a picture in steps between which the window goes on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QImage

BUDGET_NS = 8_000_000
"""Short steps follow one another for so long at a time."""
Steps = Iterator[QImage | None]
Done = Callable[[QImage | None], None]
"""Takes a picture; None where it could not be made."""
_log = logging.getLogger(__name__)


class PictureSteps(QObject):
    """One picture at a time; who asks for another one waits no longer for the one before."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._steps: Steps | None = None
        self._done: Done = lambda _image: None
        self._next = QTimer(self)
        self._next.timeout.connect(self._go_on)

    def start(self, steps: Steps, done: Done) -> None:
        """Take the steps, and hand the picture on; None where a step breaks or they end without one."""
        self.stop()
        self._steps, self._done = steps, done
        self._next.start(0)

    def stop(self) -> None:
        """Leave a picture as it is, with all that it was made of put away."""
        self._next.stop()
        if isinstance(self._steps, Generator):
            self._steps.close()
        self._steps = None

    def _go_on(self) -> None:
        until = time.perf_counter_ns() + BUDGET_NS
        while self._steps is not None and time.perf_counter_ns() < until:
            try:
                image = next(self._steps)
            except Exception as error:  # noqa: BLE001  whatever it is, it must not be tried again for ever
                _log.error("A picture could not be made.", exc_info=error)
                self._end(None)
                return
            if image is not None:
                self._end(image)

    def _end(self, image: QImage | None) -> None:
        done = self._done
        self.stop()
        done(image)
