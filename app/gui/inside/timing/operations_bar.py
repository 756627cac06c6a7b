"""A bar of numbered parts, and the number by itself for its table: who cannot tell two shades apart reads the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.services.units import count

BAR_PX, RADIUS_PX, GAP_PX = 18, 3.0, 1
NUMBER_SIZE = QSize(20, 16)
_BESIDE_PX = 2
"""Left free on both sides of a number."""
_LINES = 0.55
"""How strong the lines of a pattern are."""


class NumberedPart(NamedTuple):
    """One part of the whole: its share, 0 to 1, what it is called by in the table, and its colour."""

    share: float
    number: int
    colour: QColor
    pattern: int = 0
    """Lines over the colour, which tell it from another part with the same: its place in `PATTERNS`."""


PATTERNS = (
    Qt.BrushStyle.NoBrush,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.FDiagPattern,
    Qt.BrushStyle.VerPattern,
    Qt.BrushStyle.DiagCrossPattern,
    Qt.BrushStyle.HorPattern,
)


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
            paint_part(painter, box, part, self._themes.current)
        painter.end()


class NumberSwatch(QWidget):
    """The number of a part on its colour."""

    def __init__(self, number: int, themes: theme.Themes) -> None:
        super().__init__()
        self._part = NumberedPart(1.0, number, QColor())
        self._themes = themes
        self.setFont(theme.font(theme.SMALL_PX))
        self.setFixedSize(theme.scaled(NUMBER_SIZE.width()), theme.scaled(NUMBER_SIZE.height()))

    @property
    def part(self) -> NumberedPart:
        """What it stands on."""
        return self._part

    def show_colour(self, colour: QColor, pattern: int = 0) -> None:
        """Stand on another colour, with a pattern."""
        self._part = self._part._replace(colour=colour, pattern=pattern)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint colour and number."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        paint_part(painter, QRectF(self.rect()), self._part, self._themes.current)
        painter.end()


def paint_part(painter: QPainter, box: QRectF, part: NumberedPart, look: theme.Theme) -> None:
    """Fill a box, and write its number into it where there is room, in the ink that is read best on it."""
    painter.fillRect(box, part.colour)
    inks = look.colour("text"), look.colour("surface")
    ink = max(inks, key=lambda ink: theme.contrast(part.colour, ink))
    if part.pattern:
        lines = QColor(ink)
        lines.setAlphaF(_LINES)
        painter.fillRect(box, QBrush(lines, PATTERNS[part.pattern % len(PATTERNS)]))
    words = count(part.number)
    wide = QFontMetricsF(painter.font()).horizontalAdvance(words) + 2 * _BESIDE_PX
    if wide <= box.width():
        if part.pattern:  # lines do not go through the number
            painter.fillRect(QRectF(box.center().x() - wide / 2, box.top(), wide, box.height()), part.colour)
        painter.setPen(ink)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
