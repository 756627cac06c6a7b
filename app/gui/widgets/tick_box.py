"""A check box whose tick can be seen on its box in every theme; the style sheet draws the box."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QStyle, QStyleOptionButton

TICK = ((0.22, 0.52), (0.42, 0.72), (0.78, 0.28))
"""The corners of a tick in a box of width 1."""
LINE_PX = 1.8


class TickBox(QCheckBox):
    """On or off."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tick over the box of the style sheet, which has none."""
        super().paintEvent(event)
        if not self.isChecked():
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        box = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Only a box that can be ticked is filled with the accent; another one is as pale as what stands around it.
        palette, group = self.palette(), QPalette.ColorGroup
        if self.isEnabled():
            colour = palette.color(group.Active, QPalette.ColorRole.BrightText)
        else:
            colour = palette.color(group.Disabled, QPalette.ColorRole.WindowText)
        pen = QPen(colour, LINE_PX)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline([QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in TICK])
        painter.end()
