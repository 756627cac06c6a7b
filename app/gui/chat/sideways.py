"""How far something too wide for its column is scrolled sideways, and the quiet bar that shows it. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from app.gui import theme

BAR_PX = theme.SPACE_M
"""Height of the place that the bar takes, and that can be pressed."""
_HANDLE_PX, _LEAST_HANDLE_PX = 6, 32
_SLACK_PX = 0.5
"""Less than this is no reason for a bar."""


class Sideways:
    """What lies in a room that may be narrower than it."""

    __slots__ = ("content", "offset", "room")

    def __init__(self) -> None:
        self.content = 0.0
        """Width of what is there."""
        self.room = 0.0
        """Width of what can be seen of it."""
        self.offset = 0.0
        """How far it is scrolled."""

    @property
    def is_needed(self) -> bool:
        """Whether not all of it can be seen at once."""
        return self.content > self.room + _SLACK_PX

    @property
    def most(self) -> float:
        """How far it can be scrolled."""
        return max(self.content - self.room, 0.0)

    def fit(self, content: float, room: float) -> None:
        """Take over other widths; what was at the left edge stays there where it can."""
        self.content, self.room = content, room
        self.offset = min(self.offset, self.most)

    def scroll_to(self, offset: float) -> bool:
        """Scroll to an offset, as far as that goes; return whether anything moved."""
        before, self.offset = self.offset, min(max(offset, 0.0), self.most)
        return self.offset != before

    def bring_into_view(self, left: float, right: float) -> bool:
        """Scroll until a stretch of the content is seen, with what stands before it; return whether anything moved."""
        if self.offset <= left and right <= self.offset + self.room:
            return False
        return self.scroll_to(0.0 if right <= self.room else left - self.room / 3)

    def handle(self, bar: QRectF) -> QRectF:
        """Return where the handle lies in the place of the bar."""
        width = self._handle_width(bar.width())
        left = bar.left() + (bar.width() - width) * (self.offset / self.most if self.most else 0.0)
        return QRectF(left, bar.top() + (bar.height() - _HANDLE_PX) / 2, width, _HANDLE_PX)

    def per_pixel(self, bar_width: float) -> float:
        """Return how far the content moves when the handle is dragged by a pixel."""
        return self.most / max(bar_width - self._handle_width(bar_width), 1.0)

    def draw(self, painter: QPainter, bar: QRectF, look: theme.Theme, *, is_held: bool = False) -> None:
        """Draw the handle, stronger while somebody points at it."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("muted" if is_held else "border_strong"))
        painter.drawRoundedRect(self.handle(bar), _HANDLE_PX / 2, _HANDLE_PX / 2)

    def _handle_width(self, bar_width: float) -> float:
        share = self.room / self.content if self.content else 1.0
        return min(max(bar_width * share, _LEAST_HANDLE_PX), bar_width)
