"""What is painted over and beside the text of a lane: the shared beginning dimmed, tokens and words that differ marked.

A mark is a letter in the gutter and a line under the characters first, and a colour second. Where it is not certain which
characters are meant, the line alone is marked in the gutter, never a word.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen

from app.gui import theme
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.compare.lane_mark import BADGE_PX, lane_pen, paint_badge
from app.gui.compare.lane_text import LaneText
from app.gui.compare.mark_painting import Placed, by_line, paint_tint, paint_token, paint_underline
from app.gui.compare.marks import Marks, TokenMark
from app.gui.compare.plain_places import PlainPlaces
from app.gui.compare.what_if_lines import paint_greedy, paint_unlikely, stage_pen
from app.gui.widgets.direction import runs_right_to_left
from app.services.lane_analysis import TextSpan

DIM = 0.35
"""How much of the ground lies over the shared beginning."""
READ_NS = 3_000_000
"""A text is read for so long at a time."""
_NEAR_PX = 3


class LaneOverlay(QObject):
    """The marks of one lane."""

    pointed = Signal(object, QRect)
    """The pointer came to the mark of a token, a `TokenMark`: where that is on the screen. None where it left it."""

    token_under = Signal(object)
    """The pointer came to a token that other settings would have cut or made unlikely: its `TextSpan`."""

    def __init__(self, lane: int, text: LaneText, themes: theme.Themes) -> None:
        super().__init__(text)
        self._lane = lane
        self._text = text
        self._themes = themes
        self._marks = Marks()
        self._places: PlainPlaces | None = None
        self._shift = 0
        """How many characters of the turn's text stand before the Markdown."""
        self._read: str | None = None
        self._placed: dict[TextSpan, Placed] = {}
        self._state: tuple[object, ...] = ()
        self._pointed: TokenMark | None = None
        self._looked_at: TextSpan | None = None
        self._reading = QTimer(self)
        self._reading.setSingleShot(True)
        self._reading.timeout.connect(self._read_on)
        text.over = self._paint
        text.viewport().installEventFilter(self)

    @property
    def is_ready(self) -> bool:
        """Whether what is to be marked is marked."""
        return not self._reading.isActive()

    @property
    def marks(self) -> Marks:
        """What is marked."""
        return self._marks

    def show_marks(self, marks: Marks) -> None:
        """Mark other places."""
        if marks != self._marks:
            self._marks = marks
            self._reading.start()

    def look_at(self, span: TextSpan | None) -> None:
        """Frame the token that somebody looks at elsewhere, or none."""
        if span != self._looked_at:
            self._looked_at = span
            self._reading.start()

    @property
    def looked_at(self) -> TextSpan | None:
        """The token that is framed."""
        return self._looked_at

    def place_of(self, span: TextSpan) -> QRect:
        """Return where a token is in the viewport."""
        placed = self._place(span)
        found = placed.rects[0] if placed.rects else placed.line
        return found.translated(self._corner()).toAlignedRect()

    def reveal(self, span: TextSpan) -> None:
        """Scroll so that a token is in view."""
        place, height = self.place_of(span), self._text.viewport().height()
        if not 0 <= place.top() <= place.bottom() < height:
            bar = self._text.verticalScrollBar()
            bar.setValue(bar.value() + place.top() - height // 3)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Notice when the pointer comes to a mark or leaves it."""
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._point(self._mark_at(event.position()))
            if (span := self._span_at(event.position())) is not None:
                self.token_under.emit(span)
        elif event.type() == QEvent.Type.Leave:
            self._point(None)
        return False

    def _point(self, mark: TokenMark | None) -> None:
        if mark == self._pointed:
            return
        self._pointed = mark
        place = QRect()
        if mark is not None:
            inside = self.place_of(mark.span)
            place = QRect(self._text.viewport().mapToGlobal(inside.topLeft()), inside.size())
        self.pointed.emit(mark, place)

    @property
    def badges(self) -> list[TokenMark]:
        """What the letters in the gutter stand for: one for each line, with all lanes that part in it."""
        return by_line(self._marks.tokens, self._place)

    def _mark_at(self, point: QPointF) -> TokenMark | None:
        corner = self._corner()
        for mark in self._marks.tokens:
            around = (each.adjusted(-_NEAR_PX, 0, _NEAR_PX, 0) for each in self._place(mark.span).rects)
            if any(each.translated(corner).contains(point) for each in around):
                return mark
        if point.x() > corner.x() + _NEAR_PX:
            return None
        lines = ((mark, self._place(mark.span).line.translated(corner)) for mark in self.badges)
        return next((mark for mark, line in lines if line.top() <= point.y() <= line.bottom()), None)

    def _span_at(self, point: QPointF) -> TextSpan | None:
        """Return the token of “what if” at a place."""
        corner = self._corner()
        for spans in ([mark.span for mark in self._marks.stages], self._marks.unlikely):
            for number in self._near_view(spans, corner):
                if any(rect.translated(corner).contains(point) for rect in self._place(spans[number]).rects):
                    return spans[number]
        return None

    def _corner(self) -> QPointF:
        if not self._text.turns.blocks:
            return QPointF()
        place = self._text.places.turn(0)
        return QPointF(place.left(), place.top() + self._text.turns.blocks[0].text_top)

    def _body(self) -> ThoughtfulText | None:
        body = self._text.turns.blocks[0].body if self._text.turns.blocks else None
        return body if isinstance(body, ThoughtfulText) else None

    def _place(self, span: TextSpan) -> Placed:
        """Return where a stretch of the turn's text is seen."""
        body = self._body()
        if body is None:
            return Placed((), QRectF(), is_certain=False)
        self._look(body)
        if span not in self._placed:
            self._placed[span] = self._found(body, span)
        return self._placed[span]

    @property
    def _is_marked(self) -> bool:
        return self._marks != Marks() or self._looked_at is not None

    def read_all(self) -> None:
        """Have all marks at hand: a picture is painted once."""
        self._read_some(None)

    def _read_on(self) -> None:
        """Read some of the text, and mark it once it is read: that of several long lanes would hold up the window."""
        if self._read_some(time.perf_counter_ns() + READ_NS):
            self._text.viewport().update()
        else:
            self._reading.start()

    def _read_some(self, end_ns: int | None) -> bool:
        body = self._body()
        if body is None or not self._is_marked:
            return True
        self._look(body)
        return self._places is None or self._places.read_until(end_ns)

    def _look(self, body: ThoughtfulText) -> None:
        """Forget places where the text is another one or lies otherwise."""
        block = self._text.turns.blocks[0]
        whole = block.turn.text
        state = (len(whole), block.height, self._text.places.shape, self._themes.text_size, body.lead)
        if state != self._state:
            self._state = state
            self._placed.clear()
        if self._read != body.markdown:
            self._read = markdown = body.markdown
            self._placed.clear()
            self._shift = whole.rfind(markdown) if markdown else -1
            self._places = PlainPlaces(markdown) if self._shift >= 0 else None

    def _found(self, body: ThoughtfulText, span: TextSpan) -> Placed:
        if self._places is None or (span.end <= self._shift and span.start < self._shift):
            top, bottom = body.span_of(0)
            return Placed((), QRectF(0, top, 0, min(bottom - top, theme.reading_px(theme.READING_LINE_PX))), False)
        found = self._places.find(span.start - self._shift, span.end - self._shift)
        lead = body.lead
        rects: list[QRectF] = []
        if found.is_certain:
            for start, end in found.ranges:
                rects += body.rects(lead + start, lead + end)
        if rects:
            line = rects[0]
        elif near := body.rects(lead + found.near, lead + found.near + 1):
            line = QRectF(near[0].left(), near[0].top(), 0, near[0].height())
        elif behind := body.rects(lead + found.near - 1, lead + found.near):
            line = QRectF(behind[-1].right(), behind[-1].top(), 0, behind[-1].height())
        else:
            top, bottom = body.span_of(lead + found.near)
            line = QRectF(0, top, 0, min(bottom - top, theme.reading_px(theme.READING_LINE_PX)))
        return Placed(tuple(rects), line, found.is_certain)

    def _paint(self, painter: QPainter, area: QRect) -> None:
        """Paint everything that is marked."""
        if not self._is_marked or self._body() is None:
            return
        if not self._read_some(0):
            self._reading.start()
            return
        look, corner = self._themes.current, self._corner()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._marks.shared_end and self._marks.tokens:
            self._paint_shared(painter, look, corner)
        seen = QRectF(area)
        for span in self._marks.words:
            self._paint_word(painter, span, look, corner, seen)
        self._paint_what_if(painter, look, corner, seen)
        if self._looked_at is not None:
            painter.setPen(QPen(look.colour("accent"), 1.5))
            for rect in self._place(self._looked_at).rects:
                painter.drawRoundedRect(rect.translated(corner).adjusted(-1, -1, 1, 1), 3, 3)
        for mark in self._marks.tokens:
            is_turned = self._is_turned(mark.span)
            paint_token(painter, self._place(mark.span), mark.lanes[0], look, corner, is_turned=is_turned)
        for mark in self.badges if self._text.margin_px >= BADGE_PX else ():  # cells of a grid have no gutter
            paint_badge(painter, list(mark.lanes), self._place(mark.span).line.translated(corner).center().y(), look)
        painter.restore()

    def _paint_shared(self, painter: QPainter, look: theme.Theme, corner: QPointF) -> None:
        """Dim what is shared, and draw a dotted line beside it."""
        line = self._place(self._marks.tokens[0].span).line.translated(corner)
        width = self._text.places.shape.width
        top = corner.y()
        if look.line_px == 1:
            veil = look.colour("surface")
            veil.setAlphaF(DIM)
            painter.fillRect(QRectF(0, top, self._text.viewport().width(), line.top() - top), veil)
            before = QRectF(corner.x(), line.top(), line.left() - corner.x(), line.height())
            if self._is_turned(self._marks.tokens[0].span):
                before = QRectF(line.right(), line.top(), corner.x() + width - line.right(), line.height())
            painter.fillRect(before, veil)
        pen = QPen(look.colour("border_strong"), 1.5)
        pen.setDashPattern((1, 2))
        painter.setPen(pen)
        left = corner.x() - theme.SPACE_XS - 1
        if line.top() - BADGE_PX > top:
            painter.drawLine(QPointF(left, top + 2), QPointF(left, line.top() - 2))

    def _is_turned(self, span: TextSpan) -> bool:
        """Return whether the paragraph of a stretch runs from right to left."""
        return runs_right_to_left(self._read or "", max(span.start - self._shift, 0))

    def _paint_word(
        self, painter: QPainter, span: TextSpan, look: theme.Theme, corner: QPointF, seen: QRectF
    ) -> None:
        placed = self._place(span)
        around = [rect.translated(corner) for rect in placed.rects]
        paint_tint(painter, [rect for rect in around if rect.intersects(seen)], self._lane, look)
        painter.setPen(lane_pen(self._lane, look))
        paint_underline(painter, placed, corner, seen)

    def _paint_what_if(self, painter: QPainter, look: theme.Theme, corner: QPointF, seen: QRectF) -> None:
        """Mark what other settings would have made of tokens."""
        unlikely, stages = self._marks.unlikely, self._marks.stages
        for number in self._near_view(unlikely, corner):
            for rect in self._place(unlikely[number]).rects:
                if (around := rect.translated(corner)).intersects(seen):
                    paint_unlikely(painter, around, look)
        for number in self._near_view([mark.span for mark in stages], corner):
            painter.setPen(stage_pen(stages[number].stage, look, is_certain=stages[number].is_certain))
            paint_underline(painter, self._place(stages[number].span), corner, seen)
        if (greedy := self._marks.greedy) is not None:
            line = self._place(greedy).line.translated(corner)
            x = line.right() + 1 if self._is_turned(greedy) else line.left() - 1
            paint_greedy(painter, x, line.top() - 1, line.bottom() + 1, look)

    def _near_view(self, spans: Sequence[TextSpan], corner: QPointF) -> Iterator[int]:
        """Return which of some stretches, in the order of the text, are in view or not far from it: there are thousands."""

        def line(span: TextSpan) -> QRectF:
            return (self._placed.get(span) or self._place(span)).line

        height = self._text.viewport().height()
        top, bottom = -height / 2 - corner.y(), height * 1.5 - corner.y()
        for number in range(bisect_left(spans, top, key=lambda span: line(span).bottom()), len(spans)):
            if line(spans[number]).top() > bottom:
                return
            yield number
