"""The gaps between neighbouring tokens as a line, newest on the right, with marks and figures for p50 and p95.

Painted by ourselves from the last gaps; knows nothing of where they come from and has no timer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.services.units import UNKNOWN

SLOTS = 120
HEIGHT_PX = 30
FIGURES_PX = 88
FILL_SHARE = 0.16
ROOM_ABOVE = 1.3
"""The scale reaches so far above p95; a single longer gap is cut off at the edge."""


class GapChart(QWidget):
    """A line with two marks, and their figures beside it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        stand_alone(self)
        self.setFont(theme.font(theme.SMALL_PX - 1))
        self._gaps: tuple[float, ...] = ()
        self._count = 0
        self._corners: list[QPoint] = []
        self._columns: list[QRect] = []
        self._scale = (0, 0.0)
        self._p50: float | None = None
        self._p95: float | None = None
        self._line = self._fill = self._mark = self._edge = QColor()
        self.setFixedHeight(HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def gaps(self) -> tuple[float, ...]:
        """The gaps that are shown, in ms, oldest first."""
        return self._gaps

    @property
    def top_ms(self) -> float:
        """What the upper edge stands for."""
        return _nice(ROOM_ABOVE * (self._p95 or 0.0))

    def show_gaps(self, gaps: Sequence[float], count: int, p50: float | None, p95: float | None) -> None:
        """Show the last of `count` gaps, in ms, and mark two quantiles of them."""
        shown = tuple(gaps[-SLOTS:])
        if (shown, count, p50, p95) != (self._gaps, self._count, self._p50, self._p95):
            new = count - self._count
            if not 0 <= new < len(shown) or shown[: len(shown) - new] != self._gaps[new - len(shown) :]:
                new = -1
            figures = self._figures()
            self._gaps, self._count, self._p50, self._p95 = shown, count, p50, p95
            self._add_corners(new)
            plot = self._plot()
            self.update(plot)
            if self._figures() != figures:
                self.update(self._beside(plot))

    def set_colours(self, line: QColor, mark: QColor, edge: QColor) -> None:
        """Use other colours for the line, the marks and the lower edge."""
        self._line, self._mark, self._edge = line, mark, edge
        self._fill = QColor(line)
        self._fill.setAlphaF(FILL_SHARE)
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a low chart."""
        return QSize(120, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Work out the line anew in another size."""
        super().resizeEvent(event)
        self._add_corners(-1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint edge, line and marks, and the figures where they have changed."""
        painter = QPainter(self)
        paint_ground(painter, self, event.rect())
        plot = self._plot()
        if event.rect().intersects(self._beside(plot)):
            self._paint_figures(painter, plot)
        painter.fillRect(QRect(plot.left(), plot.bottom(), plot.width(), 1), self._edge)
        if self._corners:
            self._paint_line(painter, plot)
            self._paint_mark(painter, plot, self._p50, Qt.PenStyle.DashLine)
            self._paint_mark(painter, plot, self._p95, Qt.PenStyle.DotLine)
        painter.end()

    def _plot(self) -> QRect:
        return QRect(0, 1, max(SLOTS, self.width() - FIGURES_PX), self.height() - 2)

    def _add_corners(self, new: int) -> None:
        """Keep the corners of a line of steps: sharp without smoothing, and a new gap adds two to those that stay.

        Fewer than none makes all of them anew. Places are counted from the answer's first gap; painting moves them.
        """
        plot = self._plot()
        scale = (plot.width(), self.top_ms)
        if scale != self._scale or new < 0:
            self._scale, self._corners, self._columns, new = scale, [], [], len(self._gaps)
        step, per_ms = plot.width() / SLOTS, plot.height() / self.top_ms
        for number in range(self._count - new, self._count):
            gap = self._gaps[number - self._count]
            height = max(plot.top(), round(plot.bottom() - gap * per_ms))
            left, right = round(number * step), round((number + 1) * step)
            self._corners += (QPoint(left, height), QPoint(right, height))
            self._columns.append(QRect(left, height, right - left, plot.bottom() - height))
        del self._corners[: -2 * SLOTS]
        del self._columns[:-SLOTS]

    def _paint_line(self, painter: QPainter, plot: QRect) -> None:
        """Paint the area as columns, which costs a fraction of what the same polygon does, and the line above it."""
        moved = plot.right() - self._corners[-1].x()
        painter.setClipRect(plot.adjusted(0, 0, -1, 0))
        painter.translate(moved, 0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._fill)
        painter.drawRects(self._columns)
        painter.setPen(self._line)
        painter.drawPolyline(self._corners)
        painter.translate(-moved, 0)
        painter.setClipping(False)

    def _paint_mark(self, painter: QPainter, plot: QRect, value: float | None, style: Qt.PenStyle) -> None:
        if value is not None:
            height = round(plot.bottom() - plot.height() * min(value / self.top_ms, 1.0))
            painter.setPen(QPen(self._mark, 1, style))
            painter.drawLine(plot.left(), height, plot.right(), height)

    def _beside(self, plot: QRect) -> QRect:
        return QRect(plot.right() + theme.SPACE_S, 0, FIGURES_PX - theme.SPACE_S, self.height())

    def _figures(self) -> tuple[tuple[str, str], ...]:
        named = (("p95", self._p95), ("p50", self._p50))
        return tuple((name, UNKNOWN if value is None else f"{value:.1f} ms") for name, value in named)

    def _paint_figures(self, painter: QPainter, plot: QRect) -> None:
        painter.setPen(self.palette().placeholderText().color())
        upper = self._beside(plot)
        upper.setHeight(self.height() // 2)
        for number, (name, text) in enumerate(self._figures()):
            place = upper.translated(0, number * upper.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)


def _nice(value: float) -> float:
    """Return the next of 1, 2, 3, 5, 7.5 times a power of ten, so that the scale seldom changes."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in (1, 2, 3, 5, 7.5) if step * power >= value), 10 * power)
