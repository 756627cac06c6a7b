"""The line icons, drawn from SVG in the colour that a widget asks for."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.system.resources import Resources

_SIZES_PX = (16, 20, 32, 40)


class Icons:
    """Icons by name; made once for each colour."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._made: dict[tuple[str, str], QIcon] = {}
        self._sources: dict[str, str] = {}

    def icon(
        self, name: str, colour: QColor, disabled: QColor | None = None, selected: QColor | None = None
    ) -> QIcon:
        """Return an icon in a colour, and in others for disabled widgets and for rows that are selected."""
        faint, marked = disabled or colour, selected or colour
        key = (name, colour.name() + faint.name() + marked.name())
        if key not in self._made:
            icon, drawing = QIcon(), self._drawing(name, colour)
            for size in _SIZES_PX:
                normal = _drawn(drawing, size)
                icon.addPixmap(normal, QIcon.Mode.Normal)
                icon.addPixmap(normal if faint == colour else _tinted(normal, faint), QIcon.Mode.Disabled)
                if marked != colour:
                    icon.addPixmap(_tinted(normal, marked), QIcon.Mode.Selected)
            self._made[key] = icon
        return self._made[key]

    def application_icon(self) -> QIcon:
        """Return the icon of the program."""
        pixmap = QPixmap()
        pixmap.loadFromData(self._resources.read_bytes("icons/tokenlight.svg"), "SVG")
        return QIcon(pixmap) if not pixmap.isNull() else QIcon()

    def pixmap(self, name: str, size: int, colour: QColor) -> QPixmap:
        """Return an icon as a picture of `size` pixels."""
        return _drawn(self._drawing(name, colour), size)

    def _drawing(self, name: str, colour: QColor) -> QSvgRenderer:
        if name not in self._sources:
            self._sources[name] = self._resources.read_text(f"icons/{name}.svg")
        return QSvgRenderer(QByteArray(self._sources[name].replace("currentColor", colour.name()).encode()))


def _drawn(drawing: QSvgRenderer, size: int) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    drawing.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


def _tinted(drawn: QPixmap, colour: QColor) -> QPixmap:
    """Return a line icon in another colour, which takes a fraction of drawing it again."""
    pixmap = QPixmap(drawn)
    painter = QPainter(pixmap)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(pixmap.rect(), colour)
    painter.end()
    return pixmap
