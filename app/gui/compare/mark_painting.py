"""Where a mark lies in the text of a lane, which marks share a letter in the gutter, and how marks are painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.compare.lane_mark import lane_colour, lane_pen
from app.gui.compare.marks import TokenMark
from app.services.lane_analysis import TextSpan

TINT = 0.16
"""How much of a lane's colour lies over a token."""


class Placed(NamedTuple):
    """A stretch of text in the picture, counted from the text's own corner."""

    rects: tuple[QRectF, ...]
    line: QRectF
    """Where its beginning is; as high as its line."""
    is_certain: bool


def by_line(marks: Sequence[TokenMark], place: Callable[[TextSpan], Placed]) -> list[TokenMark]:
    """Return one mark for each line, at its first token and of all lanes of that line: a letter stands for them."""
    found: dict[float, TokenMark] = {}
    for mark in marks:
        middle = place(mark.span).line.center().y()
        first = found.get(middle)
        found[middle] = mark if first is None else first._replace(lanes=(*first.lanes, *mark.lanes))
    return list(found.values())


def paint_tint(painter: QPainter, rects: Sequence[QRectF], lane: int, look: theme.Theme) -> None:
    """Lay a lane's colour over characters."""
    tint = look.colour(lane_colour(lane))
    tint.setAlphaF(TINT)
    for rect in rects:
        painter.fillRect(rect, tint)


def paint_underline(painter: QPainter, placed: Placed, corner: QPointF, seen: QRectF) -> None:
    """Draw a line under characters; where they are not certain, a short one beside their line."""
    if not placed.is_certain:
        beside = placed.line.translated(corner)
        left = corner.x() - theme.SPACE_S
        painter.drawLine(QPointF(left, beside.top() + 2), QPointF(left, beside.bottom() - 2))
    for rect in placed.rects:
        around = rect.translated(corner)
        if around.intersects(seen):
            painter.drawLine(around.bottomLeft(), around.bottomRight())


def paint_token(
    painter: QPainter, placed: Placed, lane: int, look: theme.Theme, corner: QPointF, *, is_turned: bool
) -> None:
    """Mark the first token that differs; `is_turned` where its paragraph runs from right to left."""
    line = placed.line.translated(corner)
    painter.setPen(lane_pen(lane, look))
    for rect in placed.rects:
        around = rect.translated(corner)
        paint_tint(painter, [around], lane, look)
        painter.drawLine(around.bottomLeft(), around.bottomRight())
    if placed.is_certain:
        painter.setPen(QPen(look.colour(lane_colour(lane)), 2))
        left = line.right() + 1 if is_turned else line.left() - 1
        painter.drawLine(QPointF(left, line.top() - 1), QPointF(left, line.bottom() + 1))
