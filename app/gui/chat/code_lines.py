"""The lines of a block of code, with the places of the characters in them. Knows no widget."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from app.gui.chat.growing_text import GrowingText
from app.gui.chat.piece import rects_in


class CodeLines(GrowingText):
    """Text in which characters can be marked."""

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, one place for each line that they lie in; none where nobody looked."""
        found: list[QRectF] = []
        for index, part in enumerate(self._parts):
            if part.pieces is None or part.end < start or part.start >= end:
                continue
            above = self._stack.top(index)
            for piece in part.pieces:
                place = QPointF(self._left(piece), above + piece.top)
                found += [rect.translated(place) for rect in rects_in(piece, start, end)]
        return found
