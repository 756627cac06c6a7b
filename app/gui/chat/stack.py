"""Heights one under the other: where each thing lies, and which of them are measured because somebody looks there.

Knows numbers and nothing of what lies there. What is far from the reader keeps an estimated height.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

Prepare = Callable[[int], float]
"""Measures a thing and returns its height."""
Inside = Callable[[int, float, float], tuple[float, float]]
"""Measures what lies between two heights of a thing; returns its height, and by how much what was at the first moved."""


class Reached(NamedTuple):
    """Which things lie between two heights, and by how much what was at the first height moved down."""

    first: int
    end: int
    moved: float


class Stack:
    """Things one under the other, by their heights."""

    def __init__(self) -> None:
        self._heights: list[float] = []
        self._tops: list[float] = [0.0]
        """Of each thing, and behind them the end of the last."""

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> float:
        """Height of everything."""
        return self._tops[-1]

    def top(self, index: int) -> float:
        """Return where a thing begins."""
        return self._tops[index]

    def height(self, index: int) -> float:
        """Return the height of a thing."""
        return self._heights[index]

    def at(self, y: float) -> int:
        """Return the thing at a height, or the nearest."""
        return max(min(bisect.bisect_right(self._tops, y) - 1, len(self._heights) - 1), 0)

    def cut(self, length: int) -> None:
        """Take away all but the first ones."""
        del self._heights[length:]
        del self._tops[length + 1 :]

    def extend(self, heights: Iterable[float]) -> None:
        """Put more at the end."""
        first = len(self._heights)
        self._heights.extend(heights)
        self._place(first)

    def put(self, index: int, height: float) -> None:
        """Give a thing another height."""
        if height != self._heights[index]:
            self._heights[index] = height
            self._place(index)

    def scale(self, factor: float) -> None:
        """Take all heights by a factor: about what another width makes of them."""
        self._heights = [height * factor for height in self._heights]
        self._place(0)

    def reach(self, top: float, bottom: float, prepare: Prepare, inside: Inside) -> Reached:
        """Measure what lies between two heights, such that what is at the first can be kept where it is."""
        if not self._heights:
            return Reached(0, 0, 0.0)
        first = self.at(top)
        moved = 0.0
        while True:
            moved += self._measure(first, top + moved, bottom + moved, prepare, inside)
            if first == 0 or self._tops[first] <= top + moved:
                break
            first -= 1
        end = first + 1
        while end < len(self._heights) and self._tops[end] < bottom + moved:
            self._measure(end, top + moved, bottom + moved, prepare, inside)
            end += 1
        return Reached(first, end, moved)

    def _measure(self, index: int, top: float, bottom: float, prepare: Prepare, inside: Inside) -> float:
        """Measure one thing; return by how much what was at `top` moved."""
        before = self._heights[index]
        self.put(index, prepare(index))
        moved = self._heights[index] - before if self._tops[index] < top else 0.0
        start = self._tops[index] - moved
        height, shift = inside(index, top - start, bottom - start)
        self.put(index, height)
        return moved + shift

    def _place(self, first: int) -> None:
        self._tops[first:] = accumulate(self._heights[first:], initial=self._tops[first])
