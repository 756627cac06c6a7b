"""Paints a tree of lanes: lines that fork, thick where the model found them likely, with their text and their letters."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.branch_layout import BranchLayout, NodePlace
from app.gui.compare.branch_words import node_figures, node_text
from app.gui.compare.lane_mark import PATTERNS, lane_colour
from app.services.lane_analysis import Analysis, BranchNode

BADGE_PX = 18.0
_LINE_PX = 17.0


def paint_branches(
    painter: QPainter, analysis: Analysis, layout: BranchLayout, look: theme.Theme, *, focused: int | None = None
) -> None:
    """Paint all of a tree with its corner at the painter's."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # it runs as the tokens are counted, as a chart does
    for node, place in zip(analysis.tree, layout.places, strict=True):
        if node.parent is not None:
            _paint_fork(painter, layout.places[node.parent], place, node, look)
    for number, (node, place) in enumerate(zip(analysis.tree, layout.places, strict=True)):
        _paint_stretch(painter, node, place, look)
        if number == focused:
            _paint_ring(painter, place, look)


def _ink(node: BranchNode, look: theme.Theme) -> QColor:
    return look.colour(lane_colour(node.lanes[0]) if len(node.lanes) == 1 else "border_strong")


def _pen(node: BranchNode, thickness: float, look: theme.Theme) -> QPen:
    """Return the line of a stretch: a single lane's has its pattern, an unknown probability is dashed."""
    pen = QPen(_ink(node, look), thickness)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if len(node.lanes) == 1:
        pattern = PATTERNS[node.lanes[0] % len(PATTERNS)]
        if len(pattern) > 1:
            pen.setDashPattern([each * 2.0 / thickness for each in pattern])
    return pen


def _paint_fork(painter: QPainter, parent: NodePlace, place: NodePlace, node: BranchNode, look: theme.Theme) -> None:
    """Lead from the end of a stretch to the beginning of one that goes on from it."""
    way = QPainterPath(QPointF(parent.right, parent.y))
    middle = (parent.right + place.left) / 2
    way.cubicTo(QPointF(middle, parent.y), QPointF(middle, place.y), QPointF(place.left, place.y))
    pen = QPen(_ink(node, look), place.thickness)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(way)


def _paint_stretch(painter: QPainter, node: BranchNode, place: NodePlace, look: theme.Theme) -> None:
    line_px = place.thickness
    painter.setPen(_pen(node, line_px, look))
    painter.drawLine(QPointF(place.left, place.y), QPointF(place.right, place.y))
    width = place.right - place.left
    if node.end > node.start:
        upper, lower = theme.font(theme.BASE_PX), theme.font(theme.SMALL_PX - 1)
        above = QRectF(place.left, place.y - line_px / 2 - _LINE_PX - 1, width, _LINE_PX)
        _write(painter, upper, node_text(node), above, look.colour("text"))
        below = QRectF(place.left, place.y + line_px / 2 + 1, width, _LINE_PX - 2)
        metrics = QFontMetricsF(lower)
        said = node_figures(node)
        fitting = next((each for each in said if metrics.horizontalAdvance(each) <= width), said[-1])
        _write(painter, lower, fitting, below, look.colour("muted"))
    ends = [lane for lane in node.ends if not (lane in node.open and node.end == 0)]  # some have not begun
    for number, lane in enumerate(ends):
        left = place.right + 6 + number * (BADGE_PX + 3)
        badge = QRectF(left, place.y - BADGE_PX / 2, BADGE_PX, BADGE_PX)
        _paint_badge(painter, lane, badge, look, is_open=lane in node.open)


def _write(painter: QPainter, font: QFont, text: str, place: QRectF, colour: QColor) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


def _paint_badge(painter: QPainter, lane: int, place: QRectF, look: theme.Theme, *, is_open: bool) -> None:
    """Paint the letter of a lane that ends here; dotted for one that is still written and has come this far."""
    painter.setPen(QPen(look.colour(lane_colour(lane)), 2, Qt.PenStyle.DotLine if is_open else Qt.PenStyle.SolidLine))
    painter.setBrush(look.colour("surface"))
    painter.drawRoundedRect(place, 5, 5)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setFont(theme.font(theme.SMALL_PX, bold=True))
    painter.setPen(look.colour("text"))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, LETTERS[lane])


def _paint_ring(painter: QPainter, place: NodePlace, look: theme.Theme) -> None:
    painter.setPen(QPen(look.colour("accent"), 2))
    around = QRectF(place.left - 5, place.y - 25, place.right - place.left + 10, 46)
    painter.drawRoundedRect(around, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
