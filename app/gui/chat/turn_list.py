"""The turns of a transcript one under the other: where each lies, exact where somebody looks and estimated elsewhere.

Knows heights and places; painting and scrolling are the transcript's.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from app.gui.chat.turn_block import TurnBlock

KEPT_BLOCKS = 60
"""Blocks that keep their lines though nobody sees them."""


class TurnList:
    """Blocks with their tops, in a column of one width."""

    def __init__(self, top_px: int, bottom_px: int) -> None:
        self.blocks: list[TurnBlock] = []
        self._tops: list[int] = []
        self._first_top = top_px
        self._bottom = bottom_px
        self._width = 0.0

    @property
    def total(self) -> int:
        """Height of everything."""
        end = self._tops[-1] + self.blocks[-1].height if self.blocks else self._first_top
        return end + self._bottom

    def set_width(self, width: float) -> None:
        """Use another width; all heights are estimates again."""
        if width != self._width:
            self._width = width
            for block in self.blocks:
                block.loosen()

    def top(self, index: int) -> int:
        """Return where a block begins."""
        return self._tops[index]

    def index_of(self, number: int) -> int | None:
        """Return the index of the block of a turn, looking from the end."""
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index].turn.number == number:
                return index
        return None

    def index_at(self, y: int) -> int:
        """Return the block at a height, or the nearest."""
        return max(bisect.bisect_right(self._tops, y) - 1, 0)

    def add(self, block: TurnBlock) -> None:
        """Add a block at the end."""
        self.blocks.append(block)
        self._place(len(self.blocks) - 1)

    def extend(self, blocks: Sequence[TurnBlock]) -> None:
        """Add many blocks at the end."""
        first = len(self.blocks)
        self.blocks.extend(blocks)
        self._place(first)

    def remove_last(self) -> None:
        """Take the last block away."""
        self.blocks.pop()
        self._tops.pop()

    def clear(self) -> None:
        """Take all blocks away."""
        self.blocks.clear()
        self._tops.clear()

    def update(self, index: int) -> None:
        """Measure a block that changed, and place those after it."""
        self.blocks[index].lay_out(self._width)
        self._place(index)

    def measure(self, top: int, bottom: int) -> int:
        """Measure the blocks between two heights; return by how much what is at `top` moved down."""
        moved = 0
        index = self.index_at(top)
        while index < len(self.blocks) and self._tops[index] < bottom + moved:
            block = self.blocks[index]
            if not block.is_exact:
                before = block.height
                block.lay_out(self._width)
                if block.height != before:
                    if self._tops[index] < top:
                        moved += block.height - before
                    self._place(index)
            index += 1
        self._release(self.index_at(top), index)
        return moved

    def visible(self, top: int, bottom: int) -> range:
        """Return the indices of the blocks between two heights."""
        if not self.blocks:
            return range(0)
        return range(self.index_at(top), self.index_at(bottom) + 1)

    def _place(self, index: int) -> None:
        del self._tops[index:]
        top = self._tops[-1] + self.blocks[index - 1].height if index else self._first_top
        for block in self.blocks[index:]:
            self._tops.append(top)
            top += block.height

    def _release(self, first: int, end: int) -> None:
        for index in (first - KEPT_BLOCKS - 1, end + KEPT_BLOCKS):
            if 0 <= index < len(self.blocks) and self.blocks[index].is_exact:
                self.blocks[index].release()
