"""Candidates of one step: their ids, their logits, and the order of falling logits.

Knows nothing of stages, settings or llama.cpp.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
"""Token ids."""
Logits = npt.NDArray[np.float32]
"""Logits, one for each id."""
Places = npt.NDArray[np.int64]
"""Indices into an array of candidates."""


class Candidates(NamedTuple):
    """What is left of a row between two stages, in the order that the last stage left."""

    ids: Ids
    logits: Logits
    places: Places
    """Where each candidate stood in the array that the first stage got."""
    is_sorted: bool
    """Whether a stage has put them in the order of falling logits."""

    def kept(self, places: Places | slice, *, is_sorted: bool) -> Candidates:
        """Return the candidates at these places, in their order."""
        return Candidates(self.ids[places], self.logits[places], self.places[places], is_sorted)

    def with_logits(self, logits: Logits) -> Candidates:
        """Return the same candidates with changed logits, whose order is no longer known."""
        return Candidates(self.ids, logits, self.places, False)


def candidates_of(ids: Ids, logits: Logits, *, is_sorted: bool = False) -> Candidates:
    """Return the candidates that a chain begins with."""
    return Candidates(ids, logits, np.arange(ids.size), is_sorted)


def weights_of(logits: Logits) -> npt.NDArray[np.float64]:
    """Return e^(logit - largest logit); where the largest is infinite, 1 for each that equals it."""
    largest = float(logits.max())
    equal_or_shifted = logits == largest if math.isinf(largest) else np.exp(logits.astype(np.float64) - largest)
    weights: npt.NDArray[np.float64] = equal_or_shifted.astype(np.float64, copy=False)
    return weights


def falling(logits: Logits, count: int, ties: Ids | Places | None = None) -> Places:
    """Return the places of the largest logits, largest first; of equal ones the lower in `ties` (or place) first.

    No two candidates have the same number in `ties`.
    """
    size = logits.size
    count = min(count, size)
    if 4 * count <= size:
        cut = np.partition(logits, size - count)[size - count]
        among = np.flatnonzero(logits >= cut)
        order = _falling(logits[among], among if ties is None else ties[among])
        return among[order[:count]]
    return _falling(logits, ties)[:count]


def _falling(logits: Logits, ties: Ids | Places | None) -> Places:
    # One integer holds the logit's bits (made to fall as the logit rises) above the tie: a single fast sort.
    # Written half by half, for at this size fresh memory costs more than arithmetic.
    bits = (logits + np.float32(0.0)).view(np.int32)
    flip = bits >> 31
    flip &= np.int32(0x7FFFFFFF)
    bits ^= flip
    keys = np.empty(logits.size, "<i8")
    halves = keys.view("<i4").reshape(-1, 2)
    np.invert(bits, out=halves[:, 1])
    halves[:, 0] = np.arange(logits.size, dtype=np.int32) if ties is None else ties
    keys.sort()
    keys &= 0xFFFFFFFF
    if ties is None:
        return keys
    place_of = np.empty(int(ties.max()) + 1, np.int32)
    place_of[ties] = np.arange(logits.size, dtype=np.int32)
    np.take(place_of, keys, out=bits)
    keys[:] = bits
    return keys
