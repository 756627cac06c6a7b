"""Where lanes leave the baseline: the first differing token, both candidates in both lanes, and what decided it.

Up to there all tokens are the same, so that both lanes drew from the same row. Must not know texts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from app.probability.bounded import BoundedReplay
from app.probability.candidates import Ids
from app.probability.deciding import Reason, Side, decided, replay_at
from app.probability.known_rows import Extra, KnownRows, row_of
from app.probability.lane import Lane
from app.probability.record import FORCED, TokenRecords
from app.probability.replayed import KNOWN_WITHIN
from app.probability.what_if import NOT_CUT

SHOWN = 20
"""So many of the most likely tokens are told for the picture of both distributions."""


@dataclass(frozen=True, slots=True)
class InLane:
    """What one lane's chain makes of a token."""

    after: float | None
    """Its probability after the chain, 0 for one that is cut; None where nobody knows."""
    cut_by: str | None
    """The stage that cut it for certain."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One token of the row that both lanes drew from."""

    token: int
    raw: float | None
    """Its probability before any stage; None where nothing was recorded of it."""
    rank: int | None
    """Its place in the raw distribution, 1 for the most likely."""
    baseline: InLane
    lane: InLane


@dataclass(frozen=True, slots=True)
class Divergence:
    """The step at which a lane leaves the baseline."""

    index: int
    """Of the first token that differs."""
    baseline: Contender | None
    """What the baseline took; None where it has no token there."""
    lane: Contender | None
    """What the lane took."""
    reason: Reason
    baseline_number: float | None
    lane_number: float | None
    """The numbers in [0, 1) that the two draws drew with; None without a seed."""
    picture: tuple[Contender, ...]
    """The most likely tokens by falling raw probability, with both contenders; none where nothing was recorded."""


_NOTHING = InLane(None, None)
SLACK = 0.01
"""By so much two probabilities of one lane may exceed 1 together: alternatives are kept rounded."""


def first_difference(one: Ids, other: Ids) -> int | None:
    """Return the index of the first token that differs, or that only one has; None where all are the same."""
    common = min(one.size, other.size)
    differing = np.flatnonzero(one[:common] != other[:common])
    if differing.size:
        return int(differing[0])
    return None if one.size == other.size else common


def divergence(baseline: Lane, lane: Lane) -> Divergence | None:
    """Return where a lane leaves the baseline."""
    index = first_difference(baseline.tokens, lane.tokens)
    if index is None:
        return None
    numbers = baseline.draw_number(index), lane.draw_number(index)
    rows = _shared_row(baseline, lane, index)
    if rows is None:
        contenders = _unrecorded(baseline, index), _unrecorded(lane, index)
        reason = Reason("ended") if None in contenders else Reason("unknown")
        return Divergence(index, *contenders, reason, *numbers, ())
    sides = (
        Side(baseline, index, replay_at(rows, baseline, index), numbers[0]),
        Side(lane, index, replay_at(rows, lane, index), numbers[1]),
    )
    taken = _taken(rows, sides[0]), _taken(rows, sides[1])
    reason = _reason(rows, sides, taken)
    contenders = _contender_of(rows, sides, 0, taken[0]), _contender_of(rows, sides, 1, taken[1])
    shown = sorted({*range(min(SHOWN, rows.ids.size)), *(place for place in taken if place is not None)})
    picture = tuple(_contender(rows, sides, place) for place in shown)
    return Divergence(index, *contenders, reason, *numbers, picture)


def _reason(rows: KnownRows, sides: tuple[Side, Side], taken: tuple[int | None, int | None]) -> Reason:
    baseline, lane = sides
    if any(side.index >= side.lane.tokens.size for side in sides):
        return Reason("ended")
    records = [side.lane.record_of(side.index) for side in sides]
    if any(record is not None and record.flags[baseline.index] & FORCED for record in records):
        return Reason("forced")
    return decided(rows, baseline, lane, taken)


def _shared_row(baseline: Lane, lane: Lane, index: int) -> KnownRows | None:
    """Return the row that both drew from, by the better record, with the tokens that both took."""
    known = [each.records for each in (baseline, lane) if each.record_of(index) is not None]
    records = [record for record in known if record is not None]
    if not records:
        return None
    extras = [_extra(record, index) for record in records]
    best = max(records, key=lambda record: int(record.offsets[index + 1] - record.offsets[index]))
    return row_of(best, index, extras)


def _extra(records: TokenRecords, index: int) -> Extra:
    log_probability, rank = float(records.log_probability[index]), int(records.rank[index])
    return Extra(0, int(records.tokens[index]), log_probability, rank)


def _taken(rows: KnownRows, side: Side) -> int | None:
    tokens = side.lane.tokens
    return rows.place_of(0, int(tokens[side.index])) if side.index < tokens.size else None


def _unrecorded(lane: Lane, index: int) -> Contender | None:
    if index >= lane.tokens.size:
        return None
    return Contender(int(lane.tokens[index]), None, None, _NOTHING, _NOTHING)


def _contender_of(rows: KnownRows, sides: tuple[Side, Side], own: int, place: int | None) -> Contender | None:
    """Return what a lane took, with the numbers of its own record, which are not rounded."""
    side = sides[own]
    if place is None:
        return _unrecorded(side.lane, side.index)
    found = _contender(rows, sides, place)
    records = side.lane.record_of(side.index)
    if records is None:
        return found
    return replace(found, raw=_raw(float(records.log_probability[side.index])), rank=int(records.rank[side.index]))


def _contender(rows: KnownRows, sides: tuple[Side, Side], place: int) -> Contender:
    return Contender(
        token=int(rows.ids[place]),
        raw=_raw(float(rows.middle[place])),
        rank=int(rows.places[place]) + 1,
        baseline=_share(rows, sides[0], place),
        lane=_share(rows, sides[1], place),
    )


def _share(rows: KnownRows, side: Side, place: int) -> InLane:
    """Return what a lane made of a token; what it took has its own number, and what has no room beside that is no claim.

    Rounding makes two lanes' rows differ a little, so the row of one may tell of another likeliest token than was there.
    """
    found, records = _in_lane(side.replay, place), side.lane.record_of(side.index)
    if records is None:
        return found
    exact = float(records.probability_after[side.index])
    if int(rows.ids[place]) == int(side.lane.tokens[side.index]):
        return InLane(exact, None)
    if found.after is None or found.after <= 1.0 - exact + SLACK:
        return found
    return InLane(0.0 if exact >= 1.0 else None, found.cut_by)


def _in_lane(replay: BoundedReplay, place: int) -> InLane:
    cut_by = replay.cutter(place)
    low, high = float(replay.after_low[place]), float(replay.after_high[place])
    if high <= 0.0:
        return InLane(0.0, cut_by)
    is_known = replay.cut_by[place] == NOT_CUT and high * math.exp(-KNOWN_WITHIN) <= low
    return InLane(float(replay.after[place]) if is_known else None, cut_by)


def _raw(log_probability: float) -> float:
    return math.exp(min(log_probability, 0.0))
