"""Which point of a chart is looked at: the nearest one to a place, and where keys lead from one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QCoreApplication, QPointF
from PySide6.QtGui import QKeySequence

from app.gui.planner.comparison.chart import ChartPoint

Move = Literal["left", "right", "up", "down", "first", "last"]
MOVES: dict[Move | Literal["leave"], tuple[str, ...]] = {
    "left": ("Left",),
    "right": ("Right",),
    "up": ("Up",),
    "down": ("Down",),
    "first": ("Home",),
    "last": ("End",),
    "leave": ("Esc",),
}
translate = QCoreApplication.translate


def chart_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do in a chart: in words, and the keys."""
    table = (
        (translate("PlanComparison", "Look at the point before or after"), ("Left", "Right")),
        (translate("PlanComparison", "Look at the line above or below"), ("Up", "Down")),
        (translate("PlanComparison", "Look at the first or the last point of a line"), ("Home", "End")),
        (translate("PlanComparison", "Look at no point any more"), ("Esc",)),
    )
    return [(words, tuple(map(QKeySequence, keys))) for words, keys in table]


def nearest(points: Sequence[ChartPoint], place: QPointF, within: float) -> ChartPoint | None:
    """Return the point that lies nearest to a place, at most so many px away; the first one of several."""
    found, least = None, within * within
    x, y = place.x(), place.y()
    for point in points:
        distance = (point.at.x() - x) ** 2 + (point.at.y() - y) ** 2
        if distance < least or (found is None and distance == least):
            found, least = point, distance
    return found


def moved(points: Sequence[ChartPoint], current: ChartPoint | None, move: Move) -> ChartPoint | None:
    """Return where a key leads to from a point, or from none; None only where there are no points."""
    if not points:
        return None
    if current is None:
        line = _line(points, points[0])
        return line[-1] if move in ("left", "last") else line[0]
    if move in ("up", "down"):
        return _beside(points, current, 1 if move == "down" else -1)
    line = _line(points, current)
    at = [point.what for point in line].index(current.what)
    place = {"first": 0, "last": len(line) - 1, "left": at - 1, "right": at + 1}[move]
    return line[min(max(place, 0), len(line) - 1)]


def _line(points: Sequence[ChartPoint], current: ChartPoint) -> list[ChartPoint]:
    return [point for point in points if point.drawn.number == current.drawn.number]


def _beside(points: Sequence[ChartPoint], current: ChartPoint, way: int) -> ChartPoint:
    """Return the point of the next line below (1) or above (-1), of each line the one that lies nearest sideways."""
    closest: dict[int, ChartPoint] = {}
    for point in points:
        best = closest.get(point.drawn.number)
        if best is None or abs(point.at.x() - current.at.x()) < abs(best.at.x() - current.at.x()):
            closest[point.drawn.number] = point
    closest[current.drawn.number] = current
    order = sorted(closest.values(), key=lambda point: (point.at.y(), point.drawn.number))
    place = [point.drawn.number for point in order].index(current.drawn.number) + way
    return order[min(max(place, 0), len(order) - 1)]
