"""Paints a tree of lanes: lines that fork, thick where the model found them likely, with their text and their letters."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from app.gui import theme
from app.gui.charts.line_patterns import PATTERNS
from app.gui.compare.branch_layout import BADGE_PX, HALF_PX, Badge, BranchLayout, NodePlace
from app.gui.compare.branch_measure import FontMeasure
from app.gui.compare.branch_words import letters_of
from app.gui.compare.lane_mark import lane_colour
from app.services.lane_analysis import Analysis, BranchNode
from app.services.units import count

_TICK_PX = 4.0


class BranchPicture:
    """A tree that was laid out: everything is worked out once, and painted as often as need be."""

    def __init__(self, analysis: Analysis, layout: BranchLayout, measure: FontMeasure) -> None:
        self._layout = layout
        self._measure = measure
        self._nodes = list(zip(analysis.tree, layout.places, strict=True))
        self._ways = [
            (node, place, _way(layout.places[node.parent], place))
            for node, place in reversed(self._nodes)
            if node.parent is not None
        ]

    def paint(
        self, painter: QPainter, look: theme.Theme, seen: QRectF | None = None, *, focused: int | None = None
    ) -> None:
        """Paint what is seen of it, or all of it, with its corner at the painter's."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(
            Qt.LayoutDirection.LeftToRight
        )  # it runs as the tokens are counted, as a chart does
        for node, place, way in self._ways:
            if seen is None or way.controlPointRect().adjusted(-9, -9, 9, 9).intersects(seen):
                painter.strokePath(way, _plain_pen(node, place, look))
        for number, (node, place) in enumerate(self._nodes):
            left, top, right, bottom = place.box
            around = QRectF(left - 6, top - 2, right - left + 12, bottom - top + 4)
            if seen is not None and not around.intersects(seen):
                continue
            self._paint_stretch(painter, node, place, look)
            if number == focused:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(look.colour("accent"), 2))
                painter.drawRoundedRect(around, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)

    def paint_ruler(self, painter: QPainter, look: theme.Theme, left: float, width: float) -> None:
        """Paint how many tokens lie to the left, with the painter's top at the ruler's, on its own ground."""
        layout, axis = self._layout, self._layout.axis
        painter.fillRect(QRectF(left, 0, width, layout.ruler_px - 4), look.colour("surface"))
        if axis is None:
            return
        painter.setFont(self._measure.small_font)
        base = layout.ruler_px - 7
        painter.setPen(QPen(look.colour("border_strong"), 1))
        painter.drawLine(QLineF(axis.arrives[0], base, axis.arrives[-1], base))
        painter.drawLines([QLineF(x, base - _TICK_PX, x, base) for x, _number in layout.ticks])
        painter.setPen(look.colour("muted"))
        for x, number in layout.ticks:
            room = QRectF(x - 40, 0, 80, base - _TICK_PX)
            painter.drawText(room, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, count(number))

    def _paint_stretch(self, painter: QPainter, node: BranchNode, place: NodePlace, look: theme.Theme) -> None:
        painter.setPen(_pen(node, place, look))
        painter.drawLine(QPointF(place.left, place.y), QPointF(place.right, place.y))
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        width = place.box[2] - place.left + 2
        if place.figures:
            painter.setFont(self._measure.small_font)
            painter.setPen(look.colour("muted"))
            small_px = self._measure.small_px
            painter.drawText(QRectF(place.left, place.y - HALF_PX - small_px, width, small_px), side, place.figures)
        painter.setFont(self._measure.font)
        painter.setPen(look.colour("text"))
        line_px = self._measure.line_px
        for number, line in enumerate(place.text):
            painter.drawText(QRectF(place.left, place.y + HALF_PX + number * line_px, width, line_px), side, line)
        for badge in place.badges:
            _paint_badge(painter, badge, place.y, look)


def _ink(node: BranchNode, look: theme.Theme) -> QColor:
    return look.colour(lane_colour(node.lanes[0]) if len(node.lanes) == 1 else "border_strong")


def _plain_pen(node: BranchNode, place: NodePlace, look: theme.Theme) -> QPen:
    pen = QPen(_ink(node, look), place.thickness)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def _pen(node: BranchNode, place: NodePlace, look: theme.Theme) -> QPen:
    """Return the line of a stretch: a single lane's has its pattern."""
    pen = _plain_pen(node, place, look)
    if len(node.lanes) == 1:
        pattern = PATTERNS[node.lanes[0] % len(PATTERNS)]
        if len(pattern) > 1:
            pen.setDashPattern([each * 2.0 / place.thickness for each in pattern])
    return pen


def _way(parent: NodePlace, place: NodePlace) -> QPainterPath:
    """Lead from the end of a stretch to the beginning of one that goes on from it."""
    way = QPainterPath(QPointF(parent.right if parent.y == place.y else parent.fork, parent.y))
    middle = (parent.fork + place.left) / 2
    way.cubicTo(QPointF(middle, parent.y), QPointF(middle, place.y), QPointF(place.left, place.y))
    return way


def _paint_badge(painter: QPainter, badge: Badge, y: float, look: theme.Theme) -> None:
    """Paint the letters of lanes that end here; dotted for those still written that have come this far."""
    ink = lane_colour(badge.lanes[0]) if len(badge.lanes) == 1 else "border_strong"
    style = Qt.PenStyle.DotLine if badge.is_open else Qt.PenStyle.SolidLine
    painter.setPen(QPen(look.colour(ink), 2, style))
    painter.setBrush(look.colour("surface"))
    place = QRectF(badge.left, y - BADGE_PX / 2, badge.width, BADGE_PX)
    painter.drawRoundedRect(place.adjusted(1, 0, -1, 0), 5, 5)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setFont(theme.font(theme.SMALL_PX - 1, bold=True))
    painter.setPen(look.colour("text"))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, letters_of(badge.lanes))
