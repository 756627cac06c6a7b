"""A bar of segments with a track; the number it stands for is written beside it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

HEIGHT_PX = 8
SEGMENTS = 24
GAP_PX = 2


class Gauge(QWidget):
    """Shows a share of a whole, 0 to 1, in whole segments and one that is filled in part."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._share = 0.0
        self._fill = QColor()
        self._track = QColor()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def share(self) -> float:
        """The share that is shown."""
        return self._share

    def set_share(self, share: float) -> None:
        """Show another share."""
        share = min(max(share, 0.0), 1.0)
        if share != self._share:
            self._share = share
            self.update()

    def set_colours(self, fill: QColor, track: QColor) -> None:
        """Use other colours."""
        self._fill, self._track = fill, track
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a thin bar."""
        return QSize(120, HEIGHT_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the segments."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = (self.width() - GAP_PX * (SEGMENTS - 1)) / SEGMENTS
        whole = QPainterPath()
        for number in range(SEGMENTS):
            whole.addRoundedRect(QRectF(number * (width + GAP_PX), 0, width, self.height()), 1.5, 1.5)
        painter.fillPath(whole, self._track)
        if self._share > 0:
            painter.setClipRect(QRectF(0, 0, max(self.width() * self._share, 2), self.height()))
            painter.fillPath(whole, self._fill)
        painter.end()
