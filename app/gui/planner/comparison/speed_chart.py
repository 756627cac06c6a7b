"""Tokens per second against context: a line a row with its band, its letter at the end, thinner where it no longer fits."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QPolygonF

from app.gui import theme
from app.gui.planner.comparison.chart import Axes, Drawing, DrawnRow, paint_axes, paint_nothing, paint_title, plot_of
from app.gui.planner.comparison.line_marks import LETTERS, LINE_PX, line_colour, line_pen
from app.gui.planner.comparison.scales import Scale, doublings, from_zero, linear_ticks, spread
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

    def paint_at(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        """Paint axes, bands, lines and letters."""
        rows = [drawn for drawn in self.rows if drawn.row.line]
        top = paint_title(painter, place, look, self._title(), translate("PlanComparison", "tok/s each"))
        if not rows:
            paint_nothing(painter, place, look, self._nothing())
            return
        contexts = [context for drawn in rows for context, _ in drawn.row.line]
        most = max(band.high for drawn in rows for _, band in drawn.row.line)
        x = Scale(float(min(contexts)), float(max(contexts)), is_log=True)
        axes = Axes(plot_of(place, top, theme.SPACE_M + LETTER_PX), x, from_zero(most))
        paint_axes(
            painter,
            axes,
            look,
            (doublings(x), linear_ticks(axes.y)),
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
            painter.drawText(QRectF(left, y - height / 2, LETTER_PX, height), _LEFT, LETTERS[drawn.number])

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
    return f"{rate(band.value)} ({rate(band.low)}–{rate(band.high)})"
