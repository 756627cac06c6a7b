"""Paints the tick of an item over its box, which the style sheet draws: both can be seen in every theme."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, Qt
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.widgets.tick_box import LINE_PX, TICK

DASH = ((0.25, 0.5), (0.75, 0.5))
"""Of a group of which some are ticked."""


class TickDelegate(QStyledItemDelegate):
    """Items as the style sheet has them, with a tick."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the item, and the tick where there is one."""
        super().paint(painter, option, index)
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
