"""The one crossing from background threads to the window: the inbox's events, in batches, on the window's thread.

At once when it has been idle, and for the first tokens of an answer; at most every 33 ms otherwise. An idle window has
no timer.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.core.events import Event
from app.system.inbox import Inbox

FRAME_MS = 33


class Pump(QObject):
    """Drains the inbox and hands every event on, until it is stopped."""

    _woken = Signal(bool)

    def __init__(
        self,
        inbox: Inbox,
        dispatch: Callable[[Event], None],
        on_error: Callable[[Exception], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._inbox = inbox
        self._dispatch = dispatch
        self._on_error = on_error
        self._drained_ns = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._drain)
        self._woken.connect(self._wake, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Take events from now on."""
        self._inbox.on_first(self._woken.emit)

    def stop(self) -> None:
        """Take no more events."""
        self._inbox.on_first(None)
        self._timer.stop()

    def _wake(self, is_urgent: bool) -> None:
        passed_ms = (time.perf_counter_ns() - self._drained_ns) // 1_000_000
        if is_urgent or passed_ms >= FRAME_MS:
            self._drain()
        elif not self._timer.isActive():
            self._timer.start(FRAME_MS - int(passed_ms))

    def _drain(self) -> None:
        self._timer.stop()
        self._drained_ns = time.perf_counter_ns()
        for event in self._inbox.drain():
            try:
                self._dispatch(event)
            except Exception as error:  # noqa: BLE001  one broken view must not keep events from the others
                self._on_error(error)
