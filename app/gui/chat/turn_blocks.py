"""The turns of a conversation as they are painted, each made once somebody looks at it: a long one has thousands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from app.gui.chat.turn_block import TurnBlock
from app.services.turns import Turn


class TurnBlocks(Sequence[TurnBlock]):
    """One block a turn."""

    def __init__(self, make: Callable[[Turn], TurnBlock]) -> None:
        """`make` makes the block of a turn."""
        self._make = make
        self.turns: list[Turn] = []
        """The turns, of which nothing needs to be made."""
        self._made: dict[int, TurnBlock] = {}

    def __len__(self) -> int:
        return len(self.turns)

    @overload
    def __getitem__(self, index: int) -> TurnBlock: ...
    @overload
    def __getitem__(self, index: slice) -> list[TurnBlock]: ...
    def __getitem__(self, index: int | slice) -> TurnBlock | list[TurnBlock]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        place = index if index >= 0 else index + len(self)
        block = self._made.get(place)
        if block is None:
            block = self._make(self.turns[place])
            self._made[place] = block
        return block

    @property
    def made(self) -> Iterable[TurnBlock]:
        """The blocks that are made."""
        return self._made.values()

    def put(self, index: int, turn: Turn) -> TurnBlock:
        """Let another turn stand in a place; return its block, which may show the earlier one until it is refreshed."""
        self.turns[index] = turn
        block = self[index]
        block.turn = turn
        return block

    def extend(self, turns: Iterable[Turn]) -> None:
        """Add turns at the end."""
        self.turns.extend(turns)

    def cut(self, length: int) -> None:
        """Take away all but the first ones."""
        del self.turns[length:]
        self._made = {index: block for index, block in self._made.items() if index < length}

    def snapshot(self) -> TurnBlocks:
        """Return the same blocks for somebody who reads on while others are shown."""
        same = TurnBlocks(self._make)
        same.turns, same._made = list(self.turns), dict(self._made)
        return same
