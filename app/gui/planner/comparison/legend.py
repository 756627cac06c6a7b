"""What the letters in both charts mean: of each row that is drawn its letter, its line, the model and the GPU, whole."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy

from app.gui import theme
from app.gui.planner.comparison.chart import Chart, Drawing, DrawnRow
from app.gui.planner.comparison.line_marks import LETTERS, SAMPLE_PX, line_pen
from app.gui.planner.comparison.words import short_gpu

LETTER_PX = 14
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class LegendDrawing(Drawing):
    """The rows below each other, in as many columns as there is room for."""

    def words(self) -> str:
        """Return what each letter means."""
        return "; ".join(f"{LETTERS[each.number]}: {row_name(each)}" for each in self.rows)

    def height(self, wide: float) -> int:
        """Return how high it is where it is so wide."""
        columns = self._columns(wide)
        return ceil(len(self.rows) / columns) * _line_height()

    def paint_at(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        """Paint them from the top."""
        columns = self._columns(place.width())
        lines = ceil(len(self.rows) / columns)
        wide, high = place.width() / columns, _line_height()
        for at, drawn in enumerate(self.rows):
            left, top = place.left() + at // lines * wide, place.top() + at % lines * high
            self._paint_row(painter, QRectF(left, top, wide - theme.SPACE_L, high), look, drawn)

    def _columns(self, wide: float) -> int:
        widest = max((QFontMetrics(_font()).horizontalAdvance(row_name(each)) for each in self.rows), default=0)
        return max(1, min(len(self.rows), int(wide // (widest + _beside() + theme.SPACE_L))))

    def _paint_row(self, painter: QPainter, place: QRectF, look: theme.Theme, drawn: DrawnRow) -> None:
        painter.setFont(theme.font(theme.SMALL_PX, bold=True))
        painter.setPen(look.colour("text"))
        painter.drawText(place, _LEFT, LETTERS[drawn.number])
        painter.setPen(line_pen(drawn.number, look))
        left = place.left() + theme.scaled(LETTER_PX)
        painter.drawLine(
            QPointF(left, place.center().y()), QPointF(left + theme.scaled(SAMPLE_PX), place.center().y())
        )
        painter.setFont(_font())
        painter.setPen(look.colour("text"))
        inner = place.adjusted(_beside(), 0, 0, 0)
        painter.drawText(inner, _LEFT, fitted_name(drawn, QFontMetrics(_font()), inner.width()))


class Legend(Chart):
    """The same in a window, as wide as both charts."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__("plan_legend", themes, LegendDrawing)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        """Be as high as the rows are in so many columns."""
        return self.drawing.height(width)

    def sizeHint(self) -> QSize:
        """Ask for one column at least."""
        return QSize(theme.scaled(300), self.heightForWidth(max(self.width(), theme.scaled(300))))

    def minimumSizeHint(self) -> QSize:
        """Give way sideways: names that are too long are cut in the model, in the middle."""
        return QSize(theme.scaled(160), _line_height())


def row_name(drawn: DrawnRow) -> str:
    """Return what a row is called."""
    row = drawn.row
    return " · ".join(part for part in (row.model, row.shown_quantisation, short_gpu(row.gpu)) if part)


def fitted_name(drawn: DrawnRow, font: QFontMetrics, room: float) -> str:
    """Return the name as far as there is room: of the model the middle gives way, which is told in the table whole."""
    name = row_name(drawn)
    over = font.horizontalAdvance(name) - room
    if over <= 0:
        return name
    model = drawn.row.model
    side = Qt.TextElideMode.ElideMiddle
    short = font.elidedText(
        model, side, max(font.horizontalAdvance("MMMM…"), int(font.horizontalAdvance(model) - over))
    )
    return font.elidedText(short + name[len(model) :], side, int(room))


def _font() -> QFont:
    return theme.font(theme.SMALL_PX)


def _line_height() -> int:
    return QFontMetrics(_font()).height() + theme.SPACE_XS


def _beside() -> int:
    return theme.scaled(LETTER_PX) + theme.scaled(SAMPLE_PX) + theme.SPACE_S
