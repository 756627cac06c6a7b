"""How near a draw was to another token than the one that it fell on.

Rounding shifts the mass before a token a little: a draw that falls close to a border may fall on its other side in
another run, however unlike the two tokens are. Must not know where the candidates came from.
"""

from __future__ import annotations

import math

import numpy as np

from app.probability.candidates import Ids, Logits


def draw_distance(ids: Ids, logits: Logits, u: float, token: int) -> float | None:
    """Return by how much the odds must shift, as a natural logarithm, for `u` to fall on a token.

    The candidates are walked by falling logit, ties by lower id, as they are drawn. 0 for the token that `u` falls on;
    None for one that is no candidate.
    """
    order = np.lexsort((ids, -logits))
    places = np.flatnonzero(ids[order] == token)
    if not len(places):
        return None
    place = int(places[0])
    values = logits[order].astype(np.float64)
    reached = np.cumsum(np.exp(values - values[0]))
    before = float(reached[place - 1] / reached[-1]) if place else 0.0
    behind = float(reached[place] / reached[-1])
    if before <= u < behind:
        return 0.0
    border = before if u < before else behind
    return abs(_log_odds(border) - _log_odds(u))


def _log_odds(share: float) -> float:
    """Return the logarithm of a share of the mass against the rest; infinite at both ends."""
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else math.log(share) - math.log1p(-share)
