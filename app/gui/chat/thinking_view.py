"""The thinking of an answer as it is painted: one line that says what it took, and unfolded its Markdown behind a bar.

Knows no widget. Its text counts as text of the answer only where it is unfolded: folded, nobody selects or copies it,
and nothing of it is read.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.core.conversation import Thinking
from app.gui import theme
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.leaf import FIRST_THOUGHT_KEY, THINK_KEY, Range, Spot
from app.gui.chat.thinking_text import ThinkingText
from app.services.units import count, seconds

HEAD_PX = 28
"""A line that is pressed is at least so high."""
CHEVRON_PX, STROKE_PX = 8, 1.5
BAR_PX, INDENT_PX = 2, 20
"""The text stands so far to the right of the bar's left edge."""
BELOW_PX = 10
"""Between the thinking and the answer."""
translate = QCoreApplication.translate


class ThinkingView(ThinkingText):
    """The thinking of one answer, above its Markdown."""

    def __init__(self, answer: AnswerText, *, is_folded: bool = True) -> None:
        """`answer` is the text that it stands above."""
        super().__init__(answer, is_folded=is_folded)
        self._width = -1.0
        self._look: theme.Theme | None = None
        self._quiet_look: theme.Theme | None = None
        self.words = ""
        """The line."""

    @property
    def height(self) -> float:
        """Height with the gap to the answer under it."""
        return theme.reading_px(HEAD_PX) + (
            0.0 if self.is_folded else self._lines_height() + theme.reading_px(BELOW_PX)
        )

    def show(self, source: str, figures: Thinking, *, is_open: bool) -> bool:
        """Show Markdown that begins with what was shown, and what it took; return whether anything looks different.

        `is_open` says that the answer is being written.
        """
        words = _words(figures, is_open=is_open)
        added = source[len(self.source) :]
        is_changed = words != self.words or (bool(added) and not self.is_folded)
        is_new = not self.source
        has_ended = self._is_open and not is_open
        self.source, self.words, self._is_open = source, words, is_open
        if self.is_folded:
            return is_changed
        if is_new:
            self._read_anew()
        elif added:
            self._read.append(added)
        if has_ended:
            self._read.finish()
        return is_changed

    def toggle_fold(self) -> None:
        """Show the text, or the line alone."""
        self.is_folded = not self.is_folded
        self._read_anew()
        self.lay_out(self._width)

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done; of a long text some more is read."""
        self._width = width
        if not self.is_folded and width >= 0:
            self._read.lay_out(max(width - _indent(), 1.0))

    def reach(self, top: float, bottom: float) -> float:
        """Lay out the lines between two heights; return by how much what was at the first moved down."""
        head = theme.reading_px(HEAD_PX)
        return 0.0 if self.is_folded else self._read.reach(top - head, bottom - head)

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the line and, unfolded, the text."""
        head = theme.reading_px(HEAD_PX)
        if clip.top() <= origin.y() + head:
            self._draw_head(painter, origin, look)
        if self.is_folded or not self.source:
            return
        top = origin.y() + head
        painter.fillRect(QRectF(origin.x(), top, BAR_PX, self._lines_height()), look.colour("border_strong"))
        self._read.draw(painter, QPointF(origin.x() + _indent(), top), clip, self._quieter(look), selected)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place; the gap under the text is its last line's."""
        y = min(y - theme.reading_px(HEAD_PX), self._read.height)
        return 0 if self.is_folded or y < 0 else self._read.offset_at(x - _indent(), y)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line; of what is folded away nothing."""
        found = [] if self.is_folded else self._read.rects(start, end)
        return [rect.translated(_indent(), theme.reading_px(HEAD_PX)) for rect in found]

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll what is wider than the text until characters are seen in it; return whether anything moved."""
        return not self.is_folded and self._read.bring_into_view(start, end)

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the block goes that a character is in."""
        head = theme.reading_px(HEAD_PX)
        if self.is_folded:
            return 0.0, float(head)
        top, bottom = self._read.span_of(offset)
        return (top + head if top else 0.0), bottom + head

    def spots(self, top: float, bottom: float) -> list[Spot]:
        """Return the line, which folds and unfolds, and the places between two heights in what is unfolded."""
        shows, hides = translate("ThinkingView", "Show the thinking"), translate("ThinkingView", "Hide the thinking")
        label = translate("Transcript", "Button: {words}").format(words=self.line())
        head = theme.reading_px(HEAD_PX)
        found = [Spot("think", self._head_rect(), shows if self.is_folded else hides, THINK_KEY, label=label)]
        if not self.is_folded and bottom > head:
            inside = self._read.spots(top - head, bottom - head)
            found += [_in_thinking(spot).moved(_indent(), head) for spot in inside]
        return found

    def line(self) -> str:
        """Return the line with its state, as it is read aloud."""
        said = translate("ThinkingView", "{words}, folded")
        if not self.is_folded:
            said = translate("ThinkingView", "{words}, unfolded")
        return said.format(words=self.words)

    def _lines_height(self) -> float:
        return self._read.height if self.source else 0.0

    def _quieter(self, look: theme.Theme) -> theme.Theme:
        """Return a theme whose text is muted: the same one again, for lines keep the colours of the one they know."""
        if self._look is not look or self._quiet_look is None:
            self._look = look
            self._quiet_look = look._replace(colours={**look.colours, "text": look.colours["muted"]})
        return self._quiet_look

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


def _in_thinking(spot: Spot) -> Spot:
    """Return a place with a key that none in the answer under the thinking has."""
    block, *part = spot.key
    return replace(spot, key=(FIRST_THOUGHT_KEY - block, *part))


def _indent() -> int:
    return theme.reading_px(INDENT_PX)


def _chevron_room() -> int:
    return theme.reading_px(CHEVRON_PX) + theme.SPACE_S


def _words(figures: Thinking, *, is_open: bool) -> str:
    """Return the line: what goes on or went on, how long and over how many tokens, where that is known."""
    if not figures.tokens and figures.closed:
        return translate("ThinkingView", "Thoughts")
    if not figures.tokens:
        unfinished = translate("ThinkingView", "Thinking was not finished")
        return translate("ThinkingView", "Thinking …") if is_open else unfinished
    if figures.closed:
        words = translate("ThinkingView", "Thought for {time} · {tokens}")
    elif is_open:
        words = translate("ThinkingView", "Thinking … {time} · {tokens}")
    else:
        words = translate("ThinkingView", "Thinking was not finished: {time} · {tokens}")
    tokens = (
        translate("ThinkingView", "1 token")
        if figures.tokens == 1
        else translate("ThinkingView", "{count} tokens").format(count=count(figures.tokens))
    )
    return words.format(time=seconds(figures.ms), tokens=tokens)
