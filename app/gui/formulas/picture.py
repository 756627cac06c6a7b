"""A formula as outlines, which are drawn in any colour and size and stay sharp."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker

from app.gui.formulas.limits import MOST_HEIGHT, MOST_WIDTH, Unreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

EM = 24.0
"""The size that formulas are set in, in pixels; they are drawn in any."""
_BYTES_PER_POINT, _BYTES_EACH = 24, 500


class Picture(NamedTuple):
    """Outlines around the start of the baseline, at the size `EM`; lengths are shares of the size it is drawn in."""

    shapes: tuple[QPainterPath, ...]
    width: float
    above: float
    """How far it reaches above its baseline."""
    below: float

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return _BYTES_EACH + _BYTES_PER_POINT * sum(shape.elementCount() for shape in self.shapes)

    def box(self, start: QPointF, pixels: float) -> QRectF:
        """Return what it takes in a size, from a place on the baseline on."""
        top = start.y() - self.above * pixels
        return QRectF(start.x(), top, self.width * pixels, (self.above + self.below) * pixels)

    def draw(self, painter: QPainter, start: QPointF, pixels: float, ink: QColor) -> None:
        """Draw it in a size and a colour, from a place on the baseline on."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(start)
        painter.scale(pixels / EM, pixels / EM)
        for shape in self.shapes:
            painter.fillPath(shape, ink)
        painter.restore()


def picture(elements: Iterable[Element], left: float, right: float, above: float, below: float) -> Picture:
    """Return the picture of SVG elements, set at the size `EM`, that reach so far from the start of their baseline.

    Raises `Unreadable` for one that nobody could look at.
    """
    width, over, under = (right - left) / EM, above / EM, below / EM
    if not all(map(isfinite, (width, over, under))) or width > MOST_WIDTH or max(over, under) > MOST_HEIGHT:
        raise Unreadable
    filled, stroked = QPainterPath(), QPainterPath()
    for element in elements:
        outline = _outline(element)
        stroke = _number(element, "stroke-width")
        if stroke:
            stroker = QPainterPathStroker()
            stroker.setWidth(stroke)
            stroked.addPath(stroker.createStroke(outline).simplified())
        else:
            filled.addPath(outline)
    shapes = [path for path in (filled, stroked) if not path.isEmpty()]
    if not shapes:
        raise Unreadable
    # The library leaves room behind a fraction, which would part it from the comma that follows.
    ends = max(path.boundingRect().right() for path in shapes)
    width = min(width, (ends - left) / EM)
    for path in shapes:
        path.setFillRule(Qt.FillRule.WindingFill)
        path.translate(-left, 0)
    return Picture(tuple(shapes), max(width, 0.0), max(over, 0.0), max(under, 0.0))


def _outline(element: Element) -> QPainterPath:
    made = QPainterPath()
    if element.tag == "path":
        _trace(made, element.get("d", "").split())
    elif element.tag == "rect":
        x, y = _number(element, "x"), _number(element, "y")
        right, bottom = x + _number(element, "width"), y + _number(element, "height")
        # The way round that the outlines of letters go: where both overlap nothing is left out.
        made.moveTo(x, y)
        for corner in ((right, y), (right, bottom), (x, bottom)):
            made.lineTo(*corner)
        made.closeSubpath()
    elif element.tag == "ellipse":
        centre = QPointF(_number(element, "cx"), _number(element, "cy"))
        made.addEllipse(centre, _number(element, "rx"), _number(element, "ry"))
    return made


def _trace(path: QPainterPath, words: list[str]) -> None:
    """Follow the commands of an SVG path, which are separated by spaces and count from the origin."""
    at = 0

    def point() -> QPointF:
        nonlocal at
        at += 2
        return QPointF(float(words[at - 2]), float(words[at - 1]))

    while at < len(words):
        command = words[at]
        at += 1
        match command:
            case "M":
                path.moveTo(point())
            case "L":
                path.lineTo(point())
            case "Q":
                path.quadTo(point(), point())
            case "C":
                path.cubicTo(point(), point(), point())
            case "Z":
                path.closeSubpath()
            case _:
                raise Unreadable


def _number(element: Element, name: str) -> float:
    return float(element.get(name, "0"))
