"""The comparison as a picture that stands alone: the answer, what it holds for, the rows, both charts and their legend."""

from __future__ import annotations

import math
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter

from app.gui import theme
from app.gui.planner.comparison.chart import Drawing

WIDE_PX, CHART_PX, SCALE = 1180, 300, 2.0
MOST_PIXELS = 30_000_000
"""A picture of very many rows is less fine instead of hundreds of megabytes large."""
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_IS_FIGURE = (False, False, False, True, True, True, True, True, False)


class PictureTable(NamedTuple):
    """The rows in words: the headings, and of each row its letter, its cells, and what becomes of what is wanted.

    Letter and need may be empty.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...], str], ...]


def comparison_picture(
    said: tuple[str, str], table: PictureTable, drawn: tuple[Drawing, Drawing, Drawing], look: theme.Theme
) -> QImage:
    """Return it on the theme's ground with all rows, twice as fine as a screen unless they are many. Any thread may do so."""
    rows = table.rows
    title, small = theme.font(theme.HEADING_PX, bold=True), theme.font(theme.SMALL_PX)
    inner = WIDE_PX - 2 * theme.SPACE_XL
    wrapped, told = (_height(font, words, inner) for font, words in zip((title, small), said, strict=True))
    line = QFontMetrics(small).height() + theme.SPACE_S
    table_top = theme.SPACE_XL + wrapped + told + theme.SPACE_S + theme.SPACE_M
    lines = len(rows) + sum(bool(need) for _, _, need in rows) + 1
    charts_top = table_top + lines * line + theme.SPACE_XL
    *charts, legend = drawn
    legend_top = charts_top + CHART_PX + theme.SPACE_M
    height = legend_top + legend.height(inner) + theme.SPACE_XL
    scale = min(SCALE, max(1.0, math.sqrt(MOST_PIXELS / (WIDE_PX * height))))
    image = QImage(round(WIDE_PX * scale), round(height * scale), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(look.colour("surface"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setFont(title)
    painter.setPen(look.colour("text"))
    painter.drawText(QRectF(theme.SPACE_XL, theme.SPACE_XL, inner, wrapped), Qt.TextFlag.TextWordWrap, said[0])
    painter.setFont(small)
    painter.setPen(look.colour("muted"))
    under = QRectF(theme.SPACE_XL, theme.SPACE_XL + wrapped + theme.SPACE_S, inner, told)
    painter.drawText(under, Qt.TextFlag.TextWordWrap, said[1])
    _paint_rows(painter, QRectF(theme.SPACE_XL, table_top, inner, line), table, look, small)
    half = (inner - theme.SPACE_XL) / 2
    for place, chart in enumerate(charts):
        left = theme.SPACE_XL + place * (half + theme.SPACE_XL)
        chart.paint_at(painter, QRectF(left, charts_top, half, CHART_PX), look)
    legend.paint_at(painter, QRectF(theme.SPACE_XL, legend_top, inner, legend.height(inner)), look)
    painter.end()
    return image


def _height(font: QFont, words: str, wide: int) -> int:
    return QFontMetrics(font).boundingRect(0, 0, wide, 10_000, Qt.TextFlag.TextWordWrap, words).height()


def column_widths(table: PictureTable, metrics: QFontMetrics, wide: float) -> list[float]:
    """Return how wide each column is, in px, all of them together `wide`: as wide as its longest words, and alike more.

    Where that is too much, the widest columns give way first.
    """
    lines = [table.titles, *((f"{letter}  {cells[0]}", *cells[1:]) for letter, cells, _ in table.rows)]
    widths = [
        max(metrics.horizontalAdvance(cell) for cell in column) + 2.0 * theme.SPACE_S
        for column in zip(*lines, strict=True)
    ]
    while sum(widths) > wide:
        widest, *others = sorted(set(widths), reverse=True)
        equal = [place for place, each in enumerate(widths) if each == widest]
        less = min((widest - others[0]) if others else widest, (sum(widths) - wide) / len(equal))
        for place in equal:
            widths[place] -= less
    more = (wide - sum(widths)) / len(widths)
    return [each + more for each in widths]


def _paint_rows(painter: QPainter, first: QRectF, table: PictureTable, look: theme.Theme, font: QFont) -> None:
    widths = column_widths(table, QFontMetrics(font), first.width())
    lefts = [first.left() + sum(widths[:place]) for place in range(len(widths))]

    def paint_line(number: int, cells: tuple[str, ...], colour: str, *, has_rule: bool) -> None:
        painter.setFont(font)
        painter.setPen(look.colour(colour))
        for place, (left, wide, cell) in enumerate(zip(lefts, widths, cells, strict=True)):
            room = wide - theme.SPACE_S
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
