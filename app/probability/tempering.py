"""Temperature on bounds: weights to a power, sums of them over tokens of which little is known, and whole records.

Must not know stages that cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows
from app.probability.lowered_rows import Lowered
from app.probability.row_order import RowOrder

_MOST_EXPONENT = 700.0
LEAST_EXPONENT = -_MOST_EXPONENT


def tempered_rows(rows: KnownRows, known: Lowered, temperature: float, unseen: Floats) -> Lowered:
    """Divide the logits by a temperature above 0; `unseen` is how many tokens that are not at hand may be left.

    Dividing keeps the order: float32 makes no two logits equal but such that are neighbours among its numbers.
    """
    power = 1.0 / temperature
    hidden = np.where(unseen > 0, known.ceiling, -np.inf)
    top = np.maximum(np.maximum.reduceat(known.high, rows.starts[:-1]), hidden)
    # What float32 adds to a quotient is below what it may have added to the logit, divided; all values end at 0.
    error = MARGIN * power
    low, middle, high = ((line - top[rows.owner]) * power for line in (known.low, known.middle, known.high))
    low, middle = low - 2 * error, middle - error
    is_least = known.low <= LEAST_LOG
    for line, before in ((low, known.low), (middle, known.middle)):
        np.maximum(line, LEAST_LOG, out=line)
        line[is_least] = np.minimum(line, before)[is_least]  # it may have been -inf
    np.maximum(high, LEAST_LOG, out=high)
    mass = tempered_bounds((known.mass_low, known.mass_high), (unseen, known.ceiling), top, power)
    ceiling = (known.ceiling - top) * power
    return replace(
        known,
        low=low,
        middle=middle,
        high=high,
        mass_low=mass[0] * np.exp(-2 * error),
        # No upper bound is 0 while there may be one: it would say what nobody knows.
        mass_high=np.where(unseen > 0, np.maximum(mass[1], np.exp(LEAST_LOG)), 0.0),
        ceiling=ceiling,
        order=RowOrder(rows, low, high, None if known.in_order else ceiling),
        is_whole=False,
        is_tempered=True,
        shift=(known.shift + top) * power + error,
    )


def tempered(line: Floats, top: Floats, power: float, least: float = -np.inf) -> Floats:
    """Return e^(log-probability - top) to a power, at most 1.

    Upper bounds end at `LEAST_EXPONENT`: one of 0 beside a lower bound of 0 would say what nobody knows.
    """
    weights: Floats = np.exp(np.clip((line - top) * power, least, 0.0))
    return weights


def tempered_bounds(
    mass: tuple[Floats, Floats], unseen: tuple[Floats, Floats], top: Floats, power: float
) -> tuple[Floats, Floats]:
    """Bound the sum of weight^power over tokens of which the mass is bounded, and so are their number and each weight.

    `unseen` is their largest number, and the logarithm of the largest weight; the sums are relative to e^top.
    """
    scale = np.exp(-top)
    low, high = mass[0] * scale, mass[1] * scale
    if power == 1.0:
        return low, high
    largest = np.where(unseen[0] > 0, np.minimum(unseen[1] - top, 0.0), 0.0)
    by_largest = np.exp(np.clip(largest * (power - 1.0), -_MOST_EXPONENT, _MOST_EXPONENT))
    # No weight^power is above largest^(power - 1) * weight for a power > 1, and none below it for a power < 1.
    if power > 1.0:
        return _spread_evenly(low, unseen[0], power), by_largest * high
    return by_largest * low, _spread_evenly(high, unseen[0], power)


def _spread_evenly(mass: Floats, count: Floats, power: float) -> Floats:
    """Return the sum of weight^power where so many tokens have the mass in equal parts.

    Convexity: no other way to share the mass has a smaller sum for a power > 1, nor a larger one for a power < 1.
    """
    count = np.maximum(count, 1.0)
    with np.errstate(divide="ignore"):
        part = np.log(mass / count)
    return np.exp(np.minimum(np.log(count) + part * power, _MOST_EXPONENT))
