"""How a timeline is painted: rows with their icons and words, the ruler, bars to scale, and marks of what is left out.

What is shorter than a pixel is painted two wide; where steps are too many to be told apart their row is one band. Time
always runs from left to right. Knows no widget.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.timing.bar_words import band_words, icon_of, kind_words, row_words, text_of, tick_words
from app.gui.inside.timing.bars import ROWS, Bar, Bars, Row
from app.gui.inside.timing.pauses import STRIP_PX, paint_sign, sign_places
from app.gui.inside.timing.scale import TimeScale
from app.gui.widgets.gauge import mixed
from app.services.inspection import InspectedAnswer
from app.services.timeline_values import AnswerTimeline

RULER_PX, ROW_PX, BAR_PX, LABEL_PX, ICON_PX = 34, 30, 22, 104, 16
LEAST_PX = 2.0
SINGLE_PX = 3.0
"""Steps are painted one by one where they are at least so wide on average."""
_ROOM_PX = 4.0
"""On both sides of words in a bar."""
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
ROW_COLOURS: dict[Row, str] = {
    "waiting": "muted",
    "tokens": "stage_tokens",
    "prefill": "stage_prefill",
    "decode": "stage_decode",
    "sampling": "stage_sampling",
}


_FAINT = {"queue": 0.35, "paint": 0.35, "tokenise": 0.35}
"""Parts that lie beside others of their row are a step lighter."""


class TimelinePicture:
    """One timeline with the stretch of it that is seen."""

    def __init__(self, icons: Icons) -> None:
        self._icons = icons
        self.scale = TimeScale()
        self.bars = Bars(None)
        self.line: AnswerTimeline | None = None
        self.answer: InspectedAnswer | None = None

    @property
    def left(self) -> float:
        """Where time begins: what the rows are called stands before it."""
        return float(theme.scaled(LABEL_PX))

    @property
    def height(self) -> int:
        """How high all of it is."""
        return theme.scaled(RULER_PX) + len(ROWS) * theme.scaled(ROW_PX) + 2

    def use(self, line: AnswerTimeline | None, answer: InspectedAnswer | None) -> None:
        """Show another timeline."""
        self.line, self.answer, self.bars = line, answer, Bars(line)

    def row_at(self, y: float) -> Row | None:
        """Return the row that lies there."""
        row = int((y - theme.scaled(RULER_PX)) // theme.scaled(ROW_PX))
        return ROWS[row] if 0 <= row < len(ROWS) else None

    def rect_of(self, bar: Bar) -> QRectF:
        """Return where a bar lies."""
        left, right = self.left + self.scale.x_of(bar.start_ns), self.left + self.scale.x_of(bar.end_ns)
        top = self._top(bar.row)
        return QRectF(left, top, max(right - left, LEAST_PX), theme.scaled(BAR_PX))

    def pause_x(self, token: int) -> float:
        """Return where time is left out before a token."""
        line = self.line
        if line is None or not line.drawn_ns:
            return -1.0
        step = min(max(token - line.first, 0), len(line.drawn_ns))
        return self.left + self.scale.x_of(line.drawn_ns[max(step - 1, 0)])

    def paint(self, painter: QPainter, size: QSizeF, look: theme.Theme, chosen: Bar | None) -> None:
        """Paint everything, and a frame around the bar that is looked at."""
        for row in ROWS:
            self._paint_label(painter, look, row, size)
        painter.save()
        painter.setClipRect(QRectF(self.left - 1, 0, size.width() - self.left + 1, size.height()))
        self._paint_ruler(painter, look, size)
        self._paint_pauses(painter, look, size)  # before the bars: their words stay readable
        for bar in map(self.bars.__getitem__, self.bars.parts):
            self._paint_bar(painter, look, bar)
        self._paint_steps(painter, look)
        if chosen is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.colour("text"), 2))
            painter.drawRect(self.rect_of(chosen).adjusted(-2, -2, 2, 2))
        painter.restore()

    def _top(self, row: Row) -> float:
        pitch = theme.scaled(ROW_PX)
        return theme.scaled(RULER_PX) + ROWS.index(row) * pitch + (pitch - theme.scaled(BAR_PX)) / 2

    def _paint_label(self, painter: QPainter, look: theme.Theme, row: Row, size: QSizeF) -> None:
        pitch, icon = theme.scaled(ROW_PX), theme.scaled(ICON_PX)
        top = theme.scaled(RULER_PX) + ROWS.index(row) * pitch
        painter.fillRect(QRectF(0, top, size.width(), 1), look.colour("border"))
        pixmap = self._icons.icon(icon_of(row), look.colour(ROW_COLOURS[row])).pixmap(icon, icon)
        painter.drawPixmap(QPointF(4, top + (pitch - icon) / 2), pixmap)
        painter.setPen(look.colour("text"))
        place = QRectF(icon + 10, top, self.left - icon - 14, pitch)
        words = QFontMetricsF(painter.font()).elidedText(row_words(row), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, _LEFT, words)

    def _paint_ruler(self, painter: QPainter, look: theme.Theme, size: QSizeF) -> None:
        if self.line is None or not self.line.end_ns:
            return  # there is no time yet
        ticks, rows = self.scale.ticks(), theme.scaled(RULER_PX)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else self.scale.span_ns
        for tick in ticks:
            across = self.left + self.scale.x_of(tick)
            painter.fillRect(QRectF(across, rows - 5, 1, size.height()), look.colour("border"))
            painter.setPen(look.colour("muted"))
            place = QRectF(across + 3, 0, 120, rows - STRIP_PX - 1)
            if across + QFontMetricsF(painter.font()).horizontalAdvance(tick_words(tick, step)) + 3 <= size.width():
                painter.drawText(place, _LEFT, tick_words(tick, step))

    def _paint_bar(self, painter: QPainter, look: theme.Theme, bar: Bar) -> None:
        if bar.end_ns < self.scale.start_ns or bar.start_ns > self.scale.end_ns:
            return
        rect = self.rect_of(bar)
        colour = mixed(look.colour(ROW_COLOURS[bar.row]), look.colour("surface"), _FAINT.get(bar.kind, 0.0))
        if rect.width() > LEAST_PX + 1:
            rect.setWidth(rect.width() - 1)  # neighbours of one colour are told apart
        painter.fillRect(rect, colour)
        self._paint_words(painter, look, rect, kind_words(bar.kind))

    def _paint_steps(self, painter: QPainter, look: theme.Theme) -> None:
        line, scale = self.line, self.scale
        places = self.bars.steps_in(scale.start_ns, scale.end_ns)
        if line is None or not places:
            return
        first, last = self.bars[places[0]], self.bars[places[-1]]
        seen_px = scale.x_of(min(last.end_ns, scale.end_ns)) - scale.x_of(max(first.start_ns, scale.start_ns))
        if seen_px / len(places) < SINGLE_PX:
            self._paint_band(painter, look, first, last, len(places))
            return
        draw_ns = line.sampling_ns or 0.0
        for place in places:
            bar = self.bars[place]
            self._paint_bar_of_step(painter, look, bar)
            width = draw_ns / scale.ns_per_px
            if width >= 0.5 and bar.ns > draw_ns:
                right = self.left + scale.x_of(bar.end_ns)
                box = QRectF(right - width, self._top("sampling"), max(width, 1.0), theme.scaled(BAR_PX))
                painter.fillRect(box, look.colour("stage_sampling"))

    def _paint_bar_of_step(self, painter: QPainter, look: theme.Theme, bar: Bar) -> None:
        rect = self.rect_of(bar)
        rect.setWidth(max(rect.width() - 1, 1.0))
        painter.fillRect(rect, look.colour("stage_decode"))
        text = text_of(self.answer, bar)
        if text and text.strip():
            self._paint_words(painter, look, rect, text.strip())

    def _paint_band(self, painter: QPainter, look: theme.Theme, first: Bar, last: Bar, steps: int) -> None:
        """Paint steps that cannot be told apart as one band, with how many there are."""
        rect = self.rect_of(first)
        rect.setRight(self.left + self.scale.x_of(last.end_ns))
        painter.fillRect(rect, look.colour("stage_decode"))
        self._paint_words(painter, look, rect, band_words(steps))

    def _paint_words(self, painter: QPainter, look: theme.Theme, rect: QRectF, words: str) -> None:
        """Paint words into a bar, as far as it is seen, where all of them fit."""
        seen = QRectF(rect)
        seen.setLeft(max(rect.left(), self.left) + _ROOM_PX)
        seen.setRight(min(rect.right(), self.left + self.scale.width) - _ROOM_PX)
        if QFontMetricsF(painter.font()).horizontalAdvance(words) <= seen.width():
            painter.setPen(look.colour("surface"))
            painter.drawText(seen, _LEFT, words)

    def _paint_pauses(self, painter: QPainter, look: theme.Theme, size: QSizeF) -> None:
        if self.line is None:
            return
        top, colour = theme.scaled(RULER_PX), look.colour("text")
        places = [self.pause_x(pause.token) for pause in self.line.pauses]
        for across in sign_places(place for place in places if self.left <= place <= size.width()):
            painter.setPen(QPen(colour, 2, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(across, top), QPointF(across, size.height()))
            middle = min(across, size.width() - STRIP_PX / 2)  # whole, also behind the last token
            paint_sign(painter, QPointF(middle, top - STRIP_PX / 2), colour)
