"""A line to type in with a cross at its end that empties it, and maybe an icon where it begins."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget

from app.gui import theme
from app.gui.icons import Icons

_BUTTON_PX = 20
_CROSS_PX = 8
_ICON_PX = 16
_GAP_PX = 6


class ClearLine(QLineEdit):
    """Shows the cross as long as something is typed; it stands in the middle of the line's height at every scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.searches_page = False
        """Whether it searches what is shown beside it: the key that finds goes there."""
        self.clear_button = _Cross(self)
        self.clear_button.setAccessibleName(self.tr("Clear"))
        self.clear_button.setVisible(False)
        self.clear_button.clicked.connect(self._empty)
        self._lead: _Lead | None = None
        self.textChanged.connect(self._make_room)

    def lead_with(self, icons: Icons, icon: str) -> None:
        """Show an icon before what is typed."""
        self._lead = _Lead(self, icons, icon)
        self._lead.show()
        self._make_room()

    def setObjectName(self, name: str) -> None:
        """Name the cross after the line."""
        super().setObjectName(name)
        self.clear_button.setObjectName(f"{name}_clear")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the cross at the end that text runs to."""
        super().resizeEvent(event)
        side = theme.scaled(_BUTTON_PX)
        begin, end = _GAP_PX, self.width() - side - _GAP_PX
        if self.isRightToLeft():
            begin, end = end, begin
        self.clear_button.setGeometry(end, (self.height() - side) // 2, side, side)
        if self._lead is not None:
            self._lead.setGeometry(begin, (self.height() - side) // 2, side, side)

    def _make_room(self) -> None:
        is_shown, side = bool(self.text()), theme.scaled(_BUTTON_PX)
        self.clear_button.setVisible(is_shown)
        before, behind = side if self._lead is not None else 0, side if is_shown else 0
        left, right = (behind, before) if self.isRightToLeft() else (before, behind)
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


class _Lead(QWidget):
    """The icon, in the colour of the words that say what to type."""

    def __init__(self, line: QLineEdit, icons: Icons, icon: str) -> None:
        super().__init__(line)
        self._icons = icons
        self._icon = icon
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the icon in the middle."""
        side = theme.scaled(_ICON_PX)
        place = QRect(0, 0, side, side)
        place.moveCenter(self.rect().center())
        painter = QPainter(self)
        self._icons.icon(self._icon, self.palette().placeholderText().color()).paint(painter, place)
        painter.end()
