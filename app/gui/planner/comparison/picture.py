"""The comparison as a picture that stands alone: the answer, what it holds for, the rows, and both charts."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from app.gui import theme
from app.gui.planner.comparison.chart import Chart
from app.gui.planner.comparison.line_marks import LETTERS
from app.gui.planner.comparison.rows_model import RowsModel
from app.services.plan_export import band_words
from app.services.plan_values import ComparedRow

WIDE_PX, CHART_PX, SCALE, MOST_ROWS = 1180, 300, 2.0, 40
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_SHARES = (0.19, 0.15, 0.08, 0.07, 0.06, 0.07, 0.14, 0.15, 0.09)


def comparison_picture(
    said: tuple[str, str],
    model: RowsModel,
    drawn: dict[tuple[str, str, str], int],
    charts: tuple[Chart, Chart],
    look: theme.Theme,
) -> QImage:
    """Return it on the theme's ground, twice as fine as a screen; of many rows the first ones."""
    rows = model.rows[:MOST_ROWS]
    title, small = theme.font(theme.HEADING_PX, bold=True), theme.font(theme.SMALL_PX)
    inner = WIDE_PX - 2 * theme.SPACE_XL
    wrapped = QFontMetrics(title).boundingRect(0, 0, inner, 1000, Qt.TextFlag.TextWordWrap, said[0]).height()
    line = QFontMetrics(small).height() + theme.SPACE_S
    table_top = theme.SPACE_XL + wrapped + line + theme.SPACE_M
    charts_top = table_top + (len(rows) + 1) * line + theme.SPACE_XL
    height = charts_top + CHART_PX + theme.SPACE_XL
    image = QImage(round(WIDE_PX * SCALE), round(height * SCALE), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(look.colour("surface"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setFont(title)
    painter.setPen(look.colour("text"))
    painter.drawText(QRectF(theme.SPACE_XL, theme.SPACE_XL, inner, wrapped), Qt.TextFlag.TextWordWrap, said[0])
    painter.setFont(small)
    painter.setPen(look.colour("muted"))
    painter.drawText(QRectF(theme.SPACE_XL, theme.SPACE_XL + wrapped, inner, line), _LEFT, said[1])
    _paint_rows(painter, QRectF(theme.SPACE_XL, table_top, inner, line), model, rows, drawn, look, small)
    half = (inner - theme.SPACE_XL) / 2
    for place, chart in enumerate(charts):
        left = theme.SPACE_XL + place * (half + theme.SPACE_XL)
        chart.paint_at(painter, QRectF(left, charts_top, half, CHART_PX), look)
    painter.end()
    return image


def _paint_rows(
    painter: QPainter,
    first: QRectF,
    model: RowsModel,
    rows: list[ComparedRow],
    drawn: dict[tuple[str, str, str], int],
    look: theme.Theme,
    font: QFont,
) -> None:
    lefts = [first.left() + first.width() * sum(_SHARES[:place]) for place in range(len(_SHARES))]

    def paint_line(number: int, cells: list[str], colour: str) -> None:
        painter.setFont(font)
        painter.setPen(look.colour(colour))
        for place, (left, share, cell) in enumerate(zip(lefts, _SHARES, cells, strict=True)):
            room = first.width() * share - theme.SPACE_S
            shown = QFontMetrics(font).elidedText(cell, Qt.TextElideMode.ElideMiddle, round(room))
            side = _LEFT if place in (0, 1, 2, 8) else _RIGHT
            painter.drawText(QRectF(left, first.top() + number * first.height(), room, first.height()), side, shown)
        y = first.top() + (number + 1) * first.height()
        painter.setPen(look.colour("border"))
        painter.drawLine(round(first.left()), round(y), round(first.right()), round(y))

    titles = [str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(len(_SHARES))]
    paint_line(0, titles, "muted")
    for number, row in enumerate(rows, 1):
        letter = drawn.get(row.key)
        cells = [model.cell(row, place).words for place in range(len(_SHARES))]
        cells[0] = f"{LETTERS[letter]}  {row.shown_model}" if letter is not None else row.shown_model
        cells[6], cells[7] = band_words(row.each), band_words(row.together)
        paint_line(number, cells, "text")
