"""The roofline: what could be got done by how many operations each byte is read for, and where prefill and decode lie."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen

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
from app.gui.planner.comparison.line_marks import LETTERS, line_pen
from app.gui.planner.comparison.scales import decade_ticks, decades, spread
from app.gui.planner.comparison.words import short_gpu
from app.gui.widgets.words import render
from app.services.plan_values import Reference, Roof, RoofDot
from app.services.units import rate

DOT_PX, LEGEND_PX = 5.0, 18
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
translate = QCoreApplication.translate


class RoofDrawing(Drawing):
    """A roof for each row, a ring for its prefill and a square for its decode."""

    def words(self) -> str:
        """Return where the dots lie."""
        said = [self._row_words(drawn, drawn.row.roof) for drawn in self.rows if drawn.row.roof is not None]
        if said and self.reference is not None:
            said.append(self._reference_words(self.reference))
        return "; ".join((self._title(), *(said or [self._nothing()])))

    def points(self, place: QRectF) -> tuple[ChartPoint, ...]:
        """Return the dots of each row."""
        axes = self._axes(place)
        if axes is None:
            return ()
        dots = [
            ChartPoint(drawn, what, axes.at(dot.intensity, dot.tflops))
            for drawn, roof in self._known
            for what, dot in _dots(roof).items()
        ]
        return tuple(sorted(dots, key=lambda point: (point.drawn.number, point.at.x())))

    def figures(self, point: ChartPoint) -> tuple[str, ...]:
        """Return how much is done for each byte, how much of what could be, and what bounds it."""
        row = point.drawn.row
        if row.roof is None or isinstance(point.what, int):
            return ()
        dot = _dots(row.roof)[point.what]
        done = {
            "prefill": translate("PlanComparison", "Prefill: {intensity} operations a byte read"),
            "decode": translate("PlanComparison", "Decode: {intensity} operations a byte read"),
        }[point.what]
        reached = translate("PlanComparison", "{tflops} TFLOPS reached; its roof there is at {roof}")
        bound = translate("PlanComparison", "Compute is what bounds it there")
        if dot.intensity < row.roof.ridge:
            bound = translate("PlanComparison", "Bandwidth is what bounds it there")
        limit = _limits().get(row.limited_by, bound)  # as the table has it, which speaks of decode
        return (
            done.format(intensity=rate(dot.intensity)),
            reached.format(tflops=rate(dot.tflops), roof=rate(row.roof.level(dot.intensity))),
            limit if point.what == "decode" else bound,
        )

    @property
    def _known(self) -> list[tuple[DrawnRow, Roof]]:
        return [(drawn, drawn.row.roof) for drawn in self.rows if drawn.row.roof is not None]

    def _axes(self, place: QRectF) -> Axes | None:
        """Return where roofs and dots lie; None where there are none."""
        roofs = [roof for _, roof in self._known]
        if not roofs:
            return None
        dots = [dot for roof in roofs for dot in _dots(roof).values()]
        if self.reference is not None:
            roofs.append(self.reference.roof)
        reached = [dot.intensity for dot in dots] + [roof.ridge for roof in roofs]
        heights = [dot.tflops for dot in dots] + [roof.peak_tflops for roof in roofs]
        x, y = decades(min(reached) / 2, max(reached) * 2), decades(min(heights) / 1.5, max(heights) * 1.2)
        return Axes(plot_of(place, plot_top(place), theme.scaled(24)), x, y)

    def paint_at(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        """Paint axes, roofs, dots and what they stand for."""
        rows, axes = self._known, self._axes(place)
        paint_title(painter, place, look, self._title(), translate("PlanComparison", "TFLOPS"))
        if axes is None:
            paint_nothing(painter, place, look, self._nothing())
            return
        self._paint_legend(painter, place, look)
        paint_axes(
            painter,
            axes,
            look,
            (decade_ticks(axes.x), decade_ticks(axes.y)),
            translate("PlanComparison", "operations a byte read"),
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.save()
        painter.setClipRect(axes.plot.adjusted(-DOT_PX, -DOT_PX, DOT_PX, DOT_PX))
        if self.reference is not None:
            self._paint_roof(painter, axes, self.reference.roof, QPen(look.colour("muted"), 1))
        for drawn, roof in rows:
            self._paint_roof(painter, axes, roof, line_pen(drawn.number, look, 1.5))
        painter.restore()
        if self.reference is not None:
            self._paint_reference(painter, axes, look, self.reference)
        for is_prefill in (True, False):
            found = [(drawn.number, roof.prefill if is_prefill else roof.decode) for drawn, roof in rows]
            self._paint_dots(
                painter, axes, look, [(number, dot) for number, dot in found if dot is not None], is_prefill
            )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_roof(self, painter: QPainter, axes: Axes, roof: Roof, pen: QPen) -> None:
        """Paint the slope from where it enters the picture, and the level behind the ridge."""
        begin = max(axes.x.low, axes.y.low / roof.level(1.0))
        painter.setPen(pen)
        painter.drawPolyline(
            [
                axes.at(begin, roof.level(begin)),
                axes.at(roof.ridge, roof.peak_tflops),
                axes.at(axes.x.high, roof.peak_tflops),
            ]
        )

    def _paint_reference(self, painter: QPainter, axes: Axes, look: theme.Theme, reference: Reference) -> None:
        """Write its name above its level."""
        painter.setFont(theme.font(theme.SMALL_PX - 1))
        painter.setPen(look.colour("muted"))
        height = QFontMetrics(painter.font()).height()
        end = axes.at(axes.x.high, reference.roof.peak_tflops)
        place = QRectF(axes.plot.left(), end.y() - height - 1, axes.plot.width(), height)
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, side, short_gpu(reference.name))

    def _paint_dots(
        self, painter: QPainter, axes: Axes, look: theme.Theme, dots: list[tuple[int, RoofDot]], is_prefill: bool
    ) -> None:
        """Paint the dots of one kind, and their letters below each other where they lie close together."""
        painter.setFont(theme.font(theme.SMALL_PX - 1, bold=True))
        height = QFontMetrics(painter.font()).height()
        at = [axes.at(dot.intensity, dot.tflops) for _, dot in dots]
        ends = axes.plot.top() + height / 2, axes.plot.bottom() - height / 2
        places = spread([each.y() for each in at], height - 1, *ends)
        left = max((each.x() for each in at), default=0.0) + DOT_PX + theme.SPACE_M
        for (number, _dot), each, y in zip(dots, at, places, strict=True):
            painter.setPen(look.colour("border_strong"))
            painter.drawLine(each, QPointF(left - 3, y))
            painter.setPen(look.colour("text"))
            painter.drawText(QRectF(left, y - height / 2, theme.scaled(16), height), _LEFT, LETTERS[number])
        for each in at:
            _paint_sign(painter, each, look, is_prefill)

    def _paint_legend(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.font(theme.SMALL_PX - 1)
        metrics = QFontMetrics(font)
        right = place.right() - theme.SPACE_S
        y = place.top() + QFontMetrics(theme.font(theme.SMALL_PX, bold=True)).height() + 2 + metrics.height() / 2
        for words, is_prefill in (
            (translate("PlanComparison", "decode"), False),
            (translate("PlanComparison", "prefill"), True),
        ):
            width = metrics.horizontalAdvance(words)
            painter.setFont(font)
            painter.setPen(look.colour("muted"))
            painter.drawText(
                QRectF(right - width, y - metrics.height() / 2, width + 2, metrics.height()), _LEFT, words
            )
            _paint_sign(painter, QPointF(right - width - theme.SPACE_S - 2, y), look, is_prefill)
            right -= width + theme.scaled(LEGEND_PX) + theme.SPACE_M

    def _row_words(self, drawn: DrawnRow, roof: Roof) -> str:
        words = translate(
            "PlanComparison",
            "{letter}, {gpu}: at most {peak} TFLOPS from {ridge} operations a byte on; prefill {prefill}, decode {decode}",
        )
        return words.format(
            letter=LETTERS[drawn.number],
            gpu=drawn.row.gpu,
            peak=rate(roof.peak_tflops),
            ridge=rate(roof.ridge),
            prefill=self._dot_words(roof.prefill),
            decode=self._dot_words(roof.decode),
        )

    def _reference_words(self, reference: Reference) -> str:
        words = translate(
            "PlanComparison", "beside them {gpu}: at most {peak} TFLOPS from {ridge} operations a byte on"
        )
        return words.format(
            gpu=reference.name, peak=rate(reference.roof.peak_tflops), ridge=rate(reference.roof.ridge)
        )

    def _dot_words(self, dot: RoofDot | None) -> str:
        if dot is None:
            return translate("PlanComparison", "unknown")
        words = translate("PlanComparison", "{tflops} TFLOPS at {intensity} operations a byte")
        return words.format(tflops=rate(dot.tflops), intensity=rate(dot.intensity))

    def _title(self) -> str:
        return translate("PlanComparison", "Roofline")

    def _nothing(self) -> str:
        reasons = [drawn.row.why_no_roof for drawn in self.rows if drawn.row.why_no_roof is not None]
        return render(reasons[0]) if reasons else translate("PlanComparison", "Nothing is known of these rows.")


def _dots(roof: Roof) -> dict[Literal["prefill", "decode"], RoofDot]:
    found: dict[Literal["prefill", "decode"], RoofDot] = {}
    if roof.decode is not None:
        found["decode"] = roof.decode
    if roof.prefill is not None:
        found["prefill"] = roof.prefill
    return found


def _limits() -> dict[str | None, str]:
    return {
        "bandwidth": translate("PlanComparison", "Limited by bandwidth"),
        "layers": translate("PlanComparison", "Limited by work per layer"),
        "compute": translate("PlanComparison", "Limited by compute"),
    }


def _paint_sign(painter: QPainter, at: QPointF, look: theme.Theme, is_prefill: bool) -> None:
    """Paint a ring for prefill and a filled square for decode."""
    painter.save()
    if is_prefill:
        painter.setPen(QPen(look.colour("stage_prefill"), 2))
        painter.setBrush(look.colour("surface"))
        painter.drawEllipse(at, DOT_PX, DOT_PX)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("stage_decode"))
        painter.drawRect(QRectF(at.x() - DOT_PX + 0.5, at.y() - DOT_PX + 0.5, 2 * DOT_PX - 1, 2 * DOT_PX - 1))
    painter.restore()
