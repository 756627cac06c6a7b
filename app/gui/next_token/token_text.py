"""A token's text as it is painted: what people read, and small quiet signs of our own for its white space.

Fonts draw the usual characters for white space wide, low or not at all. Lays each text out once; knows no model.
"""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPolygonF, QStaticText

from app.gui.next_token.candidates_model import LINE_END, MARKS, SPACE, TAB

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


class TextPainter:
    """Writes one line of text after another with one painter at a time."""

    def __init__(self) -> None:
        self._laid: dict[tuple[str, str], QStaticText] = {}
        self._cut: dict[tuple[str, str, int], str] = {}

    def write(
        self,
        painter: QPainter,
        font: QFont,
        text: str,
        line: QRect,
        *,
        left: float = 0.0,
        right: float | None = None,
    ) -> float:
        """Write a text in the middle of a line's height and return its width; where glyphs stand is worked out once."""
        laid = self._laid_out(text, font)
        size = laid.size()
        painter.setFont(font)
        start = left if right is None else right - size.width()
        painter.drawStaticText(QPointF(start, line.top() + round((line.height() - size.height()) / 2)), laid)
        return size.width()

    def write_token(
        self, painter: QPainter, font: QFont, text: str, line: QRect, colours: tuple[QColor, QColor]
    ) -> None:
        """Write a token's visible text from the left of a line, which it does not leave: its text, and its signs."""
        metrics = QFontMetrics(font)
        base = line.top() + (line.height() + metrics.ascent() - metrics.descent()) / 2
        left = float(line.left())
        for is_mark, run in groupby(self._fitting(text, font, line.width()), MARKS.__contains__):
            signs = "".join(run)
            painter.setPen(QPen(colours[is_mark], _PEN_PX, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
            if not is_mark:
                left += self.write(painter, font, signs, line, left=left)
                continue
            for sign in signs:
                for shape in _SHAPES[sign]:
                    painter.drawPolyline(QPolygonF([QPointF(left + x, base + y) for x, y in shape]))
                left += _MARK_PX

    def _fitting(self, text: str, font: QFont, room: int) -> str:
        """Return a text, or as much of it as fits with … at its end."""
        key = (text, font.key(), room)
        if key not in self._cut:
            if len(self._cut) > _MOST_LAID:
                self._cut.clear()
            metrics = QFontMetrics(font)
            shown = text[:_MOST_SHOWN]
            while shown and _width(shown if shown == text else shown + _ELLIPSIS, metrics) > room:
                shown = shown[:-1]
            self._cut[key] = text if shown == text else shown + _ELLIPSIS
        return self._cut[key]

    def _laid_out(self, text: str, font: QFont) -> QStaticText:
        key = (text, font.key())
        laid = self._laid.get(key)
        if laid is None:
            if len(self._laid) > _MOST_LAID:
                self._laid.clear()
            laid = self._laid[key] = QStaticText(text)
            laid.setTextFormat(Qt.TextFormat.PlainText)
            laid.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            laid.prepare(font=font)
        return laid


def _width(text: str, metrics: QFontMetrics) -> int:
    marks = sum(each in MARKS for each in text)
    words = "".join(each for each in text if each not in MARKS)
    return metrics.horizontalAdvance(words) + marks * _MARK_PX
