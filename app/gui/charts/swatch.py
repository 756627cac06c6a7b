"""A small piece of colour beside the word that it stands for."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

WIDTH_PX, HEIGHT_PX = 14, 12
_RADIUS_PX = 2


class Swatch(QWidget):
    """A bar of a legend."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour = QColor()
        self._height = HEIGHT_PX
        self.setFixedSize(WIDTH_PX, HEIGHT_PX)

    def show_colour(self, colour: QColor, height: int = HEIGHT_PX) -> None:
        """Show a colour as a bar of some height."""
        self._colour, self._height = colour, height
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bar in the middle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        top = (HEIGHT_PX - self._height) / 2
        painter.drawRoundedRect(QRectF(0, top, WIDTH_PX, self._height), _RADIUS_PX, _RADIUS_PX)
        painter.end()
