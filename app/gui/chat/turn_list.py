"""The turns of a transcript one under the other: where each lies, exact where somebody looks and estimated elsewhere.

Knows heights and places; painting and scrolling are the transcript's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.gui.chat.stack import Stack
from app.gui.chat.turn_block import TurnBlock, estimate, sizes
from app.gui.chat.turn_blocks import TurnBlocks
from app.services.turns import Turn

KEPT_BLOCKS = 60
"""Blocks that keep their lines though nobody sees them."""


class TurnList:
    """Blocks with their tops, in a column of one width."""

    def __init__(self, top_px: int, bottom_px: int, make: Callable[[Turn], TurnBlock]) -> None:
        """`make` makes the block of a turn, once somebody looks there."""
        self._make = make
        self.blocks = TurnBlocks(self._made)
        self.unfolds_thinking = False
        """Whether the thinking of answers to come is unfolded while it is written."""
        self._stack = Stack()
        self._laid_out: set[int] = set()
        """Indices of the blocks that have their lines."""
        self._first_top = top_px
        self._bottom = bottom_px
        self._width = 0.0

    @property
    def total(self) -> int:
        """Height of everything."""
        return self._first_top + int(self._stack.total) + self._bottom

    def set_width(self, width: float) -> None:
        """Use another width; all heights are estimates again."""
        if width != self._width:
            self._width = width
            for block in self.blocks.made:
                block.is_exact = False

    def use_size(self, factor: float) -> None:
        """Show another size of text, which makes everything about so much higher; all heights are estimates again."""
        for block in self.blocks.made:
            block.is_exact = False
        self._stack.scale(factor)

    def top(self, index: int) -> int:
        """Return where a block begins."""
        return self._first_top + int(self._stack.top(index))

    def index_of(self, number: int) -> int | None:
        """Return the index of the block of a turn, looking from the end."""
        turns = self.blocks.turns
        return next((index for index in range(len(turns) - 1, -1, -1) if turns[index].number == number), None)

    def index_at(self, y: int) -> int:
        """Return the block at a height, or the nearest."""
        return self._stack.at(y - self._first_top)

    def extend(self, turns: Sequence[Turn]) -> None:
        """Add many turns at the end."""
        self.blocks.extend(turns)
        shared = sizes()
        self._stack.extend([estimate(turn, shared) for turn in turns])

    def cut(self, length: int) -> None:
        """Take away all but the first blocks."""
        self.blocks.cut(length)
        self._stack.cut(length)
        self._laid_out = {index for index in self._laid_out if index < length}

    def clear(self) -> None:
        """Take all blocks away."""
        self.cut(0)

    def update(self, index: int) -> None:
        """Measure a block that changed, and place those after it."""
        self._stack.put(index, self._prepare(index))

    def measure(self, top: int, bottom: int) -> int:
        """Measure the blocks between two heights; return by how much what is at `top` moved down."""
        top, bottom = top - self._first_top, bottom - self._first_top
        reached = self._stack.reach(
            top, bottom, self._prepare, lambda index, *place: self.blocks[index].reach(*place)
        )
        self._release(reached.first, reached.end)
        return round(reached.moved)

    def unread(self, top: int, bottom: int) -> int | None:
        """Return the first block between two heights of which there is more to read."""
        return next((index for index in self.visible(top, bottom) if self.blocks[index].is_unread), None)

    def visible(self, top: int, bottom: int) -> range:
        """Return the indices of the blocks between two heights."""
        if not self.blocks:
            return range(0)
        return range(self.index_at(top), self.index_at(bottom) + 1)

    def _made(self, turn: Turn) -> TurnBlock:
        block = self._make(turn)
        if self.unfolds_thinking:
            block.unfold_thinking()
        return block

    def _prepare(self, index: int) -> float:
        block = self.blocks[index]
        self._laid_out.add(index)
        if not block.is_exact:
            block.lay_out(self._width)
        return block.height

    def _release(self, first: int, end: int) -> None:
        far = {index for index in self._laid_out if not first - KEPT_BLOCKS <= index < end + KEPT_BLOCKS}
        for index in far:
            self.blocks[index].release()
        self._laid_out -= far
