"""What penalties and DRY make of recorded rows, step by step: new bounds, and an order that is no longer certain.

They are the only stages that look at earlier tokens. Must not know the stages that cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids, Logits, Places
from app.probability.dry import Breakers, dry_penalties
from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows
from app.probability.row_order import RowOrder
from app.probability.stages import dry_rule, penalised, recent_of

_LEAST_LOGIT = np.float32(-1e30)
_MOST_LOG = 709.0
"""e^709 is still a number."""
_SINGLE = 2.0**-22
"""What a few operations in float32 may add to a number, as a part of it."""
_DOUBLE = 2.0**-50
"""The same in float64."""


class Histories(NamedTuple):
    """The tokens before each step."""

    tokens: Ids
    """Prompt and answer together."""
    ends: Places
    """n numbers: how many of them come before each step."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The logits that a cutting stage gets, relative to the largest that any token of the step may have."""

    low: Floats
    middle: Floats
    high: Floats
    mass_low: Floats
    mass_high: Floats
    ceiling: Floats
    order: RowOrder
    shift: Floats
    """n numbers: what makes a value a logit of the chain again."""
    in_order: bool = True
    """Whether the order is still that of the record, in which each candidate has a known place."""
    is_whole: bool = True
    """Whether the weights of all tokens of a step still add up to 1."""
    is_tempered: bool = False


def as_recorded(rows: KnownRows) -> Lowered:
    """Return the rows as they are, before penalties, DRY and temperature."""
    order = RowOrder(rows, rows.low, rows.high, None)
    mass = rows.mass_low, rows.mass_high
    return Lowered(rows.low, rows.middle, rows.high, *mass, rows.ceiling, order, rows.log_sum_exp)


def histories_of(prompt: Ids, tokens: Ids) -> Histories:
    """Return the tokens before each token of an answer."""
    together = np.concatenate((prompt, tokens)).astype(np.int32, copy=False)
    return Histories(together, np.arange(prompt.size, together.size))


def lowered(rows: KnownRows, known: Lowered, lowering: Lowering, stages: Sequence[str], unseen: Floats) -> Lowered:
    """Apply penalties and DRY, those that `stages` name, one after the other, to the bounds of each step.

    `unseen` is how many tokens that are not at hand may be left.
    """
    where = lowering.where(rows.ids)
    counts, lowered_by = np.zeros(rows.ids.size, np.int64), np.zeros(rows.ids.size, np.float32)
    mass_low, mass_high, ceiling = known.mass_low.copy(), known.mass_high.copy(), known.ceiling.copy()
    for number in range(rows.steps):
        span = slice(int(rows.starts[number]), int(rows.starts[number + 1]))
        their = lowering.at(number, stages)
        counts[span], lowered_by[span] = their.counts[where[span]], their.lowered_by[where[span]]
        if unseen[number] <= 0:
            continue
        # The places of tokens at hand no longer count, nor does the one of all that never occur.
        their.counts[where[span]], their.lowered_by[where[span]] = 0, 0.0
        hidden = _Hidden(float(mass_low[number]), float(mass_high[number]), float(ceiling[number]))
        hidden = lowering.through_hidden(hidden, their, float(known.shift[number]), stages)
        mass_low[number], mass_high[number], ceiling[number] = hidden
    if known.is_tempered:
        margin = MARGIN + _SINGLE * (np.abs(ceiling + known.shift) - LEAST_LOG)
        margin = np.where(np.isfinite(ceiling), margin, 0.0)  # it is -inf where every token is at hand
        ceiling += margin
        mass_low *= np.exp(-margin)
        with np.errstate(over="ignore"):
            mass_high *= np.exp(margin)
    changed = _at_hand(rows, known, lowering, stages, (counts, lowered_by))
    top = np.maximum(np.maximum.reduceat(changed[2], rows.starts[:-1]), np.where(unseen > 0, ceiling, -np.inf))
    # No bound ends at a least number here: the next stage may raise it, and would take it for known.
    low, middle, high = changed - top[rows.owner]
    ceiling -= top
    mass_low, mass_high = rescaled_mass((mass_low, mass_high), top)
    mass_high = np.minimum(mass_high, unseen * np.exp(np.minimum(ceiling, 0.0)))
    mass_high = np.where(unseen > 0, np.maximum(mass_high, np.exp(LEAST_LOG)), 0.0)
    return Lowered(
        low,
        middle,
        high,
        known_mass(mass_low),
        mass_high,
        ceiling,
        RowOrder(rows, low, high, ceiling),
        known.shift + top,
        in_order=False,
        is_whole=False,
        is_tempered=known.is_tempered,
    )


def _at_hand(
    rows: KnownRows, known: Lowered, lowering: Lowering, stages: Sequence[str], undergone: tuple[Places, Logits]
) -> Floats:
    """Return what becomes of the three bounds of the tokens at hand, which undergo so much."""
    shifts = known.shift[rows.owner]
    changed = np.empty((3, rows.ids.size))
    for line, values in zip(changed, (known.low, known.middle, known.high), strict=True):
        line[:] = lowering.through(values + shifts, *undergone, stages) - shifts
    # What is recorded as ruled out may be so by -inf, which no penalty raises.
    is_least = np.isneginf(known.low)
    changed[0][is_least] = -np.inf
    changed[1][is_least] = np.minimum(changed[1], known.middle)[is_least]
    for line, before, sign in ((changed[0], known.low, -1), (changed[2], known.high, 1)):
        margin = MARGIN + _DOUBLE * np.abs(line)
        if known.is_tempered:
            margin += _SINGLE * np.abs(before + shifts)
        np.add(line, sign * margin, out=line)
    np.maximum(changed[2], _LEAST_LOGIT, out=changed[2])
    return changed


def known_mass(mass_low: Floats) -> Floats:
    """Return a lower bound that is none where it is too small for a number: such numbers are rounded by any part."""
    return np.where(mass_low < np.finfo(np.float64).tiny, 0.0, mass_low)


def rescaled_mass(mass: tuple[Floats, Floats], top: Floats) -> tuple[Floats, Floats]:
    """Return bounds of a mass relative to e^top: what is too small or too large for a number is said by neither."""
    low = known_mass(mass[0]) * np.exp(np.minimum(-top, -LEAST_LOG))
    with np.errstate(over="ignore", invalid="ignore"):
        high = mass[1] * np.exp(np.maximum(-top, LEAST_LOG))
    return low, np.where(mass[1] > 0, high, 0.0)


class _AtStep(NamedTuple):
    """What the tokens before a step do; a number for each token that occurs anywhere, and one for all others."""

    counts: Places
    """How often the penalties see it."""
    lowered_by: Logits
    """What DRY subtracts."""


class _Hidden(NamedTuple):
    """What is known of the tokens of a step that are not at hand."""

    mass_low: float
    mass_high: float
    ceiling: float


class Lowering:
    """Penalties and DRY; tokens go by their place among those that occur, which are few beside a vocabulary."""

    def __init__(self, settings: SamplingSettings, histories: Histories, breakers: Breakers) -> None:
        self._settings = settings
        self._histories = histories
        self._breakers = breakers
        self._rule = dry_rule(settings)
        self._tokens, places = np.unique(histories.tokens, return_inverse=True)
        self._places = places.astype(np.int32)
        self._is_counting = settings.penalty_reach(1) > 0

    def where(self, ids: Ids) -> Places:
        """Return the place of each token; that of one which never occurs is behind all others."""
        found = np.searchsorted(self._tokens, ids)
        found[self._tokens[np.minimum(found, self._tokens.size - 1)] != ids] = self._tokens.size
        return found

    def at(self, step: int, stages: Sequence[str]) -> _AtStep:
        """Return what the tokens before a step do in these stages."""
        end, size = int(self._histories.ends[step]), self._tokens.size + 1
        counts, lowered_by = np.zeros(size, np.int64), np.zeros(size, np.float32)
        if self._is_counting and "penalties" in stages:
            counts = np.bincount(recent_of(self._places[:end], self._settings.penalty_last_n), minlength=size)
        if self._rule.is_active and "dry" in stages:
            tokens, penalties = dry_penalties(self._histories.tokens[:end], self._rule, self._breakers)
            lowered_by[np.searchsorted(self._tokens, tokens)] = penalties
        return _AtStep(counts, lowered_by)

    def through_hidden(self, hidden: _Hidden, their: _AtStep, shift: float, stages: Sequence[str]) -> _Hidden:
        """Return what becomes of the tokens that are not at hand, of which `their` says what they undergo."""
        s = self._settings
        for name in stages:
            if name == "dry":
                repeat, subtracted = 1.0, their.lowered_by[their.lowered_by != 0]
            else:
                counts = their.counts[their.counts > 0].astype(np.float32)
                repeat = float(np.float32(s.repeat_penalty))
                subtracted = counts * np.float32(s.frequency_penalty) + np.float32(s.presence_penalty)
            if subtracted.size:
                hidden = _changed(hidden, repeat, subtracted.astype(np.float64), shift)
        return hidden

    def through(self, logits: Floats, counts: Places, lowered_by: Logits, stages: Sequence[str]) -> Floats:
        """Return what becomes of logits, in float32 as llama.cpp has them."""
        s = self._settings
        left = np.maximum(logits, _LEAST_LOGIT).astype(np.float32)
        for name in stages:
            if name == "dry":
                left -= lowered_by
                continue
            seen = np.flatnonzero(counts)
            left[seen] = penalised(
                left[seen], counts[seen], s.repeat_penalty, s.frequency_penalty, s.presence_penalty
            )
        return left.astype(np.float64)


def _changed(hidden: _Hidden, repeat: float, subtracted: Floats, shift: float) -> _Hidden:
    """Return what becomes of tokens, some of whose logits are scaled as penalties do, and then subtracted from."""
    low, high, ceiling = hidden
    rounding = MARGIN + _SINGLE * (abs(ceiling + shift) * max(repeat, 1 / repeat) + float(np.abs(subtracted).max()))
    most, bend = ceiling + shift, min(ceiling + shift, 0.0)
    scaled_most, scaled_bend = most * repeat if most <= 0 else most / repeat, bend * repeat
    # From 0 up to the ceiling scaling adds least and most at one of the ends; below 0 there may be no limit, but
    # such tokens weigh little before and after.
    least, largest = sorted((scaled_most - most, scaled_bend - bend))
    growing = subtracted[subtracted < (math.inf if repeat < 1 else largest)]
    falling = np.count_nonzero(subtracted > (-math.inf if repeat > 1 else least))
    # Two bounds each: by what the changed tokens may weigh, and by the factor that no token passes.
    if growing.size:
        below = _sum(scaled_bend - shift - growing + rounding) if repeat < 1 else 0.0
        by_factor = high * _weight(max(largest - float(growing.min()) + rounding, 0.0)) + below
        high = min(high + _sum(scaled_most - shift - growing + rounding), by_factor)
    if falling:
        below = falling * _weight(bend - shift) if repeat > 1 else 0.0
        kept = low * _weight(min(least - float(subtracted.max()) - rounding, 0.0)) - below
        low = max(low - falling * _weight(ceiling), kept, 0.0)
    if growing.size:
        ceiling = max(ceiling, scaled_most - float(growing.min()) - shift + rounding)
    return _Hidden(low, high, ceiling)


def _weight(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < _MOST_LOG else math.inf


def _sum(logarithms: Floats) -> float:
    """Return the sum of e^logarithm."""
    with np.errstate(over="ignore"):
        return float(np.exp(logarithms).sum())
