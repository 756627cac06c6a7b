"""Paints one token of an answer: its tint and line, what it says, and the sign of one that somebody chose.

Knows no widget; whoever paints says where.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.gui import theme
from app.gui.inside.shades import LINES_PX, Colouring, Shade, step_of
from app.gui.widgets.token_words import LINE_END
from app.services.inspection import FORCED, InspectedAnswer

_CHOSEN_PX = 3.5
"""Half the width of the sign of a token that somebody chose."""


class RowPainter:
    """Paints the tokens of an answer in the colours of a theme."""

    def __init__(
        self, look: theme.Theme, ramp: Sequence[Shade], answer: InspectedAnswer, colouring: Colouring
    ) -> None:
        self._text, self._muted, self._chosen = (look.colour(name) for name in ("text", "muted", "stage_sampling"))
        self._ramp = ramp
        self._answer = answer
        self._colouring = colouring

    def paint(self, painter: QPainter, box: QRectF, token: int, said: str) -> None:
        """Paint a piece of a token."""
        step = step_of(self._colouring, self._answer, token)
        if step:
            shade, thick = self._ramp[step], LINES_PX[step]
            painter.fillRect(box, shade.ground)
            painter.fillRect(QRectF(box.left(), box.bottom() - thick, box.width(), thick), shade.line)
        elif step is None and self._colouring != "none" and not self._answer.is_pending(token):
            painter.setPen(QPen(self._muted, 1.0, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(box.left() + 1, box.bottom() - 1), QPointF(box.right() - 1, box.bottom() - 1))
        self._write(painter, box, said)
        if self._answer.flags[token] & FORCED:
            paint_chosen(painter, QPointF(box.left() + _CHOSEN_PX, box.top()), self._chosen)

    def _write(self, painter: QPainter, box: QRectF, said: str) -> None:
        """Write what a token says; a line end and what is white space alone is quiet."""
        metrics = painter.fontMetrics()
        base = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2 - 1
        words = said.removesuffix(LINE_END)
        if words and not words.isspace():
            painter.setPen(self._text)
            painter.drawText(QPointF(box.left(), base), words)
        elif words:
            painter.setPen(self._muted)
            step = box.width() / max(len(said), 1)
            for place in range(len(words)):
                painter.drawText(QPointF(box.left() + step * place, base), "·")
        if said.endswith(LINE_END):
            painter.setPen(self._muted)
            painter.drawText(QPointF(box.right() - metrics.horizontalAdvance(LINE_END), base), LINE_END)


def paint_chosen(painter: QPainter, middle: QPointF, colour: QColor) -> None:
    """Paint the sign of what somebody chose: a diamond."""
    size = _CHOSEN_PX
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    around = ((0, -size), (size, 0), (0, size), (-size, 0))
    painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in around]))
