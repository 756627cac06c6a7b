"""Which stretch of time is seen, and where in the picture a moment lies: zoom, pan and the ruler. Pure geometry."""

from __future__ import annotations

import math

LEAST_SPAN_NS = 10_000
"""Nobody measured anything that is shorter than a hundredth of a millisecond."""
_STEPS = (1, 2, 5, 10)
_LEAST_TICK_PX = 84


class TimeScale:
    """A window over the time of an answer; times in ns, places in pixels from the left edge of the picture."""

    def __init__(self) -> None:
        self.whole_ns = LEAST_SPAN_NS
        self.start_ns = 0.0
        self.span_ns = float(LEAST_SPAN_NS)
        self.width = 1.0
        self.is_fit = True
        """Whether all of it is seen, also once there is more of it."""

    @property
    def end_ns(self) -> float:
        """Where what is seen ends."""
        return self.start_ns + self.span_ns

    def set_whole(self, whole_ns: int) -> None:
        """Take in how long all of it is."""
        self.whole_ns = max(whole_ns, LEAST_SPAN_NS)
        if self.is_fit:
            self.fit()
        else:
            self._show(self.start_ns, self.span_ns)

    def fit(self) -> None:
        """See all of it."""
        self.start_ns, self.span_ns, self.is_fit = 0.0, float(self.whole_ns), True

    def show(self, start_ns: float, end_ns: float) -> None:
        """See one stretch of it."""
        self.is_fit = False
        self._show(start_ns, end_ns - start_ns)

    def zoom(self, factor: float, at_ns: float) -> None:
        """See a stretch that is `factor` times as short; the moment `at_ns` stays where it is."""
        span = min(max(self.span_ns / factor, LEAST_SPAN_NS), self.whole_ns)
        if span >= self.whole_ns:
            self.fit()
            return
        share = (at_ns - self.start_ns) / self.span_ns
        self.is_fit = False
        self._show(at_ns - share * span, span)

    def pan(self, by_ns: float) -> None:
        """See what is later, or earlier."""
        if not self.is_fit:
            self._show(self.start_ns + by_ns, self.span_ns)

    def reveal(self, start_ns: float, end_ns: float) -> None:
        """Move such that a stretch is seen, its beginning at least."""
        if start_ns < self.start_ns or end_ns > self.end_ns:
            room = max(self.span_ns - (end_ns - start_ns), 0.0)
            is_seen = self.start_ns <= start_ns and end_ns <= self.end_ns
            if not is_seen and not self.is_fit:
                self._show(start_ns - room / 2, self.span_ns)

    def x_of(self, ns: float) -> float:
        """Return where a moment lies."""
        return (ns - self.start_ns) / self.span_ns * self.width

    def ns_at(self, x: float) -> float:
        """Return which moment lies there."""
        return self.start_ns + x / self.width * self.span_ns

    @property
    def ns_per_px(self) -> float:
        """How much time a pixel is."""
        return self.span_ns / self.width

    def ticks(self) -> list[float]:
        """Return the moments of the ruler that are seen: round ones, not too near each other."""
        least = self.ns_per_px * _LEAST_TICK_PX
        power = 10.0 ** math.floor(math.log10(max(least, 1.0)))
        step = next(each * power for each in _STEPS if each * power >= least * (1 - 1e-9))
        first = math.ceil(self.start_ns / step - 1e-9)
        last = math.floor(self.end_ns / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _show(self, start_ns: float, span_ns: float) -> None:
        self.span_ns = min(max(span_ns, LEAST_SPAN_NS), float(self.whole_ns))
        self.start_ns = min(max(start_ns, 0.0), self.whole_ns - self.span_ns)
