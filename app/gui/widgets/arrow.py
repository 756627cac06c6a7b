"""The arrow of controls that open something: two strokes that meet in a tip."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

ARM_PX, PEN_PX = 4.0, 1.5
DOWN, LEFT, RIGHT = QPointF(0, 1), QPointF(-1, 0), QPointF(1, 0)


def draw_arrow(painter: QPainter, middle: QPointF, colour: QColor, way: QPointF, arm: float = ARM_PX) -> None:
    """Draw it around a place, with its tip in one of the ways above."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, PEN_PX, c=Qt.PenCapStyle.RoundCap))
    tip, aside = middle + way * (arm / 2), QPointF(way.y(), way.x()) * arm
    for end in (aside, -aside):
        painter.drawLine(tip - way * arm + end, tip)
