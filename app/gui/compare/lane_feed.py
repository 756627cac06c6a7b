"""Brings the text of lanes to their views: what came in between two pictures at once, and never for longer than a frame.

Lanes that nobody sees grow once somebody does.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.gui.compare.lane_column import LaneColumn

BUDGET_NS = 5_000_000
"""After so long the rest of the lanes has to wait until the window had its turn."""


class LaneFeed(QObject):
    """Text that is still to be shown, by lane."""

    def __init__(self, is_seen: Callable[[LaneColumn], bool], parent: QObject) -> None:
        """`is_seen` says whether a lane is in view."""
        super().__init__(parent)
        self._is_seen = is_seen
        self._columns: dict[int, LaneColumn] = {}
        self._pending: dict[int, str] = {}
        """Text by lane, the lane that waits longest first."""
        self._stale: set[int] = set()
        """Lanes that are other ones than they were, and out of view since."""
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self.flush)

    def follow(self, columns: dict[int, LaneColumn]) -> None:
        """Feed other columns, by lane; what was still to be shown in others is forgotten."""
        self._columns = columns
        self._pending.clear()
        self._stale.clear()
        self._again.stop()

    def grow(self, lane: int, text: str) -> None:
        """Have a lane grow by a text."""
        if lane in self._columns and lane not in self._stale:
            self._pending[lane] = self._pending.get(lane, "") + text
            if not self._again.isActive():
                self._again.start()

    def refresh(self, lane: int) -> None:
        """Have a lane shown anew, with all of its text."""
        column = self._columns.get(lane)
        if column is None:
            return
        text = self._pending.pop(lane, "")
        if not self._is_seen(column):
            self._stale.add(lane)
            column.show_state()
            column.show_figures()
            return
        if text:
            column.grow(text)
        column.refresh()

    def later(self) -> None:
        """Look in a moment which lanes are in view: they are not laid out yet."""
        self._again.start()

    def flush(self) -> None:
        """Let the lanes in view grow; those that are out of view wait."""
        until = time.perf_counter_ns() + BUDGET_NS
        for lane in self._due():
            self._show(lane)
            if time.perf_counter_ns() > until:
                break
        if self._due():
            self._again.start()

    def _show(self, lane: int) -> None:
        if lane in self._stale:
            self._stale.remove(lane)
            self._columns[lane].refresh()
        else:
            self._columns[lane].grow(self._pending.pop(lane))

    def _due(self) -> list[int]:
        return [lane for lane in (*self._stale, *self._pending) if self._is_seen(self._columns[lane])]
