"""Where turns lie in a view that scrolls: the column, each turn in it, its figures, and the gap under it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractScrollArea

from app.gui import theme
from app.gui.chat.turn_block import GAP_PX, Shape
from app.gui.chat.turn_list import TurnList
from app.services.turns import Turn

MARGIN_PX = theme.SPACE_XL


class TurnPlaces:
    """Places in the viewport of a view."""

    def __init__(self, view: QAbstractScrollArea, turns: TurnList, margin_px: int = MARGIN_PX) -> None:
        self._view = view
        self._turns = turns
        self._margin_px = margin_px
        self.widest = theme.reading_width()
        """Width of the column where there is room."""
        self.takes_all = False
        """Whether the column takes all the room there is: code needs it."""

    @property
    def shape(self) -> Shape:
        """The column, in the middle of the whole view: a scroll bar that comes moves nothing."""
        room = self._view.width() - 2 * self._margin_px
        width = room if self.takes_all else min(int(self.widest), room)
        return Shape((self._view.width() - width + 1) // 2 - self._view.viewport().x(), max(width, 1))

    @property
    def scrolled(self) -> int:
        """How far the view is scrolled."""
        return self._view.verticalScrollBar().value()

    def in_view(self) -> range:
        """Return the indices of the turns in view."""
        return self._turns.visible(self.scrolled, self.scrolled + self._view.viewport().height())

    def turn_at(self, point: QPoint) -> Turn | None:
        """Return the turn at a point."""
        y = point.y() + self.scrolled
        index = self._turns.index_at(y)
        if not self._turns.blocks or not 0 <= y - self._turns.top(index) < self._turns.blocks[index].height:
            return None
        return self._turns.blocks[index].turn

    def turn(self, index: int) -> QRect:
        """Return where a turn lies, without the gap under it."""
        shape, top = self.shape, self._turns.top(index) - self.scrolled
        return QRect(round(shape.left), top, round(shape.width), self._turns.blocks[index].height - GAP_PX)

    def bar(self, index: int) -> QRect:
        """Return where the gap under a turn lies."""
        place = self.turn(index)
        return QRect(place.left(), place.bottom() + 1, place.width(), GAP_PX)

    def footer(self) -> QRect | None:
        """Return where the figures of the last turn lie; None where it has none."""
        if not self._turns.blocks or self._turns.blocks[-1].is_user:
            return None
        place = self.turn(len(self._turns.blocks) - 1)
        place.setTop(place.top() + self._turns.blocks[-1].footer_top)
        return place

    def on_screen(self, index: int) -> QRect:
        """Return where a turn lies on the screen, over the whole width of the view."""
        viewport = self._view.viewport()
        inside = QRect(0, self._turns.top(index) - self.scrolled, viewport.width(), self._turns.blocks[index].height)
        return QRect(viewport.mapToGlobal(inside.topLeft()), inside.size())
