"""What penalties and DRY make of recorded rows, step by step: new bounds, and an order that is no longer certain.

They are the only stages that look at earlier tokens. Must not know the stages that cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids, Logits, Places
from app.probability.dry import Breakers, dry_penalties
from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows
from app.probability.row_order import RowOrder
from app.probability.stages import dry_rule, penalised, recent_of

_LEAST_LOGIT = np.float32(-1e30)


class Histories(NamedTuple):
    """The tokens before each step."""

    tokens: Ids
    """Prompt and answer together."""
    ends: Places
    """n numbers: how many of them come before each step."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The logits that the cutting stages get, relative to the largest that any token of the step may have."""

    low: Floats
    middle: Floats
    high: Floats
    mass_low: Floats
    mass_high: Floats
    ceiling: Floats
    order: RowOrder
    is_whole: bool
    """Whether the weights of all tokens of a step still add up to 1."""


def as_recorded(rows: KnownRows) -> Lowered:
    """Return the rows as they are, for chains without penalties and DRY."""
    order = RowOrder(rows, rows.low, rows.high, None)
    return Lowered(rows.low, rows.middle, rows.high, rows.mass_low, rows.mass_high, rows.ceiling, order, True)


def histories_of(prompt: Ids, tokens: Ids) -> Histories:
    """Return the tokens before each token of an answer."""
    together = np.concatenate((prompt, tokens)).astype(np.int32, copy=False)
    return Histories(together, np.arange(prompt.size, together.size))


def lowered(rows: KnownRows, settings: SamplingSettings, histories: Histories, breakers: Breakers) -> Lowered:
    """Apply penalties and DRY to the bounds of each step."""
    lowering = _Lowering(settings, histories, breakers)
    where = lowering.where(rows.ids)
    counts, lowered_by = np.zeros(rows.ids.size, np.int64), np.zeros(rows.ids.size, np.float32)
    mass_low, mass_high, ceiling = rows.mass_low.copy(), rows.mass_high.copy(), rows.ceiling.copy()
    for number in range(rows.steps):
        span = slice(int(rows.starts[number]), int(rows.starts[number + 1]))
        their = lowering.at(number)
        counts[span], lowered_by[span] = their.counts[where[span]], their.lowered_by[where[span]]
        if rows.unseen[number] <= 0:
            continue
        their.is_recent[where[span]] = False
        hidden = np.flatnonzero(their.is_recent[:-1])
        if hidden.size == 0:
            continue
        # Of a token that is not at hand only the ceiling is known, and what would become of it there.
        shift = float(rows.log_sum_exp[number])
        most = np.full(hidden.size, ceiling[number] + shift)
        highest = lowering.through(most, their.counts[hidden], their.lowered_by[hidden]) - shift
        mass_low[number] = 0.0
        raised = highest[highest > ceiling[number] + MARGIN]
        if raised.size:
            mass_high[number] += float(np.exp(np.minimum(raised, -LEAST_LOG)).sum())
            ceiling[number] = float(raised.max())
        ceiling[number] += MARGIN
    shifts = rows.log_sum_exp[rows.owner]
    changed = np.empty((3, rows.ids.size))
    for line, values in zip(changed, (rows.low, rows.middle, rows.high), strict=True):
        line[:] = lowering.through(values + shifts, counts, lowered_by) - shifts
    # What is recorded as ruled out may be so by -inf, which no penalty raises.
    is_least = rows.low <= LEAST_LOG
    for line, values in ((changed[0], rows.low), (changed[1], rows.middle)):
        line[is_least] = np.minimum(line, values)[is_least]
    low, middle, high = changed
    low -= MARGIN
    high += MARGIN
    top = np.maximum(np.maximum.reduceat(high, rows.starts[:-1]), np.where(rows.unseen > 0, ceiling, -np.inf))
    np.maximum(changed - top[rows.owner], LEAST_LOG, out=changed)
    scale = np.exp(np.clip(-top, LEAST_LOG, -LEAST_LOG))
    ceiling -= top
    order = RowOrder(rows, low, high, ceiling)
    return Lowered(low, middle, high, mass_low * scale, mass_high * scale, ceiling, order, False)


class _AtStep(NamedTuple):
    """What the tokens before a step do; a number for each token that occurs anywhere, and one for all others."""

    counts: Places
    """How often the penalties see it."""
    lowered_by: Logits
    """What DRY subtracts."""
    is_recent: npt.NDArray[np.bool_]
    """Whether it is among what penalties or DRY look at."""


class _Lowering:
    """Penalties and DRY; tokens go by their place among those that occur, which are few beside a vocabulary."""

    def __init__(self, settings: SamplingSettings, histories: Histories, breakers: Breakers) -> None:
        self._settings = settings
        self._histories = histories
        self._breakers = breakers
        self._rule = dry_rule(settings)
        self._tokens, places = np.unique(histories.tokens, return_inverse=True)
        self._places = places.astype(np.int32)
        self._counts = settings.penalty_reach(1) > 0
        whole = histories.tokens.size
        self._reach = max(settings.penalty_reach(whole), settings.dry_reach(whole))

    def where(self, ids: Ids) -> Places:
        """Return the place of each token; that of one which never occurs is behind all others."""
        found = np.searchsorted(self._tokens, ids)
        found[self._tokens[np.minimum(found, self._tokens.size - 1)] != ids] = self._tokens.size
        return found

    def at(self, step: int) -> _AtStep:
        """Return what the tokens before a step do."""
        end, size = int(self._histories.ends[step]), self._tokens.size + 1
        before = self._places[:end]
        recent = recent_of(before, self._settings.penalty_last_n)
        counts = np.bincount(recent, minlength=size) if self._counts else np.zeros(size, np.int64)
        lowered_by = np.zeros(size, np.float32)
        if self._rule.is_active:
            tokens, penalties = dry_penalties(self._histories.tokens[:end], self._rule, self._breakers)
            lowered_by[np.searchsorted(self._tokens, tokens)] = penalties
        is_recent = np.zeros(size, np.bool_)
        is_recent[recent_of(before, self._reach)] = True
        return _AtStep(counts, lowered_by, is_recent)

    def through(self, logits: Floats, counts: Places, lowered_by: Logits) -> Floats:
        """Return what becomes of logits, in float32 as llama.cpp has them."""
        s = self._settings
        left = np.maximum(logits, _LEAST_LOGIT).astype(np.float32)
        seen = np.flatnonzero(counts)
        left[seen] = penalised(left[seen], counts[seen], s.repeat_penalty, s.frequency_penalty, s.presence_penalty)
        left -= lowered_by
        return left.astype(np.float64)
