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

_NONE: Places = np.empty(0, np.int64)


class Ranking(NamedTuple):
    """What is known of a row from before: it spares sorting and searching all of it again at every replay."""

    order: Places | None = None
    """All places by the falling logits of that time, of equal ones the lower first; None where they lay in order."""
    where: Places | Ids | None = None
    """The place of each token by its id; None where nobody knows."""
    moved: Places = _NONE
    """The places, rising, whose logits became others since then."""


class Candidates(NamedTuple):
    """What is left of a row between two stages, in the order that the last stage left."""

    ids: Ids
    logits: Logits
    places: Places
    """Where each candidate stood in the array that the first stage got."""
    is_sorted: bool
    """Whether a stage has put them in the order of falling logits."""
    ranking: Ranking | None = None
    """What is known of their order where they are not in it; good for exactly these candidates."""

    def kept(self, places: Places | slice, *, is_sorted: bool) -> Candidates:
        """Return the candidates at these places, in their order."""
        return Candidates(self.ids[places], self.logits[places], self.places[places], is_sorted)

    def with_logits(self, logits: Logits, moved: Places) -> Candidates:
        """Return the same candidates with other logits at the places `moved`, which rise."""
        known = self.ranking or (Ranking() if self.is_sorted else None)
        if known is not None:
            known = known._replace(moved=np.union1d(known.moved, moved))
        return Candidates(self.ids, logits, self.places, False, known)

    def places_of(self, tokens: Ids) -> Places:
        """Return where candidates lie whose id is among these different tokens, rising."""
        where = None if self.ranking is None else self.ranking.where
        if where is not None:
            return np.sort(where[tokens[tokens < where.size]]).astype(np.int64, copy=False)
        is_wanted = np.zeros(max(int(self.ids.max()), int(tokens.max())) + 1, np.bool_)
        is_wanted[tokens] = True
        return np.flatnonzero(is_wanted[self.ids])

    def in_order(self, count: int) -> Places:
        """Return the places of the largest logits as `falling` does, without sorting where the order is known."""
        if self.ranking is None:
            return falling(self.logits, count)
        return _ranked(self.logits, self.ranking)[:count]


def candidates_of(ids: Ids, logits: Logits, *, is_sorted: bool = False, ranking: Ranking | None = None) -> Candidates:
    """Return the candidates that a chain begins with."""
    return Candidates(ids, logits, np.arange(ids.size), is_sorted, ranking)


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


def _ranked(logits: Logits, ranking: Ranking) -> Places:
    # What `falling` says of all: those that did not move are in order still, the others are put among them.
    order, moved = ranking.order, ranking.moved
    if moved.size == 0:
        return np.arange(logits.size) if order is None else order
    stays = np.ones(logits.size, np.bool_)
    stays[moved] = False
    rest = np.flatnonzero(stays) if order is None else order[stays[order]]
    own = moved[falling(logits[moved], moved.size)]
    return np.insert(rest, _gaps(logits, rest, own), own)


def _gaps(logits: Logits, rest: Places, own: Places) -> Places:
    # How many of `rest` come before each of `own`. Among equal logits the place decides: a search for all at once.
    rising, wanted = -logits[rest], -logits[own]
    low, high = rising.searchsorted(wanted, "left"), rising.searchsorted(wanted, "right")
    while (low < high).any():
        middle = (low + high) // 2
        is_before = (middle < high) & (rest[np.minimum(middle, rest.size - 1)] < own)
        low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
    return low
