"""The thinking of an answer as it is painted: one line that says what it took, and unfolded its text behind a bar.

Knows no widget. Its text counts as text of the answer only where it is unfolded: folded, nobody selects or copies it.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.core.conversation import Thinking
from app.gui import theme
from app.gui.chat.growing_text import GrowingText
from app.gui.chat.leaf import THINK_KEY, Range, Spot
from app.gui.markdown.colouring import Coloured
from app.services.units import count, seconds

TEXT_PX, LINE_PX = 14, 21
"""A little smaller than the answer."""
HEAD_PX = 28
"""A line that is pressed is at least so high."""
CHEVRON_PX, STROKE_PX = 8, 1.5
BAR_PX, INDENT_PX = 2, 20
"""The text stands so far to the right of the bar's left edge."""
BELOW_PX = 10
"""Between the thinking and the answer."""
translate = QCoreApplication.translate


class ThinkingView:
    """The thinking of one answer, above its Markdown."""

    def __init__(self, *, is_folded: bool = True) -> None:
        self.is_folded = is_folded
        """Whether only the line is shown."""
        self._lines = GrowingText(theme.reading_font(TEXT_PX), theme.reading_px(LINE_PX), is_prose=True)
        self._text = ""
        self._width = -1.0
        self.words = ""
        """The line."""

    @property
    def text(self) -> str:
        """The text that can be selected: none while it is folded."""
        return "" if self.is_folded else self._text

    @property
    def length(self) -> int:
        """How many characters `text` has."""
        return len(self.text)

    @property
    def height(self) -> float:
        """Height with the gap to the answer under it."""
        return theme.reading_px(HEAD_PX) + (
            0.0 if self.is_folded else self._lines_height() + theme.reading_px(BELOW_PX)
        )

    def show(self, text: str, figures: Thinking, *, is_open: bool) -> bool:
        """Show text that begins with what was shown, and what it took; return whether anything looks different.

        `is_open` says that the answer is being written.
        """
        words = _words(figures, is_open=is_open)
        has_grown = len(text) > len(self._text)
        is_changed = words != self.words or (has_grown and not self.is_folded)
        if has_grown and not self.is_folded:
            self._lines.append(text[len(self._text) :])
        self._text, self.words = text, words
        return is_changed

    def toggle_fold(self) -> None:
        """Show the text, or the line alone."""
        self.is_folded = not self.is_folded
        self._lines.set_text("" if self.is_folded else self._text)
        self.lay_out(self._width)

    def use_size(self) -> None:
        """Show the text in the size in force now."""
        self._lines.use_font(theme.reading_font(TEXT_PX), theme.reading_px(LINE_PX))

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done."""
        self._width = width
        if not self.is_folded and width >= 0:
            if self._lines.text != self._text:
                self._lines.set_text(self._text)
            self._lines.lay_out(max(width - _indent(), 1.0))

    def reach(self, top: float, bottom: float) -> float:
        """Lay out the lines between two heights; return by how much what was at the first moved down."""
        head = theme.reading_px(HEAD_PX)
        return 0.0 if self.is_folded else self._lines.reach(top - head, bottom - head)

    def release(self) -> None:
        """Drop the lines; the height stays."""
        self._lines.release()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the line and, unfolded, the text."""
        head = theme.reading_px(HEAD_PX)
        if clip.top() <= origin.y() + head:
            self._draw_head(painter, origin, look)
        if self.is_folded or not self._text:
            return
        top = origin.y() + head
        painter.fillRect(QRectF(origin.x(), top, BAR_PX, self._lines_height()), look.colour("border_strong"))
        self._lines.draw(painter, QPointF(origin.x() + _indent(), top), clip, look, selected, _muted)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        if self.is_folded:
            return 0
        return self._lines.offset_at(x - _indent(), y - theme.reading_px(HEAD_PX))

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the part goes that a character is in."""
        head = theme.reading_px(HEAD_PX)
        if self.is_folded:
            return 0.0, float(head)
        top, bottom = self._lines.span_of(offset)
        return (top + head if top else 0.0), bottom + head

    def spots(self) -> list[Spot]:
        """Return the line, which folds and unfolds."""
        shows, hides = translate("ThinkingView", "Show the thinking"), translate("ThinkingView", "Hide the thinking")
        label = translate("Transcript", "Button: {words}").format(words=self.line())
        return [Spot("think", self._head_rect(), shows if self.is_folded else hides, THINK_KEY, label=label)]

    def line(self) -> str:
        """Return the line with its state, as it is read aloud."""
        said = translate("ThinkingView", "{words}, folded")
        if not self.is_folded:
            said = translate("ThinkingView", "{words}, unfolded")
        return said.format(words=self.words)

    def _lines_height(self) -> float:
        return self._lines.height if self._text else 0.0

    def _head_rect(self) -> QRectF:
        width = _chevron_room() + QFontMetricsF(theme.reading_font(theme.SMALL_PX)).horizontalAdvance(self.words)
        return QRectF(0, 0, min(width + theme.SPACE_S, max(self._width, 1.0)), theme.reading_px(HEAD_PX))

    def _draw_head(self, painter: QPainter, origin: QPointF, look: theme.Theme) -> None:
        rect = self._head_rect().translated(origin)
        size = theme.reading_px(CHEVRON_PX)
        middle = QPointF(rect.left() + size / 2, rect.center().y())
        along, across = size / 4, size / 2
        offsets = [(-along, -across), (along, 0.0), (-along, across)]
        corners = [middle + (QPointF(x, y) if self.is_folded else QPointF(y, x)) for x, y in offsets]
        painter.setPen(QPen(look.colour("muted"), STROKE_PX, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(corners)
        font = theme.reading_font(theme.SMALL_PX)
        painter.setFont(font)
        painter.setPen(look.colour("muted"))
        room = QRectF(
            rect.left() + _chevron_room(), rect.top(), max(self._width - _chevron_room(), 1.0), rect.height()
        )
        words = QFontMetricsF(font).elidedText(self.words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


def _indent() -> int:
    return theme.reading_px(INDENT_PX)


def _chevron_room() -> int:
    return theme.reading_px(CHEVRON_PX) + theme.SPACE_S


def _muted(start: int, end: int) -> list[Coloured]:
    return [Coloured(0, end - start, "muted")]


def _words(figures: Thinking, *, is_open: bool) -> str:
    """Return the line: what goes on or went on, how long and over how many tokens, where that is known."""
    if not figures.tokens and figures.closed:
        return translate("ThinkingView", "Thoughts")
    if not figures.tokens:
        return (
            translate("ThinkingView", "Thinking …") if is_open else translate("ThinkingView", "Not finished thinking")
        )
    if figures.closed:
        words = translate("ThinkingView", "Thought for {time} · {tokens}")
    elif is_open:
        words = translate("ThinkingView", "Thinking … {time} · {tokens}")
    else:
        words = translate("ThinkingView", "Not finished thinking: {time} · {tokens}")
    tokens = (
        translate("ThinkingView", "1 token")
        if figures.tokens == 1
        else translate("ThinkingView", "{count} tokens").format(count=count(figures.tokens))
    )
    return words.format(time=seconds(figures.ms), tokens=tokens)
