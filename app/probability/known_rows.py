"""What records know of many rows at once: bounds of the log-probabilities at hand, and of all the tokens that are not.

The rows are ragged: one long array of candidates, cut into steps. Records round to 16 bits, so that each value is a
stretch between two numbers: what is said from them must hold for every value in it. Must not know settings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.probability.candidates import Ids, Places
from app.probability.record import TokenRecords

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MARGIN = 2e-5
"""What float32 may have added to a recorded log-probability, besides the rounding to 16 bits."""
LEAST_LOG = -700.0
"""A probability below e^-700 counts as so small."""
_HALF_STEP = 2.0**-11
_LEAST_HALF_STEP = 2.0**-25


@dataclass(frozen=True, slots=True)
class Extra:
    """One token of a step that is not among its stored alternatives."""

    step: int
    token: int
    log_probability: float
    rank: int


@dataclass(frozen=True, slots=True)
class KnownRows:
    """n steps with c candidates in all, in each step by falling probability; no step is without a candidate."""

    vocabulary: int
    starts: Places
    """n + 1 numbers: the candidates of step i are those from starts[i] to starts[i + 1]."""
    owner: Places
    """c numbers: the step of each candidate."""
    ids: Ids
    places: Places
    """c numbers: how many tokens of the whole row come before each."""
    low: Floats
    middle: Floats
    high: Floats
    """c numbers each: the raw log-probability is between low and high, and middle is the best guess.

    low is -inf where no more is known than that it counts as so small.
    """
    stored: Places
    """n numbers: so many of the candidates are the most likely tokens without a gap."""
    unseen: Floats
    """n numbers: how many tokens are not at hand."""
    mass_low: Floats
    mass_high: Floats
    """n numbers each: the raw probability of all tokens that are not at hand."""
    ceiling: Floats
    """n numbers: no token that is not at hand has a higher log-probability."""
    log_sum_exp: Floats
    entropy: Floats

    @property
    def steps(self) -> int:
        """Return the number of steps."""
        return self.stored.size

    def place_of(self, step: int, token: int) -> int | None:
        """Return where a token stands among all candidates; None where it is not at hand."""
        start, end = self.starts[step : step + 2].tolist()
        found = np.flatnonzero(self.ids[start:end] == token)
        return start + int(found[0]) if found.size else None


def part_of(records: TokenRecords, span: slice) -> TokenRecords:
    """Return the records of some tokens in a row, of which there is at least one."""
    offsets = records.offsets[span.start : span.stop + 1]
    alternatives = slice(int(offsets[0]), int(offsets[-1]))
    return TokenRecords(
        vocabulary=records.vocabulary,
        generator=records.generator,
        base_ns=records.base_ns,
        tokens=records.tokens[span],
        flags=records.flags[span],
        log_probability=records.log_probability[span],
        probability_after=records.probability_after[span],
        rank=records.rank[span],
        entropy=records.entropy[span],
        log_sum_exp=records.log_sum_exp[span],
        time=records.time[span],
        offsets=offsets - offsets[0],
        alternative_ids=records.alternative_ids[alternatives],
        alternative_log_probability=records.alternative_log_probability[alternatives],
    )


def chosen_rows(records: TokenRecords) -> tuple[KnownRows, Places]:
    """Return the rows of records, of which there is at least one, and where their chosen tokens stand."""
    count = len(records)
    counts = np.diff(records.offsets)
    owner = np.repeat(np.arange(count), counts)
    tokens = records.tokens
    hits = np.flatnonzero(records.alternative_ids == tokens[owner])
    is_outside = np.ones(count, np.bool_)
    is_outside[owner[hits]] = False
    outside = np.flatnonzero(is_outside)
    values = records.alternative_log_probability
    log_probability, rank = records.log_probability, records.rank
    extras = _Extras(outside, tokens[outside], log_probability[outside].astype(np.float64), rank[outside])
    rows = _rows(records, np.arange(count), (counts, records.alternative_ids, values), extras)
    chosen = rows.starts[1:] - 1
    chosen[owner[hits]] = rows.starts[owner[hits]] + hits - records.offsets[owner[hits]]
    # The chosen token's own value is not rounded to 16 bits.
    guess = log_probability[owner[hits]].astype(np.float64)
    where = chosen[owner[hits]]
    rows.middle[where] = np.clip(guess, rows.low[where], rows.high[where])
    return rows, chosen


def row_of(records: TokenRecords, index: int, extras: list[Extra]) -> KnownRows:
    """Return the row of one record with tokens that are known of it besides the stored alternatives."""
    ids, values = records.alternatives(index)
    known = set(ids.tolist())
    more = sorted((extra for extra in extras if extra.token not in known), key=lambda extra: extra.rank)
    unique = list({extra.token: extra for extra in more}.values())
    arrays = _Extras(
        np.zeros(len(unique), np.int64),
        np.array([extra.token for extra in unique], np.int32),
        np.array([extra.log_probability for extra in unique], np.float64),
        np.array([extra.rank for extra in unique], np.int32),
    )
    return _rows(records, np.array([index]), (np.array([ids.size]), ids, values), arrays)


@dataclass(frozen=True, slots=True)
class _Extras:
    """Tokens outside of what is stored, by step and rank."""

    step: Places
    ids: Ids
    values: Floats
    rank: npt.NDArray[np.int32]


def _rows(
    records: TokenRecords,
    steps: Places,
    stored: tuple[Places, Ids, npt.NDArray[np.float16]],
    extras: _Extras,
) -> KnownRows:
    counts, ids, rounded = stored
    values = np.maximum(rounded.astype(np.float64), LEAST_LOG)
    error = rounding_error(values)
    low, high = np.where(values > LEAST_LOG, values - error, -np.inf), np.minimum(values + error, 0.0)
    places = np.arange(ids.size) - np.repeat(np.cumsum(counts) - counts, counts)
    sizes = counts
    if extras.step.size:
        ends = np.cumsum(counts)[extras.step]
        their = np.maximum(extras.values, LEAST_LOG)
        has_last = counts[extras.step] > 0
        last = np.maximum(ends - 1, 0)
        # They come after what is stored, whatever the rounding of the last of these says.
        their_low = np.where(their > LEAST_LOG, their - MARGIN, -np.inf)
        their_high = np.minimum(their + MARGIN, 0.0)
        if ids.size:
            their_low = np.where(has_last, np.minimum(their_low, low[last]), their_low)
            their_high = np.where(has_last, np.minimum(their_high, high[last]), their_high)
        low, high = np.insert(low, ends, their_low), np.insert(high, ends, their_high)
        values, ids = np.insert(values, ends, their), np.insert(ids, ends, extras.ids)
        behind = np.maximum(extras.rank - 1, counts[extras.step])
        places = np.insert(places, ends, behind)
        sizes = counts + np.bincount(extras.step, minlength=counts.size)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    unseen = (records.vocabulary - sizes).astype(np.float64)
    mass_low = np.clip(1.0 - np.add.reduceat(np.exp(high), starts[:-1]) - MARGIN, 0.0, 1.0)
    mass_high = np.clip(1.0 - np.add.reduceat(np.exp(low), starts[:-1]) + MARGIN, 0.0, 1.0)
    is_gone = unseen <= 0
    mass_low[is_gone] = mass_high[is_gone] = 0.0
    with np.errstate(divide="ignore"):
        ceiling = np.log(mass_high)
    last_high = high[np.maximum(starts[:-1] + counts - 1, 0)]
    ceiling = np.where(counts > 0, np.minimum(ceiling, last_high), ceiling)
    # Where the only token at hand is the most likely one, no other is above it.
    first = starts[:-1]
    ceiling = np.where((counts == 0) & (places[first] == 0), np.minimum(ceiling, high[first]), ceiling)
    return KnownRows(
        records.vocabulary,
        starts,
        np.repeat(np.arange(counts.size), sizes),
        ids,
        places,
        low,
        np.maximum(values, LEAST_LOG),
        high,
        counts,
        unseen,
        mass_low,
        mass_high,
        np.where(is_gone, -np.inf, np.maximum(ceiling, LEAST_LOG)),
        records.log_sum_exp[steps].astype(np.float64),
        records.entropy[steps].astype(np.float64),
    )


def rounding_error(values: Floats) -> Floats:
    """Return by how much recorded log-probabilities may be off."""
    error: Floats = np.maximum(np.abs(values) * _HALF_STEP, _LEAST_HALF_STEP) + MARGIN
    return error
