"""A bar of numbered parts, and the number by itself for its table: who cannot tell two shades apart reads the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.services.units import count

BAR_PX, RADIUS_PX, GAP_PX = 18, 3.0, 1
NUMBER_SIZE = QSize(20, 16)
_BESIDE_PX = 2
"""Left free on both sides of a number."""


class NumberedPart(NamedTuple):
    """One part of the whole: its share, 0 to 1, what it is called by in the table, and its colour."""

    share: float
    number: int
    colour: QColor


class OperationsBar(QWidget):
    """Shows parts side by side, each with its number where there is room for it."""

    def __init__(self, name: str, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName(name)
        self._themes = themes
        self._parts: tuple[NumberedPart, ...] = ()
        self.setFont(theme.font(theme.SMALL_PX))
        stand_alone(self)
        self.setFixedHeight(theme.scaled(BAR_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def parts(self) -> tuple[NumberedPart, ...]:
        """The parts that are shown, from the left."""
        return self._parts

    def show_parts(self, parts: Sequence[NumberedPart]) -> None:
        """Show other parts; those that are nothing are left out."""
        self._parts = tuple(part for part in parts if part.share > 0)
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(120, theme.scaled(BAR_PX))

    def boxes(self) -> list[QRectF]:
        """Return where each part is, in whole pixels: a blurred edge looks like one more part."""
        left, boxes = 0.0, []
        for part in self._parts:
            right = left + part.share * self.width()
            boxes.append(QRectF(round(left), 0, max(round(right) - GAP_PX - round(left), 1), self.height()))
            left = right
        return boxes

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the parts."""
        painter = QPainter(self)
        paint_ground(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        for part, box in zip(self._parts, self.boxes(), strict=True):
            paint_number(painter, box, part.number, part.colour, self._themes.current)
        painter.end()


class NumberSwatch(QWidget):
    """The number of a part on its colour."""

    def __init__(self, number: int, themes: theme.Themes) -> None:
        super().__init__()
        self._number = number
        self._themes = themes
        self._colour = QColor()
        self.setFont(theme.font(theme.SMALL_PX))
        self.setFixedSize(theme.scaled(NUMBER_SIZE.width()), theme.scaled(NUMBER_SIZE.height()))

    def show_colour(self, colour: QColor) -> None:
        """Stand on another colour."""
        self._colour = colour
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint colour and number."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        paint_number(painter, QRectF(self.rect()), self._number, self._colour, self._themes.current)
        painter.end()


def paint_number(painter: QPainter, box: QRectF, number: int, colour: QColor, look: theme.Theme) -> None:
    """Fill a box, and write its number into it where there is room, in the ink that is read best on it."""
    painter.fillRect(box, colour)
    words = count(number)
    if QFontMetricsF(painter.font()).horizontalAdvance(words) + 2 * _BESIDE_PX <= box.width():
        inks = look.colour("text"), look.colour("surface")
        painter.setPen(max(inks, key=lambda ink: theme.contrast(colour, ink)))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
