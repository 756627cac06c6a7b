"""Words that change with what is pointed at, in a place of one height: nothing below moves when they grow to more lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel

from app.gui import theme

_NARROW_PX = 640
"""In less width there is room for one line more."""


class SteadyLabel(QLabel):
    """A label of plain text that always has the height of so many lines."""

    def __init__(self, lines: int, *, look: str = "", name: str = "") -> None:
        super().__init__()
        self._lines = lines
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(theme.BASE_PX))
        self.setProperty("look", look)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._set_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the height that the words need at most in this width."""
        super().resizeEvent(event)
        self._set_height()

    def _set_height(self) -> None:
        lines = self._lines + (1 if self.width() < theme.scaled(_NARROW_PX) else 0)
        self.setFixedHeight(lines * (QFontMetrics(self.font()).lineSpacing() + 1) + 2)
