"""Where lines begin and end in a text that is painted, found by asking which characters lie where.

So every kind of block can be cut between two lines, and a line be found again in another size, whatever it is made of.
"""

from __future__ import annotations

from typing import Protocol

_STEP_PX = 16.0
_NEAR_PX = 0.25


class Painted(Protocol):
    """What is asked of a text."""

    @property
    def height(self) -> float:
        """Height of all lines."""
        ...

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        ...

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the block or part goes that a character is in."""
        ...


def top_above(text: Painted, y: float) -> float:
    """Return where the line at a height begins, the gap above it included."""
    here, step = text.offset_at(0.0, y), _STEP_PX
    while y - step > 0 and text.offset_at(0.0, y - step) == here:
        step *= 2
    low, high = max(y - step, 0.0), y
    if low == 0.0 and text.offset_at(0.0, 0.0) == here:
        return 0.0
    while high - low > _NEAR_PX:
        middle = (low + high) / 2
        low, high = (low, middle) if text.offset_at(0.0, middle) == here else (middle, high)
    return high


def bottom_below(text: Painted, y: float) -> float:
    """Return where the line at a height ends: where the next one begins, or the end of the text."""
    here, step, end = text.offset_at(0.0, y), _STEP_PX, text.height
    while y + step < end and text.offset_at(0.0, y + step) == here:
        step *= 2
    low, high = y, min(y + step, end)
    if high == end and text.offset_at(0.0, end) == here:
        return end
    while high - low > _NEAR_PX:
        middle = (low + high) / 2
        low, high = (middle, high) if text.offset_at(0.0, middle) == here else (low, middle)
    return high


def top_of(text: Painted, offset: int) -> float:
    """Return where the line of a character begins."""
    low, high = text.span_of(offset)
    if text.offset_at(0.0, high) <= offset:
        return top_above(text, high)
    while high - low > _NEAR_PX:
        middle = (low + high) / 2
        low, high = (middle, high) if text.offset_at(0.0, middle) <= offset else (low, middle)
    return top_above(text, low)
