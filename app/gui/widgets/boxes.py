"""Number boxes and sliders that leave the mouse wheel to the page until they have the focus."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider, QWidget

TEXT_MARGIN_PX = 6
ARROW_PX = 4


class NumberBox(QDoubleSpinBox):
    """A number with a fixed number of decimals; whole numbers up to 2^53 with none."""

    def __init__(self, low: float, high: float, decimals: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(decimals)
        self.setRange(low, high)
        self.lineEdit().setTextMargins(TEXT_MARGIN_PX, 0, TEXT_MARGIN_PX, 0)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number only when the box has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class WheelSlider(QSlider):
    """A horizontal slider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move only when the slider has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceBox(QComboBox):
    """A drop-down list whose arrow is drawn in the colour of its text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the arrow over the box of the style sheet, which has none."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self.palette().buttonText().color(), 1.5)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        x, y = self.width() - 16, self.height() / 2 + ARROW_PX / 2
        tip = QPointF(x, y)
        painter.drawLine(QPointF(x - ARROW_PX, y - ARROW_PX), tip)
        painter.drawLine(tip, QPointF(x + ARROW_PX, y - ARROW_PX))
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the choice only when the box has the focus."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
