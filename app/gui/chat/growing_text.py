"""Plain text laid out in lines, made to grow at its end without laying out again what stands already.

Interprets nothing: every character is shown as it is. Knows no widget.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextOption

MAX_OPEN_LINES = 40
"""A longer last paragraph is closed at a line's start, so that growing stays cheap."""
KEPT_OPEN_LINES = 2
TAB_SPACES = 4


@dataclass
class _Piece:
    """A paragraph, or a part of a long one that begins at a line's start."""

    layout: QTextLayout
    text: str
    start: int
    top: float
    height: float
    width: float


@dataclass(frozen=True)
class Ink:
    """The colours of text and of selected text."""

    text: QColor
    selected: QColor
    selection: QColor


class GrowingText:
    """Text in one font, wrapped at a width."""

    def __init__(self, font: QFont, line_px: int) -> None:
        self._font = font
        self._line_px = line_px
        self._width = 0.0
        self._text = ""
        self._pieces: list[_Piece] = []

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    @property
    def is_laid_out(self) -> bool:
        """Whether the lines are there."""
        return bool(self._pieces)

    @property
    def height(self) -> float:
        """Height of all lines."""
        return self._pieces[-1].top + self._pieces[-1].height if self._pieces else 0.0

    @property
    def used_width(self) -> float:
        """Width of the longest line."""
        return max((piece.width for piece in self._pieces), default=0.0)

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        return self._pieces[-1].top if self._pieces else 0.0

    def set_text(self, text: str) -> None:
        """Show another text; it is laid out with `lay_out`."""
        self._text = text
        self._pieces.clear()

    def lay_out(self, width: float) -> None:
        """Make the lines for a width, unless they are there."""
        if self._pieces and width == self._width:
            return
        self._width = width
        self._pieces.clear()
        self._add(self._text, 0, 0.0)

    def release(self) -> None:
        """Drop the lines; the text stays."""
        self._pieces.clear()

    def append(self, text: str) -> None:
        """Let the text grow; only its open end is laid out again."""
        self._text += text
        if self._pieces:
            tail = self._pieces.pop()
            self._add(tail.text + text, tail.start, tail.top)

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, ink: Ink, selected: tuple[int, int] | None
    ) -> None:
        """Draw the lines that touch `clip`, with a range of characters selected."""
        painter.setPen(ink.text)
        first = bisect.bisect_right(self._pieces, clip.top() - origin.y(), key=lambda piece: piece.top) - 1
        for piece in self._pieces[max(first, 0) :]:
            if origin.y() + piece.top > clip.bottom():
                break
            ranges = _selection_in(piece, selected, ink)
            piece.layout.draw(painter, QPointF(origin.x(), origin.y() + piece.top), ranges, clip)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character that a place is at, counted from the start of the text."""
        index = bisect.bisect_right(self._pieces, y, key=lambda piece: piece.top) - 1
        if index < 0:
            return 0
        piece = self._pieces[index]
        layout = piece.layout
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            if y - piece.top < line.y() + line.height() or number == layout.lineCount() - 1:
                return piece.start + line.xToCursor(x)
        return piece.start + len(piece.text)

    def _add(self, text: str, start: int, top: float) -> None:
        paragraphs = text.split("\n")
        for number, paragraph in enumerate(paragraphs):
            piece = self._piece(paragraph, start, top)
            is_last = number == len(paragraphs) - 1
            if is_last and piece.layout.lineCount() > MAX_OPEN_LINES:
                cut = piece.layout.lineAt(piece.layout.lineCount() - KEPT_OPEN_LINES).textStart()
                closed = self._piece(paragraph[:cut], start, top)
                self._pieces.append(closed)
                piece = self._piece(paragraph[cut:], start + cut, top + closed.height)
            self._pieces.append(piece)
            start += len(paragraph) + 1
            top = piece.top + piece.height

    def _option(self) -> QTextOption:
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(QFontMetricsF(self._font).horizontalAdvance(" ") * TAB_SPACES)
        return option

    def _piece(self, text: str, start: int, top: float) -> _Piece:
        layout = QTextLayout(text, self._font)
        layout.setTextOption(self._option())
        layout.setCacheEnabled(True)
        height = width = 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self._width)
            step = max(line.height(), self._line_px)
            line.setPosition(QPointF(0, height + (step - line.height()) / 2))
            height += step
            width = max(width, line.naturalTextWidth())
        layout.endLayout()
        return _Piece(layout, text, start, top, max(height, self._line_px), width)


def _selection_in(piece: _Piece, selected: tuple[int, int] | None, ink: Ink) -> list[QTextLayout.FormatRange]:
    if selected is None:
        return []
    start = max(selected[0] - piece.start, 0)
    end = min(selected[1] - piece.start, len(piece.text))
    if start >= end:
        return []
    look = QTextCharFormat()
    look.setBackground(ink.selection)
    look.setForeground(ink.selected)
    chosen = QTextLayout.FormatRange()
    chosen.start, chosen.length, chosen.format = start, end - start, look
    return [chosen]
