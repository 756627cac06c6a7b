"""One row of logits in one pass: maximum, log-sum-exp, entropy, and the most likely tokens in order.

The hot path, once per token between two decodes: reusable buffers, no per-candidate Python. Must not know settings.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from app.probability.candidates import Ids, Logits

PREFIX = 64
"""So many of the most likely tokens are put in order at every step; more are sorted when they are asked for."""
_COLUMNS = 12 * PREFIX
_LEAST_PLAIN, _LARGEST_PLAIN = -20.0, 60.0
"""Between these the sum of e^logit over any row fits a float32, so that no logit needs to be shifted."""


class UnusableRow(ValueError):
    """A row that is no distribution: it holds NaN or infinity, or no finite logit at all."""


class RowFacts:
    """What was read of one row; good until the row changes or the reader reads again."""

    __slots__ = ("_buffers", "_ids", "_largest", "_logits", "_row", "entropy", "log_sum_exp", "maximum")

    maximum: float
    log_sum_exp: float
    entropy: float
    """In nats."""

    def __init__(self, row: Logits, buffers: _Buffers, largest: int) -> None:
        self._row = row
        self._buffers = buffers
        self._largest = largest
        self._ids, self._logits = buffers.largest(row, PREFIX)

    @property
    def ids(self) -> Ids:
        """The most likely tokens, as many as the reader was made for, by falling logit, ties by lower id."""
        return self.top(self._largest)[0]

    @property
    def logits(self) -> Logits:
        """The logits of `ids`."""
        return self.top(self._largest)[1]

    def top(self, count: int) -> tuple[Ids, Logits]:
        """Return ids and logits of the most likely tokens, by falling logit, ties by lower id."""
        if count > self._ids.size and self._ids.size < self._row.size:
            self._ids, self._logits = self._buffers.largest(self._row, count)
        return self._ids[:count], self._logits[:count]

    def above(self, logit: float) -> tuple[Ids, Logits]:
        """Return ids and logits of all tokens with at least this logit, in the order of `top`."""
        return self._buffers.at_least(self._row, np.float32(logit))

    def rank(self, token: int) -> int:
        """Return the place of a token in the order of `top`, 1 for the most likely."""
        likely = self._ids[:PREFIX].tolist()
        return likely.index(token) + 1 if token in likely else self._buffers.rank(self._row, token)


class RowReader:
    """Reads rows of one vocabulary."""

    def __init__(self, vocabulary: int, largest: int = 1024) -> None:
        self._buffers = _Buffers(vocabulary)
        self._largest = largest

    def read(self, row: Logits) -> RowFacts:
        """Return the facts of a row, which must stay as it is while they are used."""
        maximum = self._buffers.fold(row)
        if not math.isfinite(maximum):
            raise UnusableRow(f"the largest logit is {maximum}")
        facts = RowFacts(row, self._buffers, self._largest)
        facts.maximum = maximum
        facts.log_sum_exp, facts.entropy = self._buffers.sums(row, maximum)
        return facts

    def rank(self, row: Logits, token: int) -> int:
        """Return a token's place by falling logit, ties by lower id, 1 for the most likely; no read needed."""
        return self._buffers.rank(row, token)


class _Buffers:
    """What is used again at every step, and the searches that use it."""

    def __init__(self, vocabulary: int) -> None:
        self._weights = np.empty(vocabulary, np.float32)
        self._mask = np.empty(vocabulary, np.bool_)
        self._columns = np.empty(0, np.float32)

    def sums(self, row: Logits, maximum: float) -> tuple[float, float]:
        """Return the logarithm of the sum of e^logit, and the entropy."""
        weights = self._weights
        shift = 0.0
        if not _LEAST_PLAIN < maximum < _LARGEST_PLAIN:
            shift, row = maximum, row - np.float32(maximum)
        np.exp(row, out=weights)
        total = float(np.add.reduce(weights))
        with np.errstate(invalid="ignore"):
            np.multiply(weights, row, out=weights)
        weighted = float(np.add.reduce(weights))
        if math.isnan(weighted):
            # An impossible token gave 0 x -inf, which is meant to be 0.
            weighted = float(np.nansum(weights))
        log_total = math.log(total)
        return shift + log_total, max(log_total - weighted / total, 0.0)

    def fold(self, row: Logits, width: int = _COLUMNS) -> float:
        """Fold the row into columns by their maxima and return the largest of all."""
        # Elementwise maximum keeps to wide registers; the few logits of the last, short line stand alone.
        lines = max(1, row.size // width)
        width = row.size // lines
        folded = lines * width
        columns = self._columns = np.empty(width + row.size - folded, np.float32)
        np.maximum.reduce(row[:folded].reshape(lines, width), axis=0, out=columns[:width])
        columns[width:] = row[folded:]
        return float(np.maximum.reduce(columns))

    def largest(self, row: Logits, count: int) -> tuple[Ids, Logits]:
        """Return ids and logits of the `count` largest logits of the row that was folded last."""
        if 3 * count >= row.size:
            ids, logits = _ordered(row, np.arange(row.size))
            return ids[:count], logits[:count]
        if 3 * count > self._columns.size:
            self.fold(row, 3 * count)
        # Each column's maximum is a token of its own: at least `count` tokens reach the cut, and few more.
        columns = self._columns
        columns.partition(columns.size - count)
        ids, logits = self.at_least(row, columns[columns.size - count])
        return ids[:count], logits[:count]

    def at_least(self, row: Logits, logit: np.float32) -> tuple[Ids, Logits]:
        """Return ids and logits of all tokens with at least this logit, by falling logit, ties by lower id."""
        np.greater_equal(row, logit, out=self._mask)
        return _ordered(row, self._mask.nonzero()[0])

    def rank(self, row: Logits, token: int) -> int:
        """Return 1 + the number of tokens that come before this one."""
        logit = row[token]
        np.greater(row, logit, out=self._mask)
        return int(np.count_nonzero(self._mask)) + int(np.count_nonzero(row[:token] == logit)) + 1


def _ordered(row: Logits, places: npt.NDArray[np.int64]) -> tuple[Ids, Logits]:
    # Sorted up and read backwards: of equal logits the lower id must then be the later one.
    places = places[::-1]
    logits = row[places]
    order = logits.argsort(kind="stable")[::-1]
    return places[order].astype(np.int32), logits[order]
