"""The page with its lanes as a picture to hand on: all lanes, also those out of view, and nothing to press."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

from app.gui import theme
from app.gui.widgets.buttons import IconButton

MARGIN_PX = theme.SPACE_L


def picture_of(parts: list[QWidget], ground: QColor, cards: QColor) -> QImage:
    """Return widgets one below the other on `ground`; buttons are painted over in the colour of the cards they lie on."""
    pixels = [part.grab() for part in parts]
    ratio = pixels[0].devicePixelRatio()
    width = max(part.width() for part in parts) + 2 * MARGIN_PX
    height = sum(part.height() for part in parts) + (len(parts) - 1) * theme.SPACE_S + 2 * MARGIN_PX
    image = QImage(round(width * ratio), round(height * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(ground)
    painter = QPainter(image)
    top = MARGIN_PX
    for part, pixmap in zip(parts, pixels, strict=True):
        painter.drawPixmap(MARGIN_PX, top, pixmap)
        for place in _pressed(part):
            painter.fillRect(place.translated(MARGIN_PX, top), cards)
        top += part.height() + theme.SPACE_S
    painter.end()
    return image


def _pressed(part: QWidget) -> list[QRect]:
    """Return where buttons are that say nothing: those of menus, wishes and tools, but not a pin that is set."""
    kinds: tuple[type[QAbstractButton], ...] = QPushButton, IconButton
    buttons = [each for kind in kinds for each in part.findChildren(kind)]
    seen = [each for each in buttons if each.isVisibleTo(part) and not (each.isCheckable() and each.isChecked())]
    return [QRect(each.mapTo(part, QPoint()), each.size()) for each in seen]
