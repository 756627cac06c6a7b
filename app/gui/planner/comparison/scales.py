"""Axes of the charts: where a value lies between two ends, and which values get a tick. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

STEPS = (1, 2, 2.5, 5, 10)


class Scale(NamedTuple):
    """An axis from `low` to `high`; of a logarithmic one both are above zero."""

    low: float
    high: float
    is_log: bool

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, 0 to 1 within it; what lies beyond an end lies at the end."""
        held = min(max(value, self.low), self.high)
        if self.high <= self.low:
            return 0.0
        if self.is_log:
            return math.log(held / self.low) / math.log(self.high / self.low)
        return (held - self.low) / (self.high - self.low)


def from_zero(most: float) -> Scale:
    """Return an axis from zero to a round number above `most`."""
    if not most > 0:
        return Scale(0.0, 1.0, is_log=False)
    step = tick_step(most * 1.05)
    return Scale(0.0, math.ceil(most * 1.05 / step) * step, is_log=False)


def tick_step(most: float, ticks: int = 4) -> float:
    """Return a round distance such that about so many ticks reach up to a value above zero."""
    rough = most / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in STEPS if step * power >= rough * 0.999)


def linear_ticks(scale: Scale) -> list[float]:
    """Return round values along an axis from zero."""
    step = tick_step(scale.high)
    return [number * step for number in range(round(scale.high / step) + 1)]


def doublings(scale: Scale, most: int = 6) -> list[float]:
    """Return powers of two along a logarithmic axis, at most so many."""
    first, last = math.ceil(math.log2(scale.low) - 1e-9), math.floor(math.log2(scale.high) + 1e-9)
    every = max(1, -(-(last - first + 1) // most))
    return [2.0**power for power in range(first, last + 1, every)]


def decades(low: float, high: float) -> Scale:
    """Return a logarithmic axis from a power of ten below to one above."""
    return Scale(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)), is_log=True)


def decade_ticks(scale: Scale, most: int = 6) -> list[float]:
    """Return powers of ten along a logarithmic axis, at most so many."""
    first, last = round(math.log10(scale.low)), round(math.log10(scale.high))
    every = max(1, -(-(last - first + 1) // most))
    return [10.0**power for power in range(first, last + 1, every)]


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near the wanted ones that are `gap` apart, in their order, from `low` to `high` where there is room."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    placed: dict[int, float] = {}
    last = low - gap
    for place in order:
        last = max(wanted[place], last + gap)
        placed[place] = last
    limit = high
    for place in reversed(order):
        placed[place] = min(placed[place], limit)
        limit = placed[place] - gap
    return [placed[place] for place in range(len(wanted))]


def short_number(value: float) -> str:
    """Return a tick in few characters: 512, 4k, 128k, 0.1."""
    if value >= 1024 and math.log2(value).is_integer():
        return f"{value / 1024:,.0f}k"
    if value >= 10_000:
        return f"{value / 1000:,g}k"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:g}"
