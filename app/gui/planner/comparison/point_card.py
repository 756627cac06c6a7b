"""The mark around a point of a chart, and the small card that tells its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen

from app.gui import theme
from app.gui.planner.comparison.chart import ChartPoint
from app.gui.planner.comparison.legend import fitted_name
from app.gui.planner.comparison.line_marks import LETTERS

MARK_PX = 10
"""Radius of the ring: the sign of a dot is seen whole in it."""
_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


def paint_mark(painter: QPainter, at: QPointF, look: theme.Theme) -> None:
    """Paint a ring around a point, with ground around it so that it is seen on any line."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    radius = theme.scaled(MARK_PX)
    for colour, width in (("surface", look.line_px + 5), ("text", look.line_px + 1)):
        painter.setPen(QPen(look.colour(colour), width))
        painter.drawEllipse(at, radius, radius)
    painter.restore()


def paint_card(
    painter: QPainter, place: QRectF, point: ChartPoint, figures: Sequence[str], look: theme.Theme
) -> QRectF:
    """Paint what is said of a point above or below it, within a place that is whole wide, and return where that is."""
    bold, plain = theme.font(theme.SMALL_PX, bold=True), theme.font(theme.SMALL_PX)
    letter = f"{LETTERS[point.drawn.number]}  "
    metrics, pad = QFontMetrics(bold), theme.SPACE_S
    room = place.width() - 2 * pad - 2 * look.line_px
    before = metrics.horizontalAdvance(letter)
    name = letter + fitted_name(point.drawn, metrics, room - before)
    widest = max(map(QFontMetrics(plain).horizontalAdvance, figures), default=0)
    wide = min(room, max(metrics.horizontalAdvance(name), widest) + 2.0)
    area = QRectF(0, 0, wide, place.height())
    heights = [QFontMetrics(plain).boundingRect(area.toRect(), _WRAPPED, line).height() for line in figures]
    size = (wide + 2 * pad, metrics.height() + sum(heights) + 2 * pad)
    card = card_place(place, point.at, size)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(look.colour("border_strong"), look.line_px))
    painter.setBrush(look.colour("surface"))
    painter.drawRoundedRect(card, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    painter.setPen(look.colour("text"))
    painter.setFont(bold)
    left, y = card.left() + pad, card.top() + pad
    painter.drawText(QRectF(left, y, wide, metrics.height()), Qt.AlignmentFlag.AlignLeft, name)
    painter.setFont(plain)
    y += metrics.height()
    for line, height in zip(figures, heights, strict=True):
        painter.drawText(QRectF(left, y, wide, height), _WRAPPED, line)
        y += height
    painter.restore()
    return card


def card_place(place: QRectF, at: QPointF, size: tuple[float, float]) -> QRectF:
    """Return where a card of a size (wide, high) stands: above a point where there is room, else below, not over it."""
    wide, high = size
    gap = theme.scaled(MARK_PX) + theme.SPACE_S
    left = min(max(at.x() - wide / 2, place.left() + 1), place.right() - wide - 1)
    top = at.y() - gap - high
    if top < place.top() + 1:
        top = min(at.y() + gap, place.bottom() - high - 1)
    return QRectF(round(left) + 0.5, round(top) + 0.5, wide, high)
