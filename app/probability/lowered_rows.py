"""What penalties and DRY make of recorded rows, step by step: new bounds, and an order that is no longer certain.

They are the only stages that look at earlier tokens. Must not know the stages that cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.probability.candidates import Ids, candidates_of
from app.probability.dry import Breakers
from app.probability.known_rows import LEAST_LOG, MARGIN, Floats, KnownRows
from app.probability.row_order import RowOrder
from app.probability.stages import Stage, Step

_FEWEST = np.float32(-1e30)


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


def lowered(rows: KnownRows, stages: list[Stage], histories: list[Ids], breakers: Breakers) -> Lowered:
    """Apply penalties and DRY to the bounds of each step."""
    changed = np.empty((3, rows.ids.size))
    mass_low, mass_high, ceiling = rows.mass_low.copy(), rows.mass_high.copy(), rows.ceiling.copy()
    for number in range(rows.steps):
        span = slice(int(rows.starts[number]), int(rows.starts[number + 1]))
        step = Step(histories[number], breakers=breakers)
        shift = float(rows.log_sum_exp[number])
        ids = rows.ids[span]
        for line, values in zip(changed, (rows.low, rows.middle, rows.high), strict=True):
            line[span] = _through(stages, ids, values[span] + shift, step) - shift
        # What is recorded as ruled out may be so by -inf, which no penalty raises.
        is_least = rows.low[span] <= LEAST_LOG
        for line, values in ((changed[0], rows.low), (changed[1], rows.middle)):
            line[span] = np.where(is_least, np.minimum(line[span], values[span]), line[span])
        if rows.unseen[number] <= 0:
            continue
        hidden = np.setdiff1d(step.history, ids)
        if hidden.size == 0:
            continue
        # Of a token that is not at hand only the ceiling is known, and what would become of it there.
        highest = _through(stages, hidden, np.full(hidden.size, ceiling[number] + shift), step) - shift
        mass_low[number] = 0.0
        raised = highest[highest > ceiling[number] + MARGIN]
        if raised.size:
            mass_high[number] += float(np.exp(np.minimum(raised, -LEAST_LOG)).sum())
            ceiling[number] = float(raised.max())
        ceiling[number] += MARGIN
    low, middle, high = changed
    low -= MARGIN
    high += MARGIN
    top = np.maximum(np.maximum.reduceat(high, rows.starts[:-1]), np.where(rows.unseen > 0, ceiling, -np.inf))
    np.maximum(changed - top[rows.owner], LEAST_LOG, out=changed)
    scale = np.exp(np.clip(-top, LEAST_LOG, -LEAST_LOG))
    ceiling -= top
    order = RowOrder(rows, low, high, ceiling)
    return Lowered(low, middle, high, mass_low * scale, mass_high * scale, ceiling, order, False)


def _through(stages: list[Stage], ids: Ids, logits: Floats, step: Step) -> Floats:
    left = candidates_of(ids, np.maximum(logits, _FEWEST).astype(np.float32))
    for stage in stages:
        left = stage.apply(left, step)
    return left.logits.astype(np.float64)
