"""Which candidates come before each in many rows, for certain or perhaps, and sums over them.

Where each value is known as a stretch, two candidates whose stretches overlap may stand either way. Ragged arrays as in
`known_rows`; all sums are differences of running sums. Must not know stages.
"""

from __future__ import annotations

import numpy as np

from app.probability.candidates import Places
from app.probability.known_rows import Flags, Floats, KnownRows

_SPAN = 4096.0
"""More than the distance of any two values of one step, so that one number can hold step and value."""
LEAST = -1500.0


class RowOrder:
    """The order of the candidates of each step by falling logit."""

    def __init__(self, rows: KnownRows, low: Floats, high: Floats, ceiling: Floats | None) -> None:
        """Without a `ceiling` the rows are in order already; with one, tokens not at hand may lie up to it anywhere."""
        self._owner = rows.owner
        self._starts = rows.starts
        self._start_of = rows.starts[rows.owner]
        self._step_of: Floats = rows.owner.astype(np.float64) * _SPAN
        self._by_low: Places | None = None
        self._by_high: Places | None = None
        self._low, self._high = np.maximum(low, LEAST), np.maximum(high, LEAST)
        self._keys: tuple[Floats, Floats] | None = None
        size = low.size
        if ceiling is None:
            self.surely = self.perhaps = np.arange(size)
            self.unseen_ahead: Flags = rows.places >= rows.stored[rows.owner]
            return
        self._by_low = np.argsort(self._step_of - self._low, kind="stable")
        self._by_high = np.argsort(self._step_of - self._high, kind="stable")
        self.surely = self._above_low(self._high)
        self.perhaps = self._above_high(self._low)
        self.unseen_ahead = ceiling[rows.owner] >= low

    def sum_surely(self, values: Floats | Flags) -> Floats:
        """Return for each candidate the sum over those that come before it for certain."""
        running = _running(values, self._by_low)
        return running[self.surely] - running[self._start_of]

    def sum_perhaps(self, values: Floats | Flags) -> Floats:
        """Return for each candidate the sum over all others that may come before it."""
        running = _running(values, self._by_high)
        sums: Floats = running[self.perhaps] - running[self._start_of]
        return sums if self._by_high is None else sums - values

    def sum_low_above(self, values: Floats, bound: Floats) -> Floats:
        """Return for each candidate the sum over those of its step whose low is above a bound of its own."""
        running = _running(values, self._by_low)
        return running[self._above_low(bound)] - running[self._start_of]

    def sum_high_from(self, values: Floats, bound: Floats) -> Floats:
        """Return for each candidate the sum over those of its step whose high is at least a bound of its own."""
        running = _running(values, self._by_high)
        return running[self._above_high(bound)] - running[self._start_of]

    def total(self, values: Floats | Flags) -> Floats:
        """Return the sum of each step."""
        return np.add.reduceat(values.astype(np.float64, copy=False), self._starts[:-1])

    def others(self, values: Floats) -> Floats:
        """Return for each candidate the sum over all others of its step, also where they are small beside it."""
        largest = np.flatnonzero(values == self.largest(values)[self._owner])
        _, first = np.unique(self._owner[largest], return_index=True)
        largest = largest[first]
        sums: Floats = self.total(values)[self._owner] - values
        behind = values.copy()
        behind[largest] = 0.0
        sums[largest] = self.total(behind)
        return sums

    def largest(self, values: Floats) -> Floats:
        """Return the largest value of each step."""
        return np.maximum.reduceat(values, self._starts[:-1])

    def _above_low(self, bound: Floats) -> Places:
        keys, _ = self._sorted_keys()
        return keys.searchsorted(self._step_of - np.clip(bound, LEAST - 1, 1.0), "left")

    def _above_high(self, bound: Floats) -> Places:
        _, keys = self._sorted_keys()
        return keys.searchsorted(self._step_of - np.clip(bound, LEAST - 1, 1.0), "right")

    def _sorted_keys(self) -> tuple[Floats, Floats]:
        if self._keys is None:
            self._keys = self._ordered(self._low, self._by_low), self._ordered(self._high, self._by_high)
        return self._keys

    def _ordered(self, values: Floats, order: Places | None) -> Floats:
        keys = np.subtract(self._step_of, values)
        return keys if order is None else keys[order]


def _running(values: Floats | Flags, order: Places | None) -> Floats:
    running = np.zeros(values.size + 1)
    np.cumsum(values if order is None else values[order], out=running[1:])
    return running
