"""The line that opens and closes what stands below it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.gui.widgets.arrow import ARM_PX, DOWN, RIGHT, draw_arrow
from app.gui.widgets.words import set_hint


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
        middle = QPointF(self.width() - 2.5 * ARM_PX, self.height() / 2)
        draw_arrow(painter, middle, self.palette().buttonText().color(), DOWN if self.isChecked() else RIGHT)
        painter.end()
