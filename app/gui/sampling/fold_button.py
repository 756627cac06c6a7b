"""The line that opens and closes what stands below it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.gui.widgets.words import set_hint

ARM_PX = 4.0
PEN_PX = 1.5


class FoldButton(QPushButton):
    """A checkable button with an arrow that points down while it is open."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setCheckable(True)
        self.setProperty("look", "fold")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_words(self, words: str, hint: str) -> None:
        """Show other words."""
        self.setText(words)
        self.setAccessibleName(words)
        set_hint(self, hint)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the arrow beside the words of the style sheet's button."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self.palette().buttonText().color(), PEN_PX)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        middle = QPointF(self.width() - 2.5 * ARM_PX, self.height() / 2)
        half = ARM_PX / 2
        if self.isChecked():
            ends, tip = (QPointF(-ARM_PX, -half), QPointF(ARM_PX, -half)), QPointF(0, half)
        else:
            ends, tip = (QPointF(-half, -ARM_PX), QPointF(-half, ARM_PX)), QPointF(half, 0)
        for end in ends:
            painter.drawLine(middle + end, middle + tip)
        painter.end()
