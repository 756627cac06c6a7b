"""What a record's own probability after the chain adds to the bounds of a replay: it is exact, where they may be wide.

It holds for the chain alone that drew the token. Must not know how records come here, nor who asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.bounded import UNKNOWN, BoundedReplay
from app.probability.known_rows import KnownRows
from app.probability.what_if import NOT_CUT

_SINGLE = 1e-6
"""As a part of a probability: what it may be off by as a record keeps it, in float32."""
_LEAST = 1e-300


class Taken(NamedTuple):
    """What a record says of the token that a draw took."""

    token: int
    after: float
    """Its probability after the chain."""
    settings: SamplingSettings
    """Those of the chain."""


def sharpened(replay: BoundedReplay, row: KnownRows, taken: Taken, *, is_in_order: bool) -> BoundedReplay | None:
    """Return the replay of the chain that drew a token, with what follows from the token's own probability.

    `is_in_order` says that no stage changed the order of the record. None where the record fits no such replay.
    """
    place = row.place_of(0, taken.token)
    if place is None:
        return None
    least, most = taken.after * (1 - _SINGLE), min(taken.after * (1 + _SINGLE), 1.0)
    fits = replay.after_low[place] <= most and least <= replay.after_high[place]
    if not fits or least <= 0.0 or replay.cut_by[place] not in (NOT_CUT, UNKNOWN):
        return None
    cut_by = replay.cut_by.copy()
    cut_by[place] = NOT_CUT
    is_left = cut_by == NOT_CUT
    is_cut = ~is_left & (cut_by != UNKNOWN)
    # Of two tokens that are left, one has as many times the other's probability as it weighs.
    by_least = least * replay.weight_low / max(float(replay.weight_high[place]), _LEAST)
    by_most = most * np.minimum(replay.weight_high / max(float(replay.weight_low[place]), _LEAST), 1 / most)
    low = np.where(is_left, np.maximum(replay.after_low, np.minimum(by_least, 1.0)), 0.0)
    high = np.where(is_cut, 0.0, np.minimum(np.minimum(replay.after_high, by_most), 1.0 - least))
    low[place], high[place] = least, most
    low = np.minimum(low, high)
    after = np.clip(replay.after, low, high)
    after[place] = taken.after
    ahead_low, ahead_high = replay.ahead_low, replay.ahead_high
    if is_in_order:
        has_gap = row.places > np.arange(row.places.size)
        ahead_low = np.maximum(ahead_low, np.cumsum(low) - low)
        ahead_high = np.where(has_gap, ahead_high, np.minimum(ahead_high, np.cumsum(high) - high))
        ahead_low = np.minimum(ahead_low, ahead_high)
    return replace(
        replay,
        cut_by=cut_by,
        after_low=low,
        after=after,
        after_high=high,
        ahead_low=ahead_low,
        ahead_high=ahead_high,
    )
