"""A block of code as it is painted: sunken, in the fixed font, with its language and a place to copy it.

Lines do not wrap: a block with a line that is too long is scrolled sideways, by a bar in its lower edge. While a block
is written each line is coloured by itself, then the whole.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.gui import theme
from app.gui.chat.code_font import BLOCK_PX, code_font
from app.gui.chat.code_lines import CodeLines
from app.gui.chat.leaf import BAR_KEY, Range, Spot, draw_sunken
from app.gui.chat.longest_line import LongestLine
from app.gui.chat.sideways import BAR_PX, Sideways
from app.gui.markdown.colouring import SLICE_MS, Coloured, Colouring, Lexers
from app.gui.markdown.values import Code

LINE_PX, HEAD_PX, COPY_PX = 20, 32, 24
"""Lengths that grow with the text."""
PADDING_PX = BAR_PX
"""Around the lines; where it is needed the bar lies in it, so that nothing moves when a long line comes."""
PAPER_MS = 10_000.0
"""What is on paper is not painted again: its colours are waited for."""
_UNLIMITED_PX = 1_000_000.0
translate = QCoreApplication.translate


class CodeView:
    """One block of code."""

    def __init__(self, value: Code, lexers: Lexers, *, is_open: bool, on_paper: bool = False) -> None:
        """`on_paper` wraps what is too long, and leaves out what is there to be pressed."""
        self._value = value
        self._on_paper = on_paper
        self._is_open = is_open
        self._head_px = theme.reading_px(HEAD_PX)
        self._line_px = theme.reading_px(LINE_PX)
        font = code_font(theme.reading_px(BLOCK_PX))
        self._lines = CodeLines(font, self._line_px)
        self._lines.set_text(value.code)
        self._longest = LongestLine(font)
        self._longest.add(value.code)
        self._sideways = Sideways()
        self._lexers = lexers
        self._colouring: Colouring | None = None
        self._width = 0.0
        self._height = 0.0
        self.is_unfinished = False

    @property
    def text(self) -> str:
        """The code, behind the marker of a list where it begins an item."""
        return self._value.text

    @property
    def length(self) -> int:
        """How many characters `text` has."""
        return len(self._value.place.prefix) + len(self._value.code)

    @property
    def height(self) -> float:
        """Height of the box."""
        return self._height

    @property
    def is_scrolled(self) -> bool:
        """Whether somebody scrolled it sideways."""
        return self._sideways.offset > 0

    @property
    def open_top(self) -> float:
        """Where the last line begins: a box that grows keeps what is above it."""
        return self._head_px + self._lines.open_top

    def grow(self, value: Code, *, is_open: bool) -> bool:
        """Take over code that begins with the code that is there; return whether it does."""
        same = value.language == self._value.language and value.place == self._value.place
        if not same or not value.code.startswith(self._value.code) or (is_open and not self._is_open):
            return False
        added = value.code[len(self._value.code) :]
        if self._is_open and not is_open:
            self._lines.forget_colours()
        self._value = value
        self._is_open = is_open
        if added:
            self._lines.append(added)
            self._longest.add(added)
            self._measure()
        return True

    def lay_out(self, width: float) -> None:
        """Take a width; the lines are as long as they are."""
        self._width = width
        self._lines.lay_out(max(width - 2 * PADDING_PX, 1.0) if self._on_paper else _UNLIMITED_PX)
        self._measure()

    def reach(self, top: float, bottom: float) -> float:
        """Lay out the lines between two heights; return by how much what was at the first moved down."""
        moved = self._lines.reach(top - self._head_px, bottom - self._head_px)
        self._measure()
        return moved

    def release(self) -> None:
        """Drop the lines."""
        self._lines.release()
        self._colouring = None

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the box, its head and the lines."""
        self.lay_out(self._width)
        box = QRectF(origin.x(), origin.y(), self._width, self._height)
        draw_sunken(painter, box, theme.RADIUS_CONTROL, look)
        if clip.top() < box.top() + self._head_px:
            self._draw_head(painter, origin, look)
        inner = QPointF(origin.x() + PADDING_PX, origin.y() + self._head_px)
        is_ready = self._lexers.is_ready(self._value.language)
        self.is_unfinished = not is_ready
        if is_ready and not self._is_open:
            self._colour_to(self._lines.end_above(clip.bottom() - inner.y()))
        shift = len(self._value.place.prefix)
        chosen = (selected[0] - shift, selected[1] - shift) if selected is not None else None
        colours = self._colours if is_ready else None
        if not self._sideways.is_needed:
            self._lines.draw(painter, inner, clip, look, chosen, colours)
            return
        painter.save()
        painter.setClipRect(self._seen_rect().translated(origin), Qt.ClipOperation.IntersectClip)
        inner.setX(inner.x() - self._sideways.offset)
        self._lines.draw(painter, inner, clip, look, chosen, colours)
        painter.restore()
        self._sideways.draw(painter, self._bar_rect().translated(origin), look)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        self.lay_out(self._width)
        return len(self._value.place.prefix) + self._lines.offset_at(
            x - PADDING_PX + self._sideways.offset, max(y - self._head_px, 0.0)
        )

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line, without what is scrolled out of view."""
        shift, seen = len(self._value.place.prefix), self._seen_rect()
        corner = QPointF(PADDING_PX - self._sideways.offset, self._head_px)
        found = (rect.translated(corner) & seen for rect in self._lines.rects(start - shift, end - shift))
        return [rect for rect in found if rect.width() > 0]

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll sideways until the first line of some characters is seen; return whether anything moved."""
        shift = len(self._value.place.prefix)
        places = self._lines.rects(start - shift, end - shift)
        return bool(places) and self._sideways.bring_into_view(places[0].left(), places[0].right())

    def spots(self) -> list[Spot]:
        """Return the place to copy the code, and the bar where there is one."""
        found = [Spot("copy", self._copy_rect(), self._value.code)]
        if self._sideways.is_needed:
            area = QRectF(0, 0, self._width, self._height)
            found.append(Spot("scroll", self._bar_rect(), "", BAR_KEY, area, self._sideways))
        return found

    def _measure(self) -> None:
        self._height = self._head_px + max(self._lines.height, self._line_px) + PADDING_PX
        self._sideways.fit(0.0 if self._on_paper else self._longest.width, max(self._width - 2 * PADDING_PX, 1.0))

    def _seen_rect(self) -> QRectF:
        """Return where the lines can be seen: a selection may go up to the edge of the box."""
        edge = PADDING_PX / 2
        return QRectF(edge, self._head_px, self._width - 2 * edge, self._height - self._head_px - PADDING_PX)

    def _bar_rect(self) -> QRectF:
        return QRectF(PADDING_PX, self._height - BAR_PX, max(self._width - 2 * PADDING_PX, 1.0), BAR_PX)

    def _copy_rect(self) -> QRectF:
        words = translate("CodeView", "Copy"), translate("CodeView", "Copied")
        metrics = QFontMetricsF(theme.reading_font(theme.SMALL_PX))
        width = max(metrics.horizontalAdvance(each) for each in words) + 2 * theme.SPACE_S
        height = theme.reading_px(COPY_PX)
        return QRectF(self._width - width - theme.SPACE_XS, (self._head_px - height) / 2, width, height)

    def _draw_head(self, painter: QPainter, origin: QPointF, look: theme.Theme) -> None:
        font = theme.reading_font(theme.SMALL_PX)
        painter.setFont(font)
        painter.setPen(look.colour("muted"))
        copy = self._copy_rect().translated(origin)
        if not self._on_paper:
            painter.drawText(copy, Qt.AlignmentFlag.AlignCenter, translate("CodeView", "Copy"))
        room = QRectF(
            origin.x() + PADDING_PX, origin.y(), max(copy.left() - origin.x() - 2 * PADDING_PX, 0), self._head_px
        )
        name = QFontMetricsF(font).elidedText(self._value.language, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)

    def _colour_to(self, end: int) -> None:
        if self._colouring is None:
            self._colouring = Colouring(self._value.code, self._value.language)
        self.is_unfinished = not self._colouring.reach(end, PAPER_MS if self._on_paper else SLICE_MS)

    def _colours(self, start: int, end: int) -> list[Coloured] | None:
        if self._is_open:
            return self._line_colours(start, end)
        if self._colouring is None or self._colouring.reached < end:
            return None
        return self._colouring.between(start, end)

    def _line_colours(self, start: int, end: int) -> list[Coloured] | None:
        """Return the colours of a line read by itself: right for most, and until the block is closed good enough."""
        if end >= len(self._value.code):
            return None
        line = Colouring(self._value.code[start:end], self._value.language)
        line.reach(end - start)
        return line.between(0, end - start)
