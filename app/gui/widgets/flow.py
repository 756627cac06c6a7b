"""A row that goes on below where it has no room for all that is in it."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem

from app.gui import theme


class Flow(QLayout):
    """Lays out from the side where reading begins; what is hidden takes no room."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(theme.SPACE_S)

    def addItem(self, item: QLayoutItem) -> None:
        """Put something at the end."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many things are in it."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return one of them."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Take one out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Want no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Be the higher the narrower it is."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return how high all lines are together."""
        return max((place.bottom() + 1 for _, place in self._places(width)), default=0)

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """Need as much as the widest thing."""
        sizes = [item.sizeHint() for item in self._shown()]
        return QSize(
            max((size.width() for size in sizes), default=0), max((size.height() for size in sizes), default=0)
        )

    def setGeometry(self, place: QRect) -> None:
        """Give each its place."""
        super().setGeometry(place)
        parent = self.parentWidget()
        is_turned = parent is not None and parent.layoutDirection() is Qt.LayoutDirection.RightToLeft
        for item, within in self._places(place.width()):
            left = place.width() - within.right() - 1 if is_turned else within.left()
            item.setGeometry(QRect(place.topLeft() + QPoint(left, within.top()), within.size()))

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _places(self, width: int) -> Iterator[tuple[QLayoutItem, QRect]]:
        """Return where each lies in lines of so many pixels, counted from their beginning."""
        x, y, line = 0, 0, 0
        for item in self._shown():
            size = item.sizeHint()
            if x and x + size.width() > width:
                x, y, line = 0, y + line + self.spacing(), 0
            yield item, QRect(QPoint(x, y), size)
            x, line = x + size.width() + self.spacing(), max(line, size.height())
