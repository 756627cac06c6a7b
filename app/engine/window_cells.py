"""Which positions the layers with a sliding window still have in cells, of the chat and of lanes.

llama.cpp tells the first one of each sequence. Of a hybrid it tells that of the recurrent state instead; there it is worked
out by what llama.cpp does with the cells of a window, so that it is never later than it is in truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.engine.backend import Backend


class CellsTold(NamedTuple):
    """What is told of the cells with tokens."""

    used: int
    """Those of the prompt and of all lanes."""
    window_from: int = 0
    """The first position of the sequence that layers with a sliding window still have; 0 where they have all."""
    prompt_from: int = 0
    """The same of the prompt's own cells."""
    window_used: int | None = None
    """Cells of those layers in use, of the prompt and of all lanes; None where there are none."""


class WindowCells:
    """The first positions of the sequences of a context."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._chat = 0
        self._lanes: list[int] = []

    @property
    def cells(self) -> int | None:
        """How many cells these layers have, in the context as it is now; None where there are no such layers."""
        return self._backend.sequences.cache.window_cells

    def chat_from(self, sequence: int, used: int) -> int:
        """Return the first position of the chat; `used` where it has none."""
        if self.cells is None:
            return 0
        return min(self._chat, used) if not self._is_told else self._told(sequence, used)

    def lane_from(self, place: int, end: int) -> int:
        """Return the first position of a lane, which can be one of its prompt; `end` where it has none."""
        if self.cells is None:
            return 0
        return self._lanes[place] if not self._is_told else self._told(place + 1, end)

    def grew(self, used: int) -> None:
        """The chat has so many tokens now: one more takes the place of the oldest, once all cells hold one."""
        if self.cells is not None:
            self._chat = max(self._chat, used - self.cells)

    def came_back(self, used: int) -> None:
        """A saved state is there again: it holds nothing that was already outside of the window."""
        self._chat = max(used - self._backend.window, 0)

    def carried_over(self, used: int) -> None:
        """The context was made anew with what the chat holds of the window."""
        self._chat = min(max(self._chat, used - self._backend.window, 0), used)

    def cut(self, length: int) -> None:
        """Nothing is left of the chat behind its first tokens."""
        self._chat = min(self._chat, length) if length else 0

    def open(self, lanes: int) -> None:
        """So many lanes begin with the chat's cells."""
        self._lanes = [self._chat] * lanes

    def lanes_grew(self, places: Sequence[int], ends: Sequence[int], length: int) -> None:
        """These lanes have a token more behind a prompt of `length`: it takes the place of the oldest of a lane."""
        if self.cells is None or self._is_told:
            return
        firsts = self._lanes
        held = sum(ends[place] - max(firsts[place], length) for place in places) + length - self._chat
        for _ in range(held - self.cells):
            oldest = min(places, key=lambda place: max(firsts[place], length))
            firsts[oldest] = max(firsts[oldest], length) + 1

    @property
    def _is_told(self) -> bool:
        return self._backend.memory_kind == "window"

    def _told(self, sequence: int, end: int) -> int:
        first = self._backend.min_position(sequence)
        return first if first >= 0 else end
