"""Pages of which one is seen at a time, and whose contents scroll."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget


class ScrolledPages(QStackedWidget):
    """Takes what room there is: Qt's own asks for the height of the highest page, and squeezes what stands above."""

    def sizeHint(self) -> QSize:
        """Ask for the least."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Need no more than the page that is shown."""
        page = self.currentWidget()
        return page.minimumSizeHint() if page is not None else super().minimumSizeHint()

    def hasHeightForWidth(self) -> bool:
        """Have no height that lines would need, as they scroll."""
        return False


def scrolled(page: QWidget, name: str, words: str) -> QScrollArea:
    """Return what scrolls a page up and down where it is higher than its place."""
    area = QScrollArea()
    area.setObjectName(name)
    area.setAccessibleName(words)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area
