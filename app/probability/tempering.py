"""Temperature on bounds: weights to a power, sums of them over tokens of which little is known, and whole records.

Must not know stages that cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows
from app.probability.lowered_rows import Lowered, known_mass, rescaled_mass
from app.probability.row_order import RowOrder

_MOST_EXPONENT = 700.0
LEAST_EXPONENT = -_MOST_EXPONENT
_SINGLE = 2.0**-23
"""What an operation in float32 may add to a number, and a little more, as a part of it."""
_NEAR = 100.0
"""What lies farther below the largest of hidden tokens weighs nothing beside it, at any rate after a division."""


def tempered_rows(rows: KnownRows, known: Lowered, temperature: float, unseen: Floats) -> Lowered:
    """Divide the logits by a temperature above 0; `unseen` is how many tokens that are not at hand may be left.

    Dividing keeps the order: float32 makes no two logits equal but such that are neighbours among its numbers.
    """
    power = 1.0 / temperature
    low, high, ceiling, mass = _widened(rows, known)
    top = np.maximum(np.maximum.reduceat(high, rows.starts[:-1]), np.where(unseen > 0, ceiling, -np.inf))
    # What float32 adds to a quotient is below what it may have added to the logit, divided; all values end at 0.
    error = MARGIN * power
    low, middle, high = ((line - top[rows.owner]) * power for line in (low, known.middle, high))
    low, middle = low - 2 * error, middle - error
    is_least = np.isneginf(known.low)
    middle[is_least] = np.minimum(middle, known.middle)[is_least]  # it may have been -inf
    mass = tempered_bounds(mass, (unseen, ceiling), top, power)
    ceiling = (ceiling - top) * power
    return replace(
        known,
        low=low,
        middle=middle,
        high=high,
        mass_low=known_mass(mass[0] * np.exp(-2 * error)),
        # No upper bound is 0 while there may be one: it would say what nobody knows.
        mass_high=np.where(unseen > 0, np.maximum(mass[1], np.exp(LEAST_LOG)), 0.0),
        ceiling=ceiling,
        order=RowOrder(rows, low, high, None if known.in_order else ceiling),
        is_whole=False,
        is_tempered=True,
        shift=(known.shift + top) * power + error,
    )


def _widened(rows: KnownRows, known: Lowered) -> tuple[Floats, Floats, Floats, tuple[Floats, Floats]]:
    """Return low, high, ceiling and mass with room for what float32 does to logits that are larger than usual."""
    shifts = known.shift[rows.owner]
    low, high = known.low - _more_than_margin(known.low + shifts), known.high + _more_than_margin(known.high + shifts)
    ceiling = np.abs(known.ceiling + known.shift) + _NEAR
    error = np.where(np.isfinite(ceiling), _more_than_margin(ceiling), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        mass = known.mass_low * np.exp(-error), known.mass_high * np.exp(error)
    return low, high, known.ceiling + error, mass


def _more_than_margin(logits: Floats) -> Floats:
    """Return what float32 may add to such logits beyond what all bounds leave room for; 0 for usual ones."""
    return np.maximum(_SINGLE * np.abs(logits) - MARGIN, 0.0)


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
    low, high = rescaled_mass(mass, top)
    largest = np.where(unseen[0] > 0, np.minimum(unseen[1] - top, 0.0), 0.0)
    by_number = unseen[0] * np.exp(np.maximum(largest * power, -_MOST_EXPONENT))
    if power == 1.0:
        return low, np.minimum(high, by_number)
    by_largest = np.exp(np.clip(largest * (power - 1.0), -_MOST_EXPONENT, _MOST_EXPONENT))
    # No weight^power is above largest^(power - 1) * weight for a power > 1, and none below it for a power < 1.
    if power > 1.0:
        return _spread_evenly(low, unseen[0], power), np.minimum(by_largest * high, by_number)
    return by_largest * low, np.minimum(_spread_evenly(high, unseen[0], power), by_number)


def _spread_evenly(mass: Floats, count: Floats, power: float) -> Floats:
    """Return the sum of weight^power where so many tokens have the mass in equal parts.

    Convexity: no other way to share the mass has a smaller sum for a power > 1, nor a larger one for a power < 1.
    """
    count = np.maximum(count, 1.0)
    with np.errstate(divide="ignore"):
        part = np.log(mass / count)
    return np.exp(np.minimum(np.log(count) + part * power, _MOST_EXPONENT))
