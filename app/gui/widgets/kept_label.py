"""A label that wraps and keeps the height it needed once: what stands around it does not move with every other text."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel

from app.gui import theme

_MOST_PX = 10_000


class KeptLabel(QLabel):
    """Plain text; in another width it begins anew."""

    def __init__(self, *, look: str = "", pixels: int = theme.BASE_PX, name: str = "", lines: int = 1) -> None:
        """`lines` is the least that there is room for."""
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(pixels))
        if look:
            self.setProperty("look", look)
        self.setObjectName(name)
        self.setWordWrap(True)
        self._lines = lines
        self._rooms: tuple[str, ...] = ()
        self._kept_px = self._kept_width = 0

    def keep_room_for(self, *words: str) -> None:
        """Have room for words that may be shown, too."""
        if words != self._rooms:
            self._rooms = words
            self._keep()

    def setText(self, text: str) -> None:
        """Show another text."""
        if text != self.text():
            super().setText(text)
            self._keep()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the room that is needed in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._keep()

    def showEvent(self, event: QShowEvent) -> None:
        """Have the room from the first picture on."""
        super().showEvent(event)
        self._keep()

    def hasHeightForWidth(self) -> bool:
        """Have one, whatever the size policy says."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the room for everything that was shown in this width: layouts ask before the label is so wide."""
        metrics, box = self.fontMetrics(), QRect(0, 0, width, _MOST_PX)
        heights = [metrics.boundingRect(box, Qt.TextFlag.TextWordWrap, each).height() for each in self._rooms]
        kept = self._kept_px if width == self._kept_width else 0
        return max(super().heightForWidth(width), self._least_px, kept, *heights)

    def minimumSizeHint(self) -> QSize:
        """Need that room."""
        return QSize(super().minimumSizeHint().width(), self.heightForWidth(max(self.width(), 1)))

    @property
    def _least_px(self) -> int:
        return self._lines * self.fontMetrics().lineSpacing()

    def _keep(self) -> None:
        if self.isVisible():  # else its width is not known yet
            self._kept_px, self._kept_width = self.heightForWidth(self.width()), self.width()
            self.updateGeometry()
