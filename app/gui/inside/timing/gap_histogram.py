"""The gaps between neighbouring tokens as a histogram, with marks at p50, p95 and p99. Painted; knows no service."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.core.metrics import ItlQuantiles
from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.timing.gap_marks import name_places
from app.gui.inside.timing.gap_words import bin_words, bins_sentence, edge_words, gap_words
from app.gui.widgets.words import hint_of
from app.services.gap_bins import GapBins

HEIGHT_PX, AXIS_PX, TOP_PX = 132, 20, 40
_LEAST_PX = 2.0
_BEYOND_SHARE = 0.06
"""Of the width, for what is longer than the last bin reaches."""
_LINE_PX = 13
_APART_PX = 24
"""Between two numbers of the axis."""
_CENTRE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignHCenter
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class GapHistogram(QWidget):
    """Shows the gaps of one answer; says which bar is looked at."""

    bar_changed = Signal()
    """Another bar is looked at, or none."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("gap_histogram")
        self.setFont(theme.font(theme.SMALL_PX - 1))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.scaled(HEIGHT_PX))
        self._themes = themes
        self._bins: GapBins | None = None
        self._itl: ItlQuantiles | None = None
        self._place: int | None = None
        themes.changed.connect(self.update)
        self.show_bins(None, None)

    def show_bins(self, bins: GapBins | None, itl: ItlQuantiles | None) -> None:
        """Show other gaps, and mark their quantiles."""
        self._bins, self._itl = bins, itl
        if bins is None or (self._place is not None and self._place > len(bins.counts)):
            self._place = None
        self.setAccessibleName(bins_sentence(bins))
        self.bar_changed.emit()
        self.update()

    def sentence(self) -> str:
        """Return what is said of the bar that is looked at; nothing for none."""
        return bin_words(self._bins, self._place) if self._bins is not None and self._place is not None else ""

    def at(self, x: float) -> int | None:
        """Return which bar lies there; one more than there are is what is longer than the last one."""
        if self._bins is None:
            return None
        place = int(x / self._bar_width) if x < self._plot_width else len(self._bins.counts)
        is_there = place < len(self._bins.counts) or self._bins.beyond > 0
        return min(place, len(self._bins.counts)) if is_there else None

    def sizeHint(self) -> QSize:
        """Ask for its height."""
        return QSize(400, self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from bar to bar."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if self._bins is None or event.key() not in (*steps, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
            return
        last = len(self._bins.counts) - (0 if self._bins.beyond else 1)
        if event.key() == Qt.Key.Key_Home:
            place = 0
        elif event.key() == Qt.Key.Key_End:
            place = last
        else:
            way = steps[Qt.Key(event.key())]
            place = (self._place if self._place is not None else -1 if way > 0 else last + 1) + way
        self._look_at(min(max(place, 0), last))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the bar that was clicked."""
        self._look_at(self.at(event.position().x()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Tell the bar that is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.at(event.pos().x())
            if place is not None and self._bins is not None:
                QToolTip.showText(event.globalPos(), hint_of(bin_words(self._bins, place)), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint bars, axis and marks."""
        painter = QPainter(self)
        paint_ground(painter, self)
        look = self._themes.current
        base = self.height() - theme.scaled(AXIS_PX)
        painter.fillRect(QRectF(0, base, self.width(), 1), look.colour("border"))
        if self._bins is not None:
            self._paint_bars(painter, look, self._bins, base)
            self._paint_axis(painter, look, self._bins, base)
            self._paint_marks(painter, look, self._bins, base)
        if self.hasFocus():
            painter.setPen(QPen(look.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        painter.end()

    @property
    def _plot_width(self) -> float:
        beyond = self._bins is not None and self._bins.beyond > 0
        return self.width() * (1 - _BEYOND_SHARE) if beyond else float(self.width())

    @property
    def _bar_width(self) -> float:
        return self._plot_width / (len(self._bins.counts) if self._bins is not None else 1)

    def _look_at(self, place: int | None) -> None:
        if place != self._place:
            self._place = place
            self.setAccessibleDescription(self.sentence())
            self.bar_changed.emit()
            self.update()

    def _paint_bars(self, painter: QPainter, look: theme.Theme, bins: GapBins, base: float) -> None:
        most = max(*bins.counts, bins.beyond) or 1
        room, width = base - theme.scaled(TOP_PX), self._bar_width
        heights = [*bins.counts, bins.beyond]
        for place, counted in enumerate(heights):
            if not counted:
                continue
            height = max(counted / most * room, _LEAST_PX)
            is_beyond = place == len(bins.counts)
            left = self._plot_width + 8 if is_beyond else place * width
            wide = self.width() - left - 1 if is_beyond else max(width - 1, 1.0)
            rect = QRectF(left, base - height, wide, height)
            painter.fillRect(rect, look.colour("stage_decode"))
            if place == self._place:
                painter.setPen(QPen(look.colour("text"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(rect)

    def _paint_axis(self, painter: QPainter, look: theme.Theme, bins: GapBins, base: float) -> None:
        painter.setPen(look.colour("muted"))
        metrics = QFontMetricsF(painter.font())
        edges = [edge_words(bins.start_ms + place * bins.width_ms) for place in range(len(bins.counts))]
        widest = max(map(metrics.horizontalAdvance, edges)) + 2
        for place in range(0, len(edges), math.ceil((widest + _APART_PX) / self._bar_width)):
            left = max(place * self._bar_width - widest / 2, 0.0)
            area = QRectF(left, base + 2, widest, theme.scaled(AXIS_PX) - 2)
            if area.right() + _APART_PX <= self._plot_width:
                painter.drawText(area, _LEFT if not place else _CENTRE, edges[place])
        last = self.tr("longer") if bins.beyond else self.tr("ms")
        width = metrics.horizontalAdvance(last) + 4
        painter.drawText(QRectF(self.width() - width, base + 2, width, theme.scaled(AXIS_PX) - 2), _LEFT, last)

    def _paint_marks(self, painter: QPainter, look: theme.Theme, bins: GapBins, base: float) -> None:
        """Paint the quantiles, each with its name in a line of its own: they may lie close together."""
        if self._itl is None:
            return
        metrics, line_px = QFontMetricsF(painter.font()), theme.scaled(_LINE_PX)
        values = (self._itl.p50, self._itl.p95, self._itl.p99)
        words = [
            self.tr("{name} {value} ms").format(name=name, value=gap_words(value))
            for name, value in zip(("p50", "p95", "p99"), values, strict=True)
        ]
        shares = ((value - bins.start_ms) / (bins.end_ms - bins.start_ms) for value in values)
        across = [round(min(max(share, 0.0), 1.0) * self._plot_width) + 0.5 for share in shares]
        widths = [metrics.horizontalAdvance(each) + 4 for each in words]
        styles = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
        places = name_places(across, widths, self.width())
        for place, (row, left) in enumerate(places):
            top = row * line_px
            painter.setPen(QPen(look.colour("text"), 1, styles[place]))
            painter.drawLine(QPointF(across[place], top + 2), QPointF(across[place], base))
            painter.drawText(QRectF(left, top, widths[place], line_px), _CENTRE, words[place])
