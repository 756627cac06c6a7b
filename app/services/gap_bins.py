"""How often gaps between neighbouring tokens were how long: the bins of a histogram, and the quantiles of the gaps.

Pure; times in ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from app.core.metrics import ItlQuantiles

MOST_BINS = 40
_BEYOND_P99 = 1.25
_STEPS = (1, 2, 2.5, 5, 10)


class GapBins(msgspec.Struct, frozen=True):
    """Bin i counts the gaps from `start_ms + i * width_ms` to the next one; what is longer than all is counted apart."""

    start_ms: float
    width_ms: float
    counts: tuple[int, ...]
    beyond: int
    """Gaps that are longer than the last bin reaches."""
    longest_ms: float

    @property
    def end_ms(self) -> float:
        """Where the last bin ends."""
        return self.start_ms + self.width_ms * len(self.counts)

    @property
    def total(self) -> int:
        """How many gaps there are."""
        return sum(self.counts) + self.beyond

    def range_of(self, place: int) -> tuple[float, float]:
        """Return from where to where a bin reaches."""
        return self.start_ms + place * self.width_ms, self.start_ms + (place + 1) * self.width_ms


def bins_of(gaps_ms: Sequence[float]) -> GapBins | None:
    """Return the bins of gaps, of a round width; None where there is no gap."""
    if not gaps_ms:
        return None
    ordered = sorted(gaps_ms)
    low, high = ordered[0], min(quantile(ordered, 0.99) * _BEYOND_P99, ordered[-1])
    width = _round_width(max(high - low, high * 0.02, 1e-3) / (MOST_BINS - 1))
    start = math.floor(low / width) * width
    count = math.floor((high - start) / width) + 1
    counts, beyond = [0] * count, 0
    for gap in ordered:
        place = math.floor((gap - start) / width)
        if place < count:
            counts[max(place, 0)] += 1
        else:
            beyond += 1
    return GapBins(start, width, tuple(counts), beyond, ordered[-1])


def quantiles_of(gaps_ms: Sequence[float]) -> ItlQuantiles | None:
    """Return p50, p95 and p99, between two gaps in proportion; None where there is no gap."""
    ordered = sorted(gaps_ms)
    return ItlQuantiles(*(quantile(ordered, share) for share in (0.5, 0.95, 0.99))) if ordered else None


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values in rising order, at least one."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _round_width(width: float) -> float:
    """Return the next round number that is at least so large."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in _STEPS if step * power >= width * (1 - 1e-9))
