"""The line icons, drawn from SVG in the colour that a widget asks for."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.system.resources import Resources


class LineEngine(QIconEngine):
    """Draws one icon when it is first shown in a size, so that it is sharp on any screen and costs no start."""

    def __init__(self, icons: Icons, name: str, colour: QColor, disabled: QColor) -> None:
        super().__init__()
        self._icons = icons
        self._name = name
        self._colours = (colour, disabled)

    def pixmap(self, size: QSize, mode: QIcon.Mode, _state: QIcon.State) -> QPixmap:
        """Return the icon as large as fits into `size`, in pixels of the device."""
        colour = self._colours[mode == QIcon.Mode.Disabled]
        return self._icons.drawn(self._name, min(size.width(), size.height()), colour)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the icon into a rectangle."""
        painter.drawPixmap(rect, self.pixmap(rect.size() * painter.device().devicePixelRatio(), mode, state))

    def clone(self) -> QIconEngine:
        """Return another engine of the same icon."""
        return LineEngine(self._icons, self._name, *self._colours)


class Icons:
    """Icons by name; made once for each colour."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._made: dict[tuple[str, str], QIcon] = {}
        self._drawn: dict[tuple[str, int, str], QPixmap] = {}
        self._sources: dict[str, str] = {}

    def icon(self, name: str, colour: QColor, disabled: QColor | None = None) -> QIcon:
        """Return an icon in a colour, and in another one for disabled widgets."""
        faint = disabled or colour
        key = (name, colour.name() + faint.name())
        if key not in self._made:
            self._made[key] = QIcon(LineEngine(self, name, colour, faint))
        return self._made[key]

    def drawn(self, name: str, size: int, colour: QColor) -> QPixmap:
        """Return what `pixmap` does, and keep it: what is shown is drawn again with every repaint."""
        key = (name, size, colour.name())
        if key not in self._drawn:
            self._drawn[key] = self.pixmap(name, size, colour)
        return self._drawn[key]

    def application_icon(self) -> QIcon:
        """Return the icon of the program."""
        pixmap = QPixmap()
        pixmap.loadFromData(self._resources.read_bytes("icons/tokenlight.svg"), "SVG")
        return QIcon(pixmap) if not pixmap.isNull() else QIcon()

    def pixmap(self, name: str, size: int, colour: QColor) -> QPixmap:
        """Return an icon as a picture of `size` pixels."""
        if name not in self._sources:
            self._sources[name] = self._resources.read_text(f"icons/{name}.svg")
        source = self._sources[name].replace("currentColor", colour.name())
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size, size))
        painter.end()
        return pixmap
