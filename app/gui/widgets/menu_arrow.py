"""The arrow at the end of a button that opens a menu, as on a box of choices."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QToolButton

from app.gui.widgets.arrow import DOWN, draw_arrow

ARROW_ROOM_PX = 18
"""So much wider a button is for its arrow."""


def paint_arrow(button: QToolButton) -> None:
    """Paint the arrow over a button that is painted already."""
    is_turned = button.layoutDirection() is Qt.LayoutDirection.RightToLeft
    across = ARROW_ROOM_PX * 0.8
    middle = QPointF(across if is_turned else button.width() - across, button.height() / 2)
    painter = QPainter(button)
    draw_arrow(painter, middle, button.palette().buttonText().color(), DOWN)
    painter.end()
