"""An answer's Markdown as it is painted: its blocks one under the other, inside their lists and quotes.

A long one is read bit by bit and laid out where somebody looks; while one grows only its open blocks are made anew.
Knows no widget.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from app.gui import theme
from app.gui.chat.around_blocks import draw_bars, draw_marker
from app.gui.chat.block_pictures import kept, made
from app.gui.chat.block_places import HEADING_GAP_PX, TIGHT_GAP_PX, estimate, gap, indent
from app.gui.chat.formula_view import FormulaView
from app.gui.chat.growing_text import WHOLE_CHARACTERS, average_advance
from app.gui.chat.laid import OLD, Laid, Pictures, text_of
from app.gui.chat.later import Later
from app.gui.chat.leaf import Leaf, Range, Spot
from app.gui.chat.placed_text import PlacedText
from app.gui.chat.text_view import TextView
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.document import Document, readable
from app.gui.markdown.values import Block

READ_MS = 4
"""A long text is read for this long at a time."""
READ_CHARACTERS = 500
KEPT_BLOCKS = 40
"""Blocks on both sides of what is in view that keep their lines."""
_WORDS = "Words of ordinary width"
_NS_PER_MS = 1_000_000


class AnswerText(PlacedText):
    """The blocks of one answer."""

    used_width = 0.0

    def __init__(
        self, lexers: Lexers, line_px: int, formulas: Formulas | None = None, pictures: Pictures = made
    ) -> None:
        """`pictures` makes the pictures of blocks."""
        super().__init__()
        self._pictures = pictures
        self._lexers = lexers
        self._formulas = formulas or Formulas()
        self._line_px = line_px
        self._is_whole = False
        self._said, self._said_blocks = "", 0
        """The text of the first blocks, which are closed, and how many they are."""
        self._width = -1.0
        self._advance = 1.0
        self.is_unfinished = False
        """Whether something in what was painted last would look better painted once more, a moment later."""
        self.changed_top = 0.0
        """From where on the text looks different since it last grew."""
        self._stays = 0.0

    def another(self, line_px: int, pictures: Pictures) -> AnswerText:
        """Return a text of its own, empty, whose code and formulas are coloured and drawn by the same."""
        return AnswerText(self._lexers, line_px, self._formulas, pictures)

    def texts(self, *, at_once: bool = False) -> Iterator[str]:
        """Return in pieces what can be read, without the marks of Markdown; none of them takes long.

        What is not read yet is read for that and not kept. With `at_once` it is one piece, also of a very long answer
        that grows, and what is not read yet has its marks.
        """
        if at_once:
            return iter([self._text_so_far() + self._unread[self._next :]])
        blocks = readable(self.source) if self.is_unread else iter([laid.value for laid in self._laid])
        return (block.place.gap + block.text for block in blocks)

    @property
    def height(self) -> float:
        """Height of all blocks, and about the height of what is not read yet."""
        rest = len(self._unread) - self._next
        if not rest:
            return self._stack.total
        line_px, read = self._line_px, self._document.length
        guess = self._stack.total / read if read > WHOLE_CHARACTERS else line_px * self._advance / max(self._width, 1)
        return self._stack.total + max(rest * guess, line_px)

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        if not len(self._stack):
            return 0.0
        first_open = min(self._document.closed, len(self._laid) - 1)
        laid = self._laid[first_open]
        is_last = first_open == len(self._laid) - 1
        return self._stack.top(first_open) + laid.gap + (laid.leaf.open_top if is_last else 0.0) - TIGHT_GAP_PX

    @property
    def is_unread(self) -> bool:
        """Whether there is more to read before all of it can be shown."""
        return self._next < len(self._unread) or (self._is_whole and not self._document.is_finished)

    def set_text(self, source: str, *, is_open: bool) -> None:
        """Show another text; `is_open` says that more of it will come."""
        self._cut(0)
        self._document = Document()
        self._said, self._said_blocks = "", 0
        self._unread, self._next = source, 0
        self._is_whole = not is_open
        self._width = -1.0

    def use_size(self, line_px: int) -> None:
        """Show the text in the size in force now; a block's picture is made anew once somebody looks at it."""
        factor, self._line_px = line_px / self._line_px, line_px
        for laid in self._laid:
            laid.width = OLD
        self._reached.clear()
        if self._is_short:
            self._width = -1.0
        else:
            self._advance *= factor
            self._stack.scale(factor**2)  # as many characters need so much more room

    def append(self, text: str) -> None:
        """Let the text grow; only its open end is read and laid out again."""
        self.changed_top, self._stays = self.open_top, 0.0
        if self.is_unread:
            self._unread += text
        else:
            self._update(self._document.append(text))
        self.changed_top += self._stays

    def finish(self) -> None:
        """Say that the text is whole."""
        self._is_whole = True
        if self._next == len(self._unread):
            self._update(self._document.finish())

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done; of a long text some more is read, and `reach` measures it."""
        before, self._width = self._width, width
        if before < 0:
            self._advance = average_advance(self._unread or _WORDS, theme.reading_font(theme.READING_PX))
            self._place(0)
        elif before != width and self._is_short:
            self._place(0)
        elif before != width:
            self._stack.scale(before / width)
        if self.is_unread:
            is_short = len(self._unread) <= WHOLE_CHARACTERS
            self._read_until(None if is_short else time.perf_counter_ns() + READ_MS * _NS_PER_MS)

    def reach(self, top: float, bottom: float) -> float:
        """Lay out what lies between two heights; return by how much what was at the first moved down."""
        reached = self._stack.reach(top, bottom, self._prepare, self._reach_inside)
        first, end = reached.first - KEPT_BLOCKS, reached.end + KEPT_BLOCKS
        far = {index for index in self._reached if not first <= index < end}
        for index in far:
            self._laid[index].leaf.release()
        self._reached -= far
        return reached.moved

    def release(self) -> None:
        """Drop the lines, and what was read of a text that is quickly read again, unless part of it is scrolled."""
        if self._is_short and self._document.is_finished and not self._is_scrolled:
            self.set_text(self.source, is_open=False)
        else:
            self.release_lines()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the blocks that touch `clip`."""
        self.is_unfinished = False
        for index in range(self._stack.at(clip.top() - origin.y()), len(self._stack)):
            laid = self._laid[index]
            top = origin.y() + self._stack.top(index) + laid.gap
            if top - HEADING_GAP_PX > clip.bottom():
                break
            self._prepare(index)
            self._draw_around(painter, origin, index, look)
            chosen = (selected[0] - laid.start, selected[1] - laid.start) if selected is not None else None
            laid.leaf.draw(painter, QPointF(origin.x() + laid.indent.left, top), clip, look, chosen)
            self.is_unfinished = self.is_unfinished or laid.leaf.is_unfinished
        if self.is_unread and origin.y() + self._stack.total < clip.bottom():
            painter.setFont(theme.reading_font(theme.READING_PX))
            painter.setPen(look.colour("muted"))
            top = max(origin.y() + self._stack.total, clip.top())
            painter.drawText(QRectF(origin.x(), top, self._width, self._line_px), Qt.AlignmentFlag.AlignVCenter, "…")

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place, counted in `text`."""
        if not self._laid:
            return 0
        index = self._stack.at(y)
        laid = self._laid[index]
        if y > self._stack.total:
            return laid.start + laid.length
        self._prepare(index)
        return laid.start + laid.leaf.offset_at(x - laid.indent.left, y - self._stack.top(index) - laid.gap)

    def spots(self, top: float, bottom: float) -> list[Spot]:
        """Return the places that do something in the blocks between two heights, in reading order."""
        found: list[Spot] = []
        for index in range(self._stack.at(top), len(self._stack)):
            laid, above = self._laid[index], self._stack.top(index)
            if above + laid.gap > bottom:
                break
            self._prepare(index)
            found += [spot.moved(laid.indent.left, above + laid.gap, index) for spot in laid.leaf.spots()]
        return found

    def _text_so_far(self) -> str:
        closed = min(self._document.closed, len(self._laid))
        if self._said_blocks < closed:
            self._said += text_of(self._laid[self._said_blocks : closed])
            self._said_blocks = closed
        return self._said + text_of(self._laid[closed:])

    @property
    def _is_short(self) -> bool:
        return self._document.length + len(self._unread) - self._next <= WHOLE_CHARACTERS

    @property
    def _is_scrolled(self) -> bool:
        """Whether somebody scrolled a block sideways."""
        return any(isinstance(laid.leaf, FormulaView | Later) and laid.leaf.is_scrolled for laid in self._laid)

    def _read_until(self, end_ns: int | None) -> None:
        """Read to a moment, or to the end."""
        first = len(self._document.blocks)
        if self._is_whole and not self._document.length and len(self._unread) <= WHOLE_CHARACTERS:
            self._document = Document(self._unread)
            self._unread = ""
        while self._next < len(self._unread):
            size = max(READ_CHARACTERS, self._document.open_length)
            end = self._next + size
            end = self._unread.find("\n", end, end + READ_CHARACTERS) + 1 or end
            first = min(first, self._document.append(self._unread[self._next : end]))
            self._next = min(end, len(self._unread))
            if end_ns is not None and time.perf_counter_ns() > end_ns:
                break
        if self._next == len(self._unread):
            self._unread, self._next = "", 0
            if self._is_whole:
                first = min(first, self._document.finish())
        self._update(first)

    def _update(self, first: int) -> None:
        """Take over the blocks that may have changed."""
        blocks, known_blocks = self._document.blocks, self._laid[first:]
        is_near = not self.is_unread and len(known_blocks) > 0 and known_blocks[-1].width == self._width
        self._cut(first)
        for index in range(first, len(blocks)):
            known = known_blocks[index - first] if index - first < len(known_blocks) else None
            before = self._laid[index - 1] if index else None
            start = (before.start + before.length if before is not None else 0) + len(blocks[index].place.gap)
            is_open = index >= self._document.closed and not self._document.is_finished
            leaf = kept(known.leaf, known.value, blocks[index], is_open=is_open) if known is not None else None
            laid = Laid(blocks[index], leaf or self._picture(blocks[index], is_open=is_open), start, 0)
            laid.length = laid.leaf.length
            if leaf is None and known is not None and isinstance(known.leaf, TextView):
                self._go_on_from(known.leaf, laid.leaf, is_first=index == first)
            if known is not None and leaf is not None:
                laid.width, laid.indent = known.width, known.indent
            self._laid.append(laid)
        if self._width >= 0:
            self._place(first, measure=is_near)

    def _picture(self, value: Block, *, is_open: bool) -> Leaf:
        return self._pictures(value, self._lexers, self._formulas, is_open=is_open)

    def _go_on_from(self, before: TextView, leaf: Leaf, *, is_first: bool) -> None:
        """Spare what a paragraph that grew has in common with what it was."""
        if isinstance(leaf, TextView):
            stays = leaf.go_on_from(before)
            self._stays = stays if is_first else self._stays

    def _cut(self, length: int) -> None:
        """Forget all but the first blocks."""
        del self._laid[length:]
        self._stack.cut(length)
        self._reached = {index for index in self._reached if index < length}

    def _place(self, first: int, *, measure: bool = False) -> None:
        """Give the blocks from one on their places, estimated or measured."""
        self._stack.cut(first)
        heights: list[float] = []
        measure = measure or self._is_short
        for index in range(first, len(self._laid)):
            laid = self._laid[index]
            laid.gap = gap(self._laid[index - 1].value if index else None, laid.value)
            if measure or laid.width == self._width:
                heights.append(self._prepare(index))
            else:
                inner = self._width - indent(laid.value, self._width).taken
                heights.append(laid.gap + estimate(laid.value, max(inner, 1.0), self._advance, self._line_px))
        self._stack.extend(heights)

    def _prepare(self, index: int) -> float:
        """Measure a block; return its height with the gap above it."""
        laid = self._laid[index]
        self._reached.add(index)
        if laid.width == OLD:
            is_open = index >= self._document.closed and not self._document.is_finished
            laid.leaf = self._picture(laid.value, is_open=is_open)
        if laid.width != self._width:
            laid.width = self._width
            laid.indent = indent(laid.value, self._width)
        laid.leaf.lay_out(max(self._width - laid.indent.taken, 1.0))
        return laid.gap + laid.leaf.height

    def _reach_inside(self, index: int, top: float, bottom: float) -> tuple[float, float]:
        laid = self._laid[index]
        moved = laid.leaf.reach(top - laid.gap, bottom - laid.gap)
        return laid.gap + laid.leaf.height, moved

    def _draw_around(self, painter: QPainter, origin: QPointF, index: int, look: theme.Theme) -> None:
        laid = self._laid[index]
        top = origin.y() + self._stack.top(index) + laid.gap
        block = QRectF(origin.x(), top, self._width, laid.leaf.height)
        before = self._laid[index - 1].value if index else None
        draw_bars(painter, block, laid.gap, laid.indent, before, look)
        draw_marker(painter, block, laid, self._line_px, look)
