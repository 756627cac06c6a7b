"""A quick start: a button with what it varies, and under that the values that the lanes get."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.gui import theme
from app.gui.widgets.words import set_hint

LEAST_PX = 132
TICK_PX, PEN_PX = 10, 2
_TICK = ((0.0, 0.5), (0.38, 0.85), (1.0, 0.1))
"""Where the tick goes, in parts of its size."""


class StartCard(QPushButton):
    """Two lines; the one whose lanes are in the list has a tick and another ground, and the keyboard's place a frame."""

    def __init__(self, name: str, title: str, values: str, hint: str, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self.setObjectName(name)
        self.setProperty("look", "start_card")
        self.setCheckable(True)
        self._title = title
        self._values = values
        self._held: QWidget | None = None
        self.setAccessibleName(title)
        self.setAccessibleDescription(values)
        set_hint(self, hint)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def hold(self, box: QWidget) -> None:
        """Show a box at the end of the card: what is chosen there belongs to this quick start."""
        self._held = box
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_S, 0)
        row.addStretch(1)
        row.addWidget(box)

    def show_values(self, values: str) -> None:
        """Show other values."""
        self._values = values
        self.setAccessibleDescription(values)
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for two lines."""
        upper, lower = QFontMetrics(theme.font(theme.BASE_PX, bold=True)), QFontMetrics(theme.font(theme.SMALL_PX))
        width = theme.scaled(LEAST_PX) + self._held_px
        return QSize(width, upper.height() + lower.height() + 2 * theme.SPACE_S + theme.SPACE_XS)

    def minimumSizeHint(self) -> QSize:
        """Take no less than is asked for."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both lines over the button of the style sheet."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        inside = self.rect().adjusted(theme.SPACE_M, theme.SPACE_S, -theme.SPACE_M, -theme.SPACE_S)
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        inside.adjust(self._held_px if is_turned else 0, 0, 0 if is_turned else -self._held_px, 0)
        lines = (
            (
                self._title,
                theme.font(theme.BASE_PX, bold=True),
                palette.buttonText().color(),
                Qt.AlignmentFlag.AlignTop,
            ),
            (
                self._values,
                theme.font(theme.SMALL_PX),
                self._themes.current.colour("muted"),
                Qt.AlignmentFlag.AlignBottom,
            ),
        )
        for text, font, colour, place in lines:
            painter.setFont(font)
            painter.setPen(colour)
            room = inside.width() - (2 * TICK_PX if self.isChecked() and place is Qt.AlignmentFlag.AlignTop else 0)
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room)
            painter.drawText(inside, Qt.AlignmentFlag.AlignLeading | place, shown)
        if self.isChecked():
            self._paint_tick(painter, inside)
        painter.end()

    @property
    def _held_px(self) -> int:
        return self._held.width() + theme.SPACE_XS if self._held is not None else 0

    def _paint_tick(self, painter: QPainter, inside: QRect) -> None:
        """Paint a tick into the upper corner at the end of the line."""
        left = inside.left() if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else inside.right() - TICK_PX
        place = QRectF(left, inside.top() + 2, TICK_PX, TICK_PX)
        pen = QPen(self._themes.current.colour("accent"), PEN_PX)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline([place.topLeft() + QPointF(across * TICK_PX, down * TICK_PX) for across, down in _TICK])
