"""What lies over the window while files are dragged over it: says what letting go of them would do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.gui import theme

LINE_PX = 2
GROUND_ALPHA = 225


class DropCover(QWidget):
    """Covers its parent, and lets everything through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("drop_cover")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._words = ""
        self.hide()

    def say(self, words: str) -> None:
        """Cover the parent and say this; nothing uncovers it."""
        self._words = words
        self.setAccessibleName(words)
        around = self.parentWidget()
        if words and around is not None:
            self.setGeometry(around.rect())
            self.raise_()
        self.setVisible(bool(words))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the ground, a dashed line around, and the words in the middle."""
        painter = QPainter(self)
        palette = self.palette()
        ground = palette.window().color()
        ground.setAlpha(GROUND_ALPHA)
        painter.fillRect(self.rect(), ground)
        painter.setPen(QPen(palette.highlight().color(), LINE_PX, Qt.PenStyle.DashLine))
        inside = self.rect().adjusted(theme.SPACE_L, theme.SPACE_L, -theme.SPACE_L, -theme.SPACE_L)
        painter.drawRoundedRect(inside, theme.RADIUS_CARD, theme.RADIUS_CARD)
        painter.setFont(theme.font(theme.READING_PX))
        painter.setPen(palette.windowText().color())
        painter.drawText(inside, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._words)
        painter.end()
