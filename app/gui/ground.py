"""Widgets that paint their own ground: one that changes often is painted alone, without everything that it stands on.

They stand on cards and on the page, which have the colour of the palette's base.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget


def stand_alone(widget: QWidget) -> None:
    """Promise that a widget paints every pixel of itself, with `paint_ground` first."""
    widget.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)


def paint_ground(painter: QPainter, widget: QWidget, area: QRect | None = None) -> None:
    """Paint what a widget stands on."""
    painter.fillRect(widget.rect() if area is None else area, widget.palette().base())
