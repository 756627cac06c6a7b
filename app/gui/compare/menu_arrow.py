"""The arrow at the end of a button that opens a menu, as on a box of choices."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QToolButton

ARROW_ROOM_PX = 18
"""So much wider a button is for its arrow."""
ARM_PX, PEN_PX = 4.0, 1.5


def paint_arrow(button: QToolButton) -> None:
    """Paint the arrow over a button that is painted already."""
    is_turned = button.layoutDirection() is Qt.LayoutDirection.RightToLeft
    group = QPalette.ColorGroup.Active if button.isEnabled() else QPalette.ColorGroup.Disabled
    painter = QPainter(button)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(button.palette().color(group, QPalette.ColorRole.ButtonText), PEN_PX)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    across = ARROW_ROOM_PX * 0.8
    tip = QPointF(across if is_turned else button.width() - across, button.height() / 2 + ARM_PX / 2)
    for arm in (-ARM_PX, ARM_PX):
        painter.drawLine(tip + QPointF(arm, -ARM_PX), tip)
    painter.end()
