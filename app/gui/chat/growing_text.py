"""Text in one font laid out in lines, of a long one only where somebody looks, and made to grow at its end.

Interprets nothing: every character is shown as it is. Colours of parts of it are handed in. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout

from app.gui import theme
from app.gui.chat.leaf import Range
from app.gui.chat.piece import Piece, Setting, laid_out
from app.gui.chat.placed_lines import Part, PlacedLines
from app.gui.chat.text_cuts import cuts
from app.gui.markdown.colouring import Coloured
from app.gui.widgets.code_units import characters, units
from app.gui.widgets.direction import runs_right_to_left

WHOLE_CHARACTERS = 4000
"""A text up to this length is laid out at once; of a longer one the height is estimated where nobody looked."""
KEPT_PARTS = 12
"""Parts on both sides of what is in view that keep their lines."""
_SAMPLE = 400


Colours = Callable[[int, int], list[Coloured] | None]
"""Gives the colours of a stretch of the text, counted from its start; None while they are not known."""


class GrowingText(PlacedLines):
    """Text in one font, wrapped at a width; of prose each paragraph begins at the side that it runs from."""

    def __init__(self, font: QFont, line_px: int, *, is_prose: bool = False) -> None:
        super().__init__()
        self._font = font
        self._line_px = line_px
        self._is_prose = is_prose
        self.least_width = 0.0
        """The right edge of text that runs from there lies no further left than this."""
        self._width = 0.0
        self._text = ""
        self._advance = 0.0
        """Width of a character on average."""
        self._laid: set[int] = set()
        """Which parts have their lines."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    @property
    def height(self) -> float:
        """Height of all lines, estimated where nobody looked yet."""
        return self._stack.total

    @property
    def used_width(self) -> float:
        """Width of the longest line; of a long text all the width there is."""
        if len(self._text) > WHOLE_CHARACTERS:
            return self._width
        return max((part.width for part in self._parts), default=0.0)

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        if not self._parts:
            return 0.0
        pieces = self._parts[-1].pieces
        return self._stack.top(len(self._parts) - 1) + (pieces[-1].top if pieces else 0.0)

    def use_font(self, font: QFont, line_px: int) -> None:
        """Show the text in another font; it is laid out with `lay_out`."""
        self._font, self._line_px = font, line_px
        self._width, self._advance = -1.0, 0.0

    def set_text(self, text: str) -> None:
        """Show another text; it is laid out with `lay_out`."""
        self._text = text
        self._cut(0)
        self._advance = 0.0

    def lay_out(self, width: float) -> None:
        """Make the lines for a width, unless they are there; of a long text only `reach` makes them."""
        if self._parts and width == self._width:
            return
        self._width = width
        parts = self._parts or [Part(*place) for place in cuts(self._text, 0)]
        for part in self._parts:
            part.is_exact, part.pieces = False, None
        self._cut(0)
        self._add(parts)

    def reach(self, top: float, bottom: float) -> float:
        """Lay out what lies between two heights; return by how much what was at the first moved down."""
        reached = self._stack.reach(
            top, bottom, self._prepare, lambda index, _top, _end: (self._stack.height(index), 0)
        )
        self._release_but(reached.first - KEPT_PARTS, reached.end + KEPT_PARTS)
        return reached.moved

    def release(self) -> None:
        """Drop the lines; the text and the heights stay."""
        self._release_but(0, 0)

    def forget_colours(self) -> None:
        """Ask for the colours anew when the lines are next drawn."""
        for index in self._laid:
            for piece in self._parts[index].pieces or ():
                piece.look = None

    def append(self, text: str) -> None:
        """Let the text grow; only its open end is laid out again."""
        self._text += text
        if not self._parts:
            return
        tail = self._parts[-1]
        self._cut(len(self._parts) - 1)
        parts = [Part(*place) for place in cuts(self._text, tail.start)]
        if tail.pieces is not None and len(text) <= WHOLE_CHARACTERS:
            known = tail.pieces[:-1]
            for part in parts:
                end = len(self._text) if part is parts[-1] else part.end
                self._fill(part, [piece for piece in known if part.start <= piece.start < end], part is parts[-1])
        self._add(parts)

    def draw(
        self,
        painter: QPainter,
        origin: QPointF,
        clip: QRectF,
        look: theme.Theme,
        selected: Range | None,
        colours: Colours | None = None,
    ) -> None:
        """Draw the lines that touch `clip`, with a range of characters selected."""
        painter.setPen(look.colour("text"))
        for index in range(self._stack.at(clip.top() - origin.y()), len(self._parts)):
            top = origin.y() + self._stack.top(index)
            if top > clip.bottom():
                break
            pieces = self._lines_of(index)
            for number in range(len(pieces)):
                if not clip.top() - pieces[number].height <= top + pieces[number].top <= clip.bottom():
                    continue
                if colours is not None and pieces[number].look is not look:
                    pieces[number] = self._coloured(pieces[number], look, colours)
                piece = pieces[number]
                ranges = _selection_in(piece, selected, look)
                place = QPointF(origin.x() + self._left(piece), top + piece.top)
                piece.layout.draw(painter, place, ranges, clip)

    def end_above(self, y: float) -> int:
        """Return a character that no line above a height goes beyond."""
        return self._parts[self._stack.at(y)].end if self._parts else len(self._text)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character that a place is at, counted from the start of the text."""
        if not self._parts or y < 0:
            return 0
        index = self._stack.at(y)
        y -= self._stack.top(index)
        pieces = self._lines_of(index)
        piece = next((each for each in reversed(pieces) if each.top <= y), pieces[0])
        x -= self._left(piece)
        for number in range(piece.layout.lineCount()):
            line = piece.layout.lineAt(number)
            if y - piece.top < line.y() + line.height() or number == piece.layout.lineCount() - 1:
                return piece.start + characters(piece.text, int(line.xToCursor(x)))
        return piece.start + len(piece.text)

    def _cut(self, length: int) -> None:
        """Forget all but the first parts."""
        self._parts = self._parts[:length]
        self._stack.cut(length)
        self._laid = {index for index in self._laid if index < length}

    def _add(self, parts: list[Part]) -> None:
        """Put parts at the end, and lay them out where the text is short."""
        first = len(self._parts)
        self._parts += parts
        is_short = len(self._text) <= WHOLE_CHARACTERS
        for index in range(first, len(self._parts)):
            part = self._parts[index]
            if part.pieces is None and is_short:
                self._fill(part, [], index == len(self._parts) - 1)
            if part.pieces is not None:
                part.is_exact = True
                self._laid.add(index)
        self._stack.extend([_height(part.pieces) if part.pieces else self._estimate(part) for part in parts])

    def _prepare(self, index: int) -> float:
        part = self._parts[index]
        if part.is_exact:
            return self._stack.height(index)
        part.is_exact = True
        return _height(self._lines_of(index))

    def _lines_of(self, index: int) -> list[Piece]:
        part = self._parts[index]
        if part.pieces is None:
            self._laid.add(index)
            return self._fill(part, [], index == len(self._parts) - 1)
        return part.pieces

    def _fill(self, part: Part, known: list[Piece], is_last: bool) -> list[Piece]:
        """Give a part its lines, those of its first paragraphs being there already."""
        shift = known[0].top if known else 0.0
        for piece in known:
            piece.top -= shift
        pieces = list(known)
        start = pieces[-1].start + len(pieces[-1].text) + 1 if pieces else part.start
        top = _height(pieces)
        text = self._text[start : part.end]
        if start < part.end or is_last:
            for paragraph in (text if is_last else text.removesuffix("\n")).split("\n"):
                piece = self._piece(paragraph, start, top)
                pieces.append(piece)
                start += len(paragraph) + 1
                top += piece.height
        part.pieces = pieces
        part.width = max(piece.width for piece in pieces)
        return pieces

    def _estimate(self, part: Part) -> float:
        if not self._advance:
            self._advance = average_advance(self._text, self._font)
        lines = max(self._text.count("\n", part.start, part.end), 1)
        wrapped = -(-(part.end - part.start) * self._advance // (lines * self._width))
        return lines * max(wrapped, 1.0) * self._line_px

    def _release_but(self, first: int, end: int) -> None:
        """Drop the lines of the parts outside a range."""
        far = {index for index in self._laid if not first <= index < end}
        for index in far:
            self._parts[index].pieces = None
        self._laid -= far

    def _left(self, piece: Piece) -> float:
        """Return how far to the right of the text's corner the lines of a piece are counted from."""
        return max(self.used_width, self.least_width) - self._width if piece.from_right else 0.0

    def _coloured(self, piece: Piece, look: theme.Theme, colours: Colours) -> Piece:
        """Return a piece with the colours of its parts; they change nothing about where it lies."""
        stretches = colours(piece.start, piece.start + len(piece.text))
        if stretches is None:
            return piece
        formats = []
        for stretch in stretches:
            ink = QTextCharFormat()
            ink.setForeground(look.colour(stretch.token))
            formats.append(_range(piece.text, stretch.start, stretch.end, ink))
        made = self._piece(piece.text, piece.start, piece.top, formats)
        made.look = look
        return made

    def _piece(
        self, text: str, start: int, top: float, formats: list[QTextLayout.FormatRange] | None = None
    ) -> Piece:
        from_right = runs_right_to_left(self._text, start) if self._is_prose else None
        return laid_out(text, start, top, Setting(self._font, self._line_px, self._width), from_right, formats)


def _height(pieces: list[Piece]) -> float:
    return pieces[-1].top + pieces[-1].height if pieces else 0.0


def _selection_in(piece: Piece, selected: Range | None, look: theme.Theme) -> list[QTextLayout.FormatRange]:
    if selected is None:
        return []
    return selection_format((selected[0] - piece.start, selected[1] - piece.start), piece.text, look)


def selection_format(selected: Range | None, text: str, look: theme.Theme) -> list[QTextLayout.FormatRange]:
    """Return how the selected part of a text looks."""
    start, end = (max(selected[0], 0), min(selected[1], len(text))) if selected is not None else (0, 0)
    if start >= end:
        return []
    ink = QTextCharFormat()
    ink.setBackground(look.colour("accent"))
    ink.setForeground(look.colour("on_accent"))
    return [_range(text, start, end, ink)]


def _range(text: str, start: int, end: int, ink: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = units(text[:start]), units(text[start:end]), ink
    return made


def average_advance(text: str, font: QFont) -> float:
    """Return the width of a character of a text on average, from a sample of it."""
    sample = text[:: max(len(text) // _SAMPLE, 1)][: 2 * _SAMPLE].replace("\n", " ")
    return max(QFontMetricsF(font).horizontalAdvance(sample) / max(len(sample), 1), 1.0)
