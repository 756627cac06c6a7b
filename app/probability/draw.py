"""The draw: a number for each position of an answer, and the token on which that number falls.

The number comes from (seed, position, stream) alone, so a forced token, a pause, a branch or a moved slider never
shifts a later draw. Must not know settings.
"""

from __future__ import annotations

import hashlib
import math
import struct
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from app.probability.candidates import Ids, Logits, falling, weights_of

GENERATOR_VERSION = 1
"""Changes whenever the same seed would draw another token; kept with every record."""

DRAW_STREAM = 0
XTC_STREAM = 1

_KEY = struct.Struct("<QQQ")
_FEW = 64
_GROWTH = 16


@dataclass(slots=True)
class Drawn:
    """The token that was drawn."""

    token: int
    index: int
    """Its place in the arrays that were drawn from."""
    probability: float
    """Its probability among the candidates."""


def uniform(seed: int, position: int, stream: int = DRAW_STREAM) -> float:
    """Return the number in [0, 1) for a position, a multiple of 2^-53: 53 bits of a BLAKE2b hash."""
    digest = hashlib.blake2b(_KEY.pack(seed, position, stream), digest_size=8, person=b"tokenlight").digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def draw(ids: Ids, logits: Logits, u: float) -> Drawn:
    """Walk the softmax by falling logit, ties by lower id, to the token at which the mass passes u."""
    if ids.size == 1:
        return Drawn(int(ids[0]), 0, 1.0)
    if ids.size <= _FEW:
        return _draw_of_few(ids, logits, u)
    return _draw_of_many(ids, logits, u)


def _draw_of_few(ids: Ids, logits: Logits, u: float) -> Drawn:
    # At this size plain Python is faster than as many array calls.
    values, tokens = logits.tolist(), ids.tolist()
    order = sorted(range(len(tokens)), key=lambda place: (-values[place], tokens[place]))
    largest = values[order[0]]
    weights = [math.exp(values[place] - largest) if values[place] != largest else 1.0 for place in order]
    reached = list(accumulate(weights))
    total = reached[-1]
    # Where rounding carries u to the very end, the last token that adds to the mass is drawn.
    step = min(bisect_right(reached, u * total), bisect_left(reached, total))
    return Drawn(tokens[order[step]], order[step], weights[step] / total)


def _draw_of_many(ids: Ids, logits: Logits, u: float) -> Drawn:
    weights = weights_of(logits)
    total = float(weights.sum())
    count = _FEW
    while True:
        order = falling(logits, count, ids)
        reached = np.cumsum(weights[order])
        place = int(np.searchsorted(reached, u * total, side="right"))
        if place < order.size:
            break
        if order.size == ids.size:
            place = int(np.searchsorted(reached, reached[-1]))
            break
        count *= _GROWTH
    index = int(order[place])
    return Drawn(int(ids[index]), index, float(weights[index]) / total)
