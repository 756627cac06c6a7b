"""Tokens per second against context: a line a row with its band, its letter at the end, thinner where it no longer fits."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QPolygonF

from app.gui import theme
from app.gui.planner.comparison.chart import (
    Axes,
    ChartPoint,
    Drawing,
    DrawnRow,
    paint_axes,
    paint_nothing,
    paint_title,
    plot_of,
    plot_top,
)
from app.gui.planner.comparison.line_marks import LETTERS, LINE_PX, line_colour, line_pen
from app.gui.planner.comparison.scales import Scale, doublings, from_zero, linear_ticks, spread
from app.gui.planner.comparison.words import band_of
from app.services.plan_values import Band
from app.services.units import count, rate

BAND_ALPHA, LEAST_ALPHA, BEYOND_ALPHA = 0.3, 0.05, 0.45
LETTER_PX = 14
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
translate = QCoreApplication.translate


class SpeedDrawing(Drawing):
    """How fast each conversation is written while it grows."""

    def words(self) -> str:
        """Return the ends of each line."""
        said = [self._line_words(drawn) for drawn in self.rows if drawn.row.line]
        return "; ".join((self._title(), *(said or [self._nothing()])))

    def points(self, place: QRectF) -> tuple[ChartPoint, ...]:
        """Return a point for each context that a line knows."""
        axes = self._axes(place)
        if axes is None:
            return ()
        return tuple(
            ChartPoint(drawn, context, axes.at(context, band.value))
            for drawn in self._known
            for context, band in drawn.row.line
        )

    def figures(self, point: ChartPoint) -> tuple[str, ...]:
        """Return how fast it is with so much in the cache, and whether that much has room."""
        row = point.drawn.row
        context, band = next(each for each in row.line if each[0] == point.what)
        speed = translate("PlanComparison", "{rate} tok/s each ({band})")
        filled = translate("PlanComparison", "{context} tokens in the cache")
        said = (
            speed.format(rate=rate(band.value), band=band_of(band)),
            filled.format(context=count(context)),
        )
        if row.fits_up_to is None or context <= row.fits_up_to:
            return said
        if not row.fits_up_to:
            return *said, translate("PlanComparison", "There is no room for that.")
        beyond = translate("PlanComparison", "There is room for {context} tokens at most.")
        return *said, beyond.format(context=count(row.fits_up_to))

    @property
    def _known(self) -> list[DrawnRow]:
        return [drawn for drawn in self.rows if drawn.row.line]

    def _axes(self, place: QRectF) -> Axes | None:
        """Return where the lines lie; None where there are none."""
        lines = [drawn.row.line for drawn in self._known]
        if not lines:
            return None
        contexts = [context for line in lines for context, _ in line]
        most = max(band.high for line in lines for _, band in line)
        x = Scale(float(min(contexts)), float(max(contexts)), is_log=True)
        return Axes(plot_of(place, plot_top(place), theme.SPACE_M + theme.scaled(LETTER_PX)), x, from_zero(most))

    def paint_at(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        """Paint axes, bands, lines and letters."""
        rows, axes = self._known, self._axes(place)
        paint_title(painter, place, look, self._title(), translate("PlanComparison", "tok/s each"))
        if axes is None:
            paint_nothing(painter, place, look, self._nothing())
            return
        paint_axes(
            painter,
            axes,
            look,
            (doublings(axes.x), linear_ticks(axes.y)),
            translate("PlanComparison", "tokens in the cache"),
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for drawn in rows:
            self._paint_band(painter, axes, look, drawn)
        for drawn in rows:
            self._paint_line(painter, axes, look, drawn)
        self._paint_letters(painter, axes, look, rows)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_band(self, painter: QPainter, axes: Axes, look: theme.Theme, drawn: DrawnRow) -> None:
        line = drawn.row.line
        above = [axes.at(context, band.high) for context, band in line]
        below = [axes.at(context, band.low) for context, band in reversed(line)]
        colour = line_colour(drawn.number, look)
        colour.setAlphaF(min(0.12, max(LEAST_ALPHA, BAND_ALPHA / len(self.rows))))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([*above, *below]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_line(self, painter: QPainter, axes: Axes, look: theme.Theme, drawn: DrawnRow) -> None:
        """Paint what fits, and thinner and paler what would be beyond it."""
        line, ends = drawn.row.line, drawn.row.fits_up_to
        points = [(context, axes.at(context, band.value)) for context, band in line]
        fits = [point for context, point in points if ends is None or context <= ends]
        beyond = [point for context, point in points if ends is not None and context > ends]
        painter.setPen(line_pen(drawn.number, look))
        painter.drawPolyline(fits)
        if not beyond:
            return
        pen = line_pen(drawn.number, look, width=1.0)
        colour = pen.color()
        colour.setAlphaF(BEYOND_ALPHA)
        pen.setColor(colour)
        painter.setPen(pen)
        painter.drawPolyline([*fits[-1:], *beyond])
        if fits:
            painter.setPen(QPen(line_colour(drawn.number, look), LINE_PX))
            painter.drawLine(fits[-1] - QPointF(0, 5), fits[-1] + QPointF(0, 5))

    def _paint_letters(self, painter: QPainter, axes: Axes, look: theme.Theme, rows: list[DrawnRow]) -> None:
        """Paint the letter of each line at its end; the legend says what it means."""
        painter.setFont(theme.font(theme.SMALL_PX - 1, bold=True))
        height = QFontMetrics(painter.font()).height()
        ends = [axes.at(drawn.row.line[-1][0], drawn.row.line[-1][1].value) for drawn in rows]
        places = spread(
            [end.y() for end in ends], height, axes.plot.top() + height / 2, axes.plot.bottom() - height / 2
        )
        left = axes.plot.right() + theme.SPACE_M
        for drawn, end, y in zip(rows, ends, places, strict=True):
            painter.setPen(look.colour("border_strong"))
            painter.drawLine(end, QPointF(left - 3, y))
            painter.setPen(look.colour("text"))
            painter.drawText(
                QRectF(left, y - height / 2, theme.scaled(LETTER_PX), height), _LEFT, LETTERS[drawn.number]
            )

    def _line_words(self, drawn: DrawnRow) -> str:
        (first, fast), (last, slow) = drawn.row.line[0], drawn.row.line[-1]
        words = translate(
            "PlanComparison", "{letter}, {model} on {gpu}: {fast} tok/s at {first} tokens, {slow} at {last}"
        )
        return words.format(
            letter=LETTERS[drawn.number],
            model=drawn.row.shown_model,
            gpu=drawn.row.gpu,
            fast=_banded(fast),
            first=count(first),
            slow=_banded(slow),
            last=count(last),
        )

    def _title(self) -> str:
        return translate("PlanComparison", "Speed against context")

    def _nothing(self) -> str:
        return translate("PlanComparison", "Nothing is known of the speed of these rows.")


def _banded(band: Band) -> str:
    return f"{rate(band.value)} ({band_of(band)})"
