"""The comparison as a picture that stands alone: the answer, what it holds for, the rows, and both charts."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from app.gui import theme
from app.gui.planner.comparison.chart import Drawing

WIDE_PX, CHART_PX, SCALE, MOST_ROWS = 1180, 300, 2.0, 40
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_SHARES = (0.22, 0.14, 0.07, 0.07, 0.06, 0.07, 0.13, 0.15, 0.09)
_IS_FIGURE = (False, False, False, True, True, True, True, True, False)


class PictureTable(NamedTuple):
    """The rows in words: the headings, and of each row its letter, its cells, and what becomes of what is wanted.

    Letter and need may be empty.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...], str], ...]


def comparison_picture(
    said: tuple[str, str], table: PictureTable, charts: tuple[Drawing, Drawing], look: theme.Theme
) -> QImage:
    """Return it on the theme's ground, twice as fine as a screen; of many rows the first ones. Any thread may do so."""
    rows = table.rows[:MOST_ROWS]
    title, small = theme.font(theme.HEADING_PX, bold=True), theme.font(theme.SMALL_PX)
    inner = WIDE_PX - 2 * theme.SPACE_XL
    wrapped = QFontMetrics(title).boundingRect(0, 0, inner, 1000, Qt.TextFlag.TextWordWrap, said[0]).height()
    line = QFontMetrics(small).height() + theme.SPACE_S
    table_top = theme.SPACE_XL + wrapped + line + theme.SPACE_M
    lines = len(rows) + sum(bool(need) for _, _, need in rows) + 1
    charts_top = table_top + lines * line + theme.SPACE_XL
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
    _paint_rows(
        painter, QRectF(theme.SPACE_XL, table_top, inner, line), PictureTable(table.titles, rows), look, small
    )
    half = (inner - theme.SPACE_XL) / 2
    for place, chart in enumerate(charts):
        left = theme.SPACE_XL + place * (half + theme.SPACE_XL)
        chart.paint_at(painter, QRectF(left, charts_top, half, CHART_PX), look)
    painter.end()
    return image


def _paint_rows(painter: QPainter, first: QRectF, table: PictureTable, look: theme.Theme, font: QFont) -> None:
    lefts = [first.left() + first.width() * sum(_SHARES[:place]) for place in range(len(_SHARES))]

    def paint_line(number: int, cells: tuple[str, ...], colour: str, *, has_rule: bool) -> None:
        painter.setFont(font)
        painter.setPen(look.colour(colour))
        for place, (left, share, cell) in enumerate(zip(lefts, _SHARES, cells, strict=True)):
            room = first.width() * share - theme.SPACE_S
            shown = QFontMetrics(font).elidedText(cell, Qt.TextElideMode.ElideMiddle, round(room))
            side = _RIGHT if _IS_FIGURE[place] else _LEFT
            painter.drawText(QRectF(left, first.top() + number * first.height(), room, first.height()), side, shown)
        if has_rule:
            paint_rule(number)

    def paint_rule(number: int) -> None:
        y = first.top() + (number + 1) * first.height()
        painter.setPen(look.colour("border"))
        painter.drawLine(round(first.left()), round(y), round(first.right()), round(y))

    paint_line(0, table.titles, "muted", has_rule=True)
    number = 1
    for letter, cells, need in table.rows:
        paint_line(number, (f"{letter}  {cells[0]}".strip(), *cells[1:]), "text", has_rule=not need)
        number += 1
        if need:
            painter.setPen(look.colour("muted"))
            painter.drawText(first.translated(theme.SPACE_L, number * first.height()), _LEFT, need)
            paint_rule(number)
            number += 1
