"""A token's text as it is painted: what people read, and small quiet signs of our own for its white space.

Fonts draw the usual characters for white space wide, low or not at all. Lays each text out once; knows no model.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF, QStaticText

from app.gui.widgets.token_words import LINE_END, MARKS, SPACE, TAB

_ELLIPSIS = "…"
_MARK_PX = 8
_PEN_PX = 1.2
_SHAPES: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    SPACE: (((0.5, -2.5), (0.5, 0.5), (5.5, 0.5), (5.5, -2.5)),),
    LINE_END: (((6, -7), (6, -2.5), (0.5, -2.5)), ((3, -5), (0.5, -2.5), (3, 0))),
    TAB: (((0, -3.5), (5, -3.5)), ((3, -6), (5.5, -3.5), (3, -1)), ((6.5, -6.5), (6.5, -0.5))),
}
"""Lines of each sign, from the left end of the base line."""
_MOST_SHOWN = 64
"""Characters: no row has room for more."""
_MOST_LAID = 2_000
"""So many texts are kept as they were laid out."""


class Laid(NamedTuple):
    """A text whose glyphs have their places."""

    glyphs: QStaticText
    width: float
    height: float


class Face:
    """A font with the texts that were laid out in it; whoever paints often keeps one, for fonts are slow to compare."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetrics(font)
        self._laid: dict[str, Laid] = {}
        self._fitting: dict[tuple[str, int], str] = {}
        self.base_px = (self._metrics.ascent() - self._metrics.descent()) / 2
        """How far the base line lies below the middle of a line."""

    def laid_out(self, text: str) -> Laid:
        """Return a text with the places of its glyphs, which are worked out once."""
        laid = self._laid.get(text)
        if laid is None:
            if len(self._laid) > _MOST_LAID:
                self._laid.clear()
            glyphs = QStaticText(text)
            glyphs.setTextFormat(Qt.TextFormat.PlainText)
            glyphs.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            glyphs.prepare(font=self.font)
            size = glyphs.size()
            laid = self._laid[text] = Laid(glyphs, size.width(), size.height())
        return laid

    def fitting(self, text: str, room: int) -> str:
        """Return a text, or as much of it as fits with … at its end."""
        key = (text, room)
        if key not in self._fitting:
            if len(self._fitting) > _MOST_LAID:
                self._fitting.clear()
            shown = text[:_MOST_SHOWN]
            while shown and self._width(shown if shown == text else shown + _ELLIPSIS) > room:
                shown = shown[:-1]
            self._fitting[key] = text if shown == text else shown + _ELLIPSIS
        return self._fitting[key]

    def _width(self, text: str) -> int:
        marks = sum(each in MARKS for each in text)
        words = "".join(each for each in text if each not in MARKS)
        return self._metrics.horizontalAdvance(words) + marks * _MARK_PX


def write(
    painter: QPainter, face: Face, text: str, middle: float, *, left: float = 0.0, right: float | None = None
) -> float:
    """Write a text in the painter's colour with its middle at a height, from a left or to a right; return its width."""
    laid = face.laid_out(text)
    painter.setFont(face.font)
    start = left if right is None else right - laid.width
    painter.drawStaticText(QPointF(start, round(middle - laid.height / 2)), laid.glyphs)
    return laid.width


def write_token(
    painter: QPainter, face: Face, text: str, middle: float, left: float, room: int, colours: tuple[QColor, QColor]
) -> None:
    """Write a token's visible text into so many pixels of a line: what it says, and the signs of its white space."""
    for is_mark, run in groupby(face.fitting(text, room), MARKS.__contains__):
        signs = "".join(run)
        if not is_mark:
            painter.setPen(colours[0])
            left += write(painter, face, signs, middle, left=left)
            continue
        painter.setPen(QPen(colours[1], _PEN_PX, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        for sign in signs:
            for shape in _SHAPES[sign]:
                base = middle + face.base_px
                painter.drawPolyline(QPolygonF([QPointF(left + x, base + y) for x, y in shape]))
            left += _MARK_PX
