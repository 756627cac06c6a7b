"""How fast tokens follow each other: the rate of the last moment and of all of it, and the gaps between neighbours.

Times are the engine's (`perf_counter_ns`); nothing here waits or asks a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import accumulate, pairwise
from struct import Struct

from app.core.events import Tokens
from app.core.metrics import ItlQuantiles

RATE_WINDOW_NS = 1_500_000_000
KEPT_GAPS = 120
_MS = 1e6
_MICROSECOND_NS = 1_000
_GAP = Struct("<I")
_GAP_BYTES = _GAP.size


class Pace:
    """Follows the tokens of one answer."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, int]] = deque()
        self._gaps: deque[float] = deque(maxlen=KEPT_GAPS)
        self._gap_count = 0
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._count = 0

    @property
    def gaps_ms(self) -> tuple[float, ...]:
        """The last gaps between neighbouring tokens, oldest first."""
        return tuple(self._gaps)

    @property
    def gap_count(self) -> int:
        """How many gaps there were, those that are not kept any more included."""
        return self._gap_count

    @property
    def first_ns(self) -> int | None:
        """When the first token was sampled; None before it."""
        return self._first_ns

    def add(self, event: Tokens) -> None:
        """Take in the next tokens; what comes without one, as text or a record that was held back, is no step."""
        if not event.count:
            return
        times = _times(event)
        if self._last_ns is not None:
            self._add_gaps([self._last_ns, *times])
        else:
            self._first_ns = times[0]
            self._add_gaps(times)
        self._last_ns = times[-1]
        self._count = event.first + event.count
        if not self._steps and event.count > 1:
            self._steps.append((event.first_ns, event.first + 1))
        self._steps.append((event.last_ns, self._count))
        while len(self._steps) > 2 and event.last_ns - self._steps[1][0] >= RATE_WINDOW_NS:
            self._steps.popleft()

    def rate_now(self) -> float | None:
        """Return tokens/s over the last 1.5 s; None before there are two moments."""
        if not self._steps:
            return None
        (start_ns, start_count), (end_ns, end_count) = self._steps[0], self._steps[-1]
        return (end_count - start_count) * 1e9 / (end_ns - start_ns) if end_ns > start_ns else None

    def mean_rate(self) -> float | None:
        """Return (n - 1) / (time of last token - time of first) in tokens/s; None where it says nothing."""
        if self._first_ns is None or self._last_ns is None or self._last_ns <= self._first_ns:
            return None
        return (self._count - 1) * 1e9 / (self._last_ns - self._first_ns)

    def quantiles(self) -> ItlQuantiles | None:
        """Return the quantiles of the gaps that are kept; None before there is one."""
        if not self._gaps:
            return None
        ordered = sorted(self._gaps)
        return ItlQuantiles(*(_quantile(ordered, share) for share in (0.5, 0.95, 0.99)))

    def _add_gaps(self, times: Sequence[int]) -> None:
        gaps = [max(0.0, (after - before) / _MS) for before, after in pairwise(times)]
        self._gaps.extend(gaps)
        self._gap_count += len(gaps)


def _times(event: Tokens) -> Sequence[int]:
    """Return when each token was sampled: as the engine says, or spread evenly where it does not say it of each."""
    count = event.count
    if count < 2:
        return [event.last_ns]
    if len(event.gaps) == (count - 1) * _GAP_BYTES:
        gaps = (gap * _MICROSECOND_NS for (gap,) in _GAP.iter_unpack(event.gaps))
        return list(accumulate(gaps, initial=event.first_ns))
    step = (event.last_ns - event.first_ns) / (count - 1)
    return [event.first_ns + round(step * number) for number in range(count)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
