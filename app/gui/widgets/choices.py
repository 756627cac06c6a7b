"""The rows of a drop-down list: high enough to hit, with room around their text, and long ones whole on hover."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from app.gui import theme
from app.gui.widgets.words import hint_of

ROW_PX, SEPARATOR_PX = 30, 9
WIDEST_PX = 340
"""A longer choice ends in …."""
_INSET_PX = 3
_SEPARATOR = "separator"
_Index = QModelIndex | QPersistentModelIndex


class ChoiceDelegate(QStyledItemDelegate):
    """Paints the choices of a box."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Ask for a row of a size that can be hit."""
        if _is_separator(index):
            return QSize(0, SEPARATOR_PX)
        wide = QFontMetrics(option.font).horizontalAdvance(_text_of(index)) + 2 * theme.SPACE_M
        wide = min(wide, theme.scaled(WIDEST_PX)) + self.beside_px(index, option.font)
        return QSize(wide, theme.scaled(ROW_PX))

    def beside_px(self, index: _Index, font: QFont) -> int:
        """Return the room that is wanted right of a choice."""
        return 0

    def paint_beside(self, painter: QPainter, place: QRect, index: _Index, *, is_marked: bool) -> None:
        """Paint what stands there; the pen is that of the choice."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one choice, or the line between two groups."""
        palette: QPalette = option.palette
        place: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        if _is_separator(index):
            line = QRect(place.left() + theme.SPACE_S, place.center().y(), place.width() - 2 * theme.SPACE_S, 1)
            painter.fillRect(line, palette.color(QPalette.ColorRole.Mid))
            painter.restore()
            return
        role = QPalette.ColorRole.Text
        if state & QStyle.StateFlag.State_Selected:
            role = QPalette.ColorRole.HighlightedText
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Highlight))
            inner = QRectF(place).adjusted(_INSET_PX, 1, -_INSET_PX, -1)
            painter.drawRoundedRect(inner, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        group = QPalette.ColorGroup.Active if state & QStyle.StateFlag.State_Enabled else QPalette.ColorGroup.Disabled
        painter.setPen(palette.color(group, role))
        painter.setFont(option.font)
        room = _room(place)
        beside = self.beside_px(index, option.font)
        if beside:
            is_marked = role is QPalette.ColorRole.HighlightedText
            self.paint_beside(painter, room.adjusted(room.width() - beside, 0, 0, 0), index, is_marked=is_marked)
            room.setRight(room.right() - beside)
        shown = painter.fontMetrics().elidedText(_text_of(index), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.restore()

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: _Index
    ) -> bool:
        """Show a choice whole that does not fit."""
        if event.type() != QEvent.Type.ToolTip or index.data(Qt.ItemDataRole.ToolTipRole):
            return bool(super().helpEvent(event, view, option, index))
        text = _text_of(index)
        fits = QFontMetrics(option.font).horizontalAdvance(text) <= _room(option.rect).width()
        QToolTip.showText(event.globalPos(), "" if fits else hint_of(text), view)
        return True


def _room(place: QRect) -> QRect:
    return place.adjusted(theme.SPACE_M, 0, -theme.SPACE_M, 0)


def _text_of(index: _Index) -> str:
    return str(index.data() or "")


def _is_separator(index: _Index) -> bool:
    return bool(index.data(Qt.ItemDataRole.AccessibleDescriptionRole) == _SEPARATOR)
