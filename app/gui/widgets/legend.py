"""What the parts of a bar are, in words: a small square of each colour with a name and a figure, in columns.

Painted, and as high as the most rows it ever had, so that nothing below it moves while figures change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone

SQUARE_PX = 8
GAP_PX = 5
_DIGITS = str.maketrans("123456789", "000000000")
PIXELS = theme.SMALL_PX - 1
_ALIGNMENT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


TWO_COLUMNS = (6, 5)
"""Of the width: names of several words stand on the left, and all legends in a column of figures line up."""


class LegendItem(NamedTuple):
    """A part: what is written, and its colour."""

    text: str
    colour: QColor


class Legend(QWidget):
    """Items in a fixed grid; one that needs more than its column takes the next one, too, or a row of its own."""

    def __init__(self, columns: Sequence[int] = TWO_COLUMNS, rows: int = 1) -> None:
        """`columns` are their shares of the width, `rows` is how many there is room for from the beginning."""
        super().__init__()
        stand_alone(self)
        self.setFont(theme.font(PIXELS))
        self._columns = tuple(columns)
        self._rows = rows
        self._widths: dict[str, int] = {}
        self._items: tuple[LegendItem, ...] = ()
        self._placed: list[tuple[QRect, LegendItem]] = []
        self._row_px = QFontMetrics(self.font()).height() + 1
        self.setFixedHeight(rows * self._row_px)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_items(self, items: Sequence[LegendItem]) -> None:
        """Show other items."""
        shown = tuple(items)
        if shown != self._items:
            self._items = shown
            self.setAccessibleName(" · ".join(item.text for item in shown))
            self._place()

    def sizeHint(self) -> QSize:
        """Ask for the rows it has room for."""
        return QSize(120, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the items anew in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint squares and words, those that have changed."""
        painter = QPainter(self)
        paint_ground(painter, self, event.rect())
        painter.setPen(self.palette().placeholderText().color())
        changed = event.rect()
        for place, item in self._placed:
            if not changed.intersects(place):
                continue
            top = place.top() + (place.height() - SQUARE_PX) // 2
            painter.fillRect(QRect(place.left(), top, SQUARE_PX, SQUARE_PX), item.colour)
            words = place.adjusted(SQUARE_PX + GAP_PX, 0, 0, 0)
            painter.drawText(words, _ALIGNMENT, item.text)
        painter.end()

    def _place(self) -> None:
        lefts = self._lefts()
        before, self._placed = self._placed, []
        row = column = 0
        for whole in self._items:
            item = whole
            needed = self._needed(item.text)
            if column and (column == len(lefts) or lefts[column] + needed > self.width()):
                row, column = row + 1, 0
            left = lefts[column]
            width = min(needed, self.width() - left)
            if width < needed:
                words = QFontMetrics(self.font()).elidedText(
                    item.text, Qt.TextElideMode.ElideRight, width - SQUARE_PX - GAP_PX
                )
                item = LegendItem(words, item.colour)
            self._placed.append((QRect(left, row * self._row_px, width, self._row_px), item))
            column = next((at for at, begins in enumerate(lefts) if begins >= left + width), len(lefts))
        if row >= self._rows:
            self._rows = row + 1
            self.setFixedHeight(self._rows * self._row_px)
        self._repaint(before)

    def _lefts(self) -> list[int]:
        """Return where each column begins."""
        return [
            self.width() * sum(self._columns[:number]) // sum(self._columns) for number in range(len(self._columns))
        ]

    def _repaint(self, before: list[tuple[QRect, LegendItem]]) -> None:
        """Paint again what is not as it was."""
        if len(before) != len(self._placed):
            self.update()
            return
        for old, new in zip(before, self._placed, strict=True):
            if old != new:
                self.update(old[0].united(new[0]))

    def _needed(self, text: str) -> int:
        """Return the width of an item; digits are all as wide, so that few widths are ever measured."""
        key = text.translate(_DIGITS)
        if key not in self._widths:
            self._widths[key] = QFontMetrics(self.font()).horizontalAdvance(key) + SQUARE_PX + 2 * GAP_PX
        return self._widths[key]
