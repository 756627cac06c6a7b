"""Paints the tick of an item over its box, which the style sheet draws: both can be seen in every theme."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, Qt
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui import theme
from app.gui.widgets.tick_box import LINE_PX, TICK

DASH = ((0.25, 0.5), (0.75, 0.5))
"""Of a group of which some are ticked."""


_Index = QModelIndex | QPersistentModelIndex


class TickDelegate(QStyledItemDelegate):
    """Items as the style sheet has them, with a tick."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        self.badge: Callable[[QPainter, QRect, QModelIndex | QPersistentModelIndex], None] | None = None
        """Paints what stands at the end of an item, in the room beside its text."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the item, and the tick where there is one."""
        super().paint(painter, option, index)
        self._paint_badge(painter, option, index)
        state = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole) or Qt.CheckState.Unchecked)
        if state is Qt.CheckState.Unchecked:
            return
        own = QStyleOptionViewItem(option)
        self.initStyleOption(own, index)
        box = self._view.style().subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, own, self._view)
        pen = QPen(self._view.palette().color(QPalette.ColorGroup.Active, QPalette.ColorRole.BrightText), LINE_PX)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        corners = TICK if state is Qt.CheckState.Checked else DASH
        painter.drawPolyline([QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in corners])
        painter.restore()

    def _paint_badge(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        if self.badge is None:
            return
        own = QStyleOptionViewItem(option)
        self.initStyleOption(own, index)
        text = self._view.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, own, self._view)
        wide = own.fontMetrics.horizontalAdvance(own.text) + theme.SPACE_L
        is_turned = self._view.layoutDirection() is Qt.LayoutDirection.RightToLeft
        place = text.adjusted(0, 0, -wide, 0) if is_turned else text.adjusted(wide, 0, -theme.SPACE_XS, 0)
        painter.save()
        painter.setFont(own.font)
        painter.setPen(self._view.palette().color(QPalette.ColorRole.Text))
        self.badge(painter, place, index)
        painter.restore()
