"""An answer as it is painted: its thinking above, then its Markdown; of most answers the Markdown alone.

Deals out between the two what is asked of the whole. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.gui import theme
from app.gui.chat.leaf import Range, Spot
from app.gui.chat.parted_text import PartedText
from app.gui.markdown.values import Block


class ThoughtfulText(PartedText):
    """The text of one answer with the places of what is in it."""

    used_width = 0.0

    @property
    def height(self) -> float:
        """Height of both."""
        return self._above + self._answer.height

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        return self._above + self._answer.open_top if self._thoughts is None or self._said else 0.0

    @property
    def is_unread(self) -> bool:
        """Whether there is more to read before all of it can be shown."""
        is_thinking_unread = self._view is not None and self._view.is_unread
        return not self._is_stale and (is_thinking_unread or self._answer.is_unread)

    @property
    def is_unfinished(self) -> bool:
        """Whether something would look better painted once more, a moment later."""
        return self._answer.is_unfinished or (self._view is not None and self._view.is_unfinished)

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks of the answer, as far as they are read."""
        return self._answer.blocks

    def use_size(self, line_px: int) -> None:
        """Show both in the size in force now."""
        self._answer.use_size(line_px)
        if self._view is not None:
            self._view.use_size()

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done; of a long text some more is read, and `reach` measures it."""
        self._part()
        if self._view is not None:
            self._view.lay_out(width)
        self._answer.lay_out(width)

    def reach(self, top: float, bottom: float) -> float:
        """Lay out what lies between two heights; return by how much what was at the first moved down."""
        moved = self._view.reach(top, bottom) if self._view is not None else 0.0
        return moved + self._answer.reach(top + moved - self._above, bottom + moved - self._above)

    def release(self) -> None:
        """Drop the lines, as `AnswerText.release` does."""
        if self._view is not None:
            self._view.release()
        if not self._is_stale:
            self._answer.release()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw what touches `clip`, with a range of characters selected."""
        above, lead = self._above, self.lead
        if self._view is not None and clip.top() <= origin.y() + above:
            self._view.draw(painter, origin, clip, look, selected)
        chosen = (selected[0] - lead, selected[1] - lead) if selected is not None else None
        self._answer.draw(painter, QPointF(origin.x(), origin.y() + above), clip, look, chosen)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place, counted in what can be selected."""
        if self._view is not None and y < self._above:
            return self._view.offset_at(x, y)
        return self.lead + self._answer.offset_at(x, y - self._above)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line; counted in what can be selected."""
        above = self._view.rects(start, end) if self._view is not None and start < self.lead else []
        return above + [
            rect.translated(0, self._above) for rect in self._answer.rects(start - self.lead, end - self.lead)
        ]

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll what is wider than the text until characters are seen in it; return whether anything moved."""
        above = self._view is not None and start < self.lead and self._view.bring_into_view(start, end)
        return above or self._answer.bring_into_view(start - self.lead, end - self.lead)

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the block goes that a character is in."""
        if self._view is not None and offset < self.lead:
            return self._view.span_of(offset)
        top, bottom = self._answer.span_of(offset - self.lead)
        return top + self._above, bottom + self._above

    def spots(self, top: float, bottom: float) -> list[Spot]:
        """Return the places that do something between two heights, in reading order."""
        above = self._above
        found = self._view.spots(top, bottom) if self._view is not None and top <= above else []
        return found + [spot.moved(0.0, above) for spot in self._answer.spots(top - above, bottom - above)]
