"""Where the characters of a text in one font are seen: its parts under one another, each with paragraphs of its own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from app.gui.chat.piece import Piece, rects_in
from app.gui.chat.stack import Stack


@dataclass(slots=True)
class Part:
    """A stretch of the text that is laid out by itself."""

    start: int
    end: int
    is_exact: bool = False
    """Whether its height is measured for the width and not estimated."""
    width: float = 0.0
    """Of its longest line."""
    pieces: list[Piece] | None = None


class PlacedLines:
    """A text whose parts have their places."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._stack = Stack()

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the part goes that a character is in."""
        if not self._parts:
            return 0.0, 0.0
        index = max(bisect_right(self._parts, offset, key=lambda part: part.start) - 1, 0)
        self._stack.put(index, self._prepare(index))
        return self._stack.top(index), self._stack.top(index + 1)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line that they lie in."""
        found: list[QRectF] = []
        first = max(bisect_right(self._parts, start, key=lambda part: part.start) - 1, 0)
        for index in range(first, bisect_left(self._parts, end, key=lambda part: part.start)):
            self._stack.put(index, self._prepare(index))
            for piece in self._lines_of(index):
                if piece.start < end and start < piece.start + len(piece.text):
                    corner = QPointF(self._left(piece), self._stack.top(index) + piece.top)
                    found += [rect.translated(corner) for rect in rects_in(piece, start, end)]
        return found

    def _prepare(self, index: int) -> float:
        """Measure a part; return its height."""
        raise NotImplementedError

    def _lines_of(self, index: int) -> list[Piece]:
        """Return the paragraphs of a part in lines."""
        raise NotImplementedError

    def _left(self, piece: Piece) -> float:
        """Return how far to the right of the text's corner the lines of a paragraph are counted from."""
        raise NotImplementedError
