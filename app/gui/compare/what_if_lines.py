"""How tokens are marked that other settings would have cut, or left with little probability, and where greedy leaves.

A mark is told by its shape first: a thick line with the stage's pattern, a thin one, a wedge; the colour comes second.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.gui import theme
from app.gui.charts.line_patterns import PATTERNS

UNLIKELY_TINT = 0.14
_WEDGE_PX = 4.0
_STAGE_PATTERNS = {"top_k": 1, "top_p": 2, "min_p": 3, "typical": 5, "xtc": 6}
"""Which pattern a line has under a token that a stage would have cut; the legend shows the same."""


def stage_pen(stage: str, look: theme.Theme, *, is_certain: bool = True) -> QPen:
    """Return the line under a token that a stage would have cut; a faint one where that is not certain."""
    pen = QPen(look.colour("danger" if is_certain else "muted"), 2.0 if is_certain else 1.0)
    number = _STAGE_PATTERNS.get(stage, 0) if is_certain else 2
    if number:
        pen.setDashPattern(PATTERNS[number])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def paint_unlikely(painter: QPainter, place: QRectF, look: theme.Theme) -> None:
    """Shade a token that would have been left with little probability, and draw a thin line under it."""
    tint = look.colour("muted")
    tint.setAlphaF(UNLIKELY_TINT)
    painter.fillRect(place, tint)
    painter.setPen(QPen(look.colour("muted"), 1.0))
    painter.drawLine(place.bottomLeft(), place.bottomRight())


def paint_greedy(painter: QPainter, x: float, top: float, bottom: float, look: theme.Theme) -> None:
    """Draw a bar with a wedge on top where greedy would have left the answer."""
    colour = look.colour("accent")
    painter.setPen(QPen(colour, 2.0))
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    wedge = (QPointF(x - _WEDGE_PX, top), QPointF(x + _WEDGE_PX, top), QPointF(x, top + 1.5 * _WEDGE_PX))
    painter.drawPolygon(QPolygonF(wedge))
    painter.setBrush(Qt.BrushStyle.NoBrush)
