"""Paints the rows of a comparison: a figure with its band under it, and a piece of the line that stands for a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui import theme
from app.gui.planner.comparison.line_marks import LETTERS, MARK_PX, line_pen
from app.gui.planner.comparison.row_sizes import (
    ROW_PX,
    bands,
    name_font,
    small_font,
    text_height,
    wrapping,
)
from app.gui.planner.comparison.rows_model import FIRST, GROUP_ROLE, NEED_ROLE, ROW_ROLE, SMALL_ROLE, VALUE_ROLE
from app.gui.widgets.figures_header import in_two

if TYPE_CHECKING:
    from app.gui.planner.comparison.rows_table import RowsTable

_Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RowCells(QStyledItemDelegate):
    """Paints one cell; what stands over a whole row, the table has painted by `paint_across`."""

    def __init__(self, table: RowsTable, themes: theme.Themes) -> None:
        super().__init__(table)
        self._table = table
        self._themes = themes

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """Ask for a row."""
        return QSize(70, theme.scaled(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one cell."""
        look = self._themes.current
        whole = QRect(option.rect)
        place = bands(whole, has_group=bool(index.data(GROUP_ROLE)), has_need=bool(index.data(NEED_ROLE)))
        state: QStyle.StateFlag = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place.figures.united(place.need), look.colour("selection"))
        inner = place.figures.adjusted(self._table.pad_px, 2, -self._table.pad_px, -2)
        colour = look.colour("text" if index.data(VALUE_ROLE) is not None else "muted")
        if index.column() == FIRST:
            self._paint_name(painter, self._paint_mark(painter, inner, index, look), index, look)
        else:
            self._paint_figure(painter, inner, index, (colour, look.colour("muted")))
        painter.restore()

    def paint_across(self, painter: QPainter, place: QRect, index: _Index) -> None:
        """Paint what stands over the whole width of a row: its model, and what becomes of what is wanted."""
        look, group, need = self._themes.current, str(index.data(GROUP_ROLE)), str(index.data(NEED_ROLE))
        where = bands(place, has_group=bool(group), has_need=bool(need))
        pad = self._table.pad_px
        if group:
            painter.fillRect(where.group.adjusted(0, 2, 0, -2), look.colour("sunken"))
            inner = where.group.adjusted(pad, 0, -pad, 0)
            _paint_line(painter, inner, group, theme.font(theme.BASE_PX, bold=True), look.colour("text"))
        if need:
            mark = theme.scaled(MARK_PX)
            inner = where.need.adjusted(pad + mark, -2, -pad, -2)
            if self._table.isRightToLeft():
                inner = where.need.adjusted(pad, -2, -pad - mark, -2)
            misses = need.startswith("✕")
            _paint_line(painter, inner, need, theme.font(theme.SMALL_PX), look.colour("danger" if misses else "text"))

    def _paint_name(self, painter: QPainter, place: QRect, index: _Index, look: theme.Theme) -> None:
        """Paint a name in as many lines as it needs, and what is small under it."""
        said, small = str(index.data()), str(index.data(SMALL_ROLE) or "")
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        for words, font, token in ((said, name_font(), "text"), (small, small_font(), "muted")):
            painter.setFont(font)
            painter.setPen(look.colour(token))
            painter.drawText(place, side | wrapping(words, place.width(), QFontMetrics(font)), words)
            place = place.adjusted(0, text_height(words, place.width(), font), 0, 0)

    def _paint_figure(self, painter: QPainter, place: QRect, index: _Index, colours: tuple[QColor, QColor]) -> None:
        side = index.model().headerData(index.column(), Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        align = _RIGHT if side & Qt.AlignmentFlag.AlignRight else _LEFT
        said, small = str(index.data()), str(index.data(SMALL_ROLE) or "")
        place = QRect(place.left(), place.top(), place.width(), min(place.height(), theme.scaled(ROW_PX) - 4))
        font = name_font()
        upper = place.adjusted(0, 0, 0, -place.height() // 2) if small else place
        painter.setFont(font)
        painter.setPen(colours[0])
        is_wide = not small and QFontMetrics(font).horizontalAdvance(said) > place.width()
        painter.drawText(upper, align, in_two(said, QFontMetrics(font)) if is_wide else said)
        if small:
            painter.setFont(small_font())
            painter.setPen(colours[1])
            painter.drawText(place.adjusted(0, place.height() // 2, 0, 0), align, small)

    def _paint_mark(self, painter: QPainter, place: QRect, index: _Index, look: theme.Theme) -> QRect:
        """Paint letter and line of a row that is drawn, and return the room that is left."""
        number = self._table.drawn.get(index.data(ROW_ROLE))
        room = theme.scaled(MARK_PX)
        is_turned = self._table.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if number is not None:
            left = place.right() - room if is_turned else place.left()
            half = theme.scaled(ROW_PX) // 2 - 2
            painter.setFont(theme.font(theme.SMALL_PX, bold=True))
            painter.setPen(look.colour("text"))
            painter.drawText(QRect(left, place.top(), room, half), _LEFT, LETTERS[number])
            painter.setPen(line_pen(number, look))
            middle = place.top() + half * 1.5
            painter.drawLine(QPointF(left, middle), QPointF(left + room - theme.SPACE_XS, middle))
        return place.adjusted(0, 0, -room, 0) if is_turned else place.adjusted(room, 0, 0, 0)


def _paint_line(painter: QPainter, place: QRect, text: str, font: QFont, colour: QColor) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, place.width())
    painter.drawText(place, _LEFT, shown)
