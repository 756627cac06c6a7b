"""A line to type in with a cross at its end that empties it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from app.gui import theme

_BUTTON_PX = 20
_CROSS_PX = 8
_GAP_PX = 6


class ClearLine(QLineEdit):
    """Shows the cross as long as something is typed; it stands in the middle of the line's height at every scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clear_button = _Cross(self)
        self.clear_button.setAccessibleName(self.tr("Clear"))
        self.clear_button.setVisible(False)
        self.clear_button.clicked.connect(self._empty)
        self.textChanged.connect(self._show_cross)

    def setObjectName(self, name: str) -> None:
        """Name the cross after the line."""
        super().setObjectName(name)
        self.clear_button.setObjectName(f"{name}_clear")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the cross at the end that text runs to."""
        super().resizeEvent(event)
        side = theme.scaled(_BUTTON_PX)
        left = _GAP_PX if self.isRightToLeft() else self.width() - side - _GAP_PX
        self.clear_button.setGeometry(left, (self.height() - side) // 2, side, side)

    def _show_cross(self, text: str) -> None:
        is_shown = bool(text)
        self.clear_button.setVisible(is_shown)
        room = theme.scaled(_BUTTON_PX) if is_shown else 0
        left, right = (room, 0) if self.isRightToLeft() else (0, room)
        self.setTextMargins(left, 0, right, 0)

    def _empty(self) -> None:
        self.clear()
        self.textEdited.emit("")
        self.setFocus()


class _Cross(QAbstractButton):
    """Painted in the colour of the line's text, fainter while nobody points at it; by keys the text is selected and deleted."""

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the cross."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        colour = palette.text().color() if self.underMouse() else palette.placeholderText().color()
        painter.setPen(QPen(colour, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        half = theme.scaled(_CROSS_PX) / 2
        middle = QRectF(self.rect()).center()
        for slope in (1, -1):
            end = QPointF(half, half * slope)
            painter.drawLine(middle - end, middle + end)
        painter.end()
