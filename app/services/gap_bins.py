"""How often gaps between neighbouring tokens were how long: the bins of a histogram, and the quantiles of the gaps.

Pure; times in ms.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

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


def bins_of(ordered: Sequence[float]) -> GapBins | None:
    """Return the bins of gaps in rising order, of a round width; None where there is no gap.

    Looks only for the ends of the bins: there may be very many gaps, and this is done anew with each that comes.
    """
    if not ordered:
        return None
    low, high = ordered[0], min(quantile(ordered, 0.99) * _BEYOND_P99, ordered[-1])
    width = _round_width(max(high - low, high * 0.02, 1e-3) / (MOST_BINS - 1))
    start = math.floor(low / width) * width
    count = math.floor((high - start) / width) + 1
    ends = [bisect_right(ordered, place, key=lambda gap: math.floor((gap - start) / width)) for place in range(count)]
    counts = tuple(end - before for before, end in pairwise((0, *ends)))
    return GapBins(start, width, counts, len(ordered) - ends[-1], ordered[-1])


def quantiles_of(ordered: Sequence[float]) -> ItlQuantiles | None:
    """Return p50, p95 and p99 of gaps in rising order, between two in proportion; None where there is no gap."""
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
