"""Which stage of the chain decided that two lanes took different tokens from the same row.

Told from a replay on the recorded candidates; what these do not prove is unknown. Must not know texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec
import numpy as np

from app.core.comparison import ReasonKind
from app.core.sampling import STAGE_FIELDS, STAGES, SamplingSettings, whole_order
from app.probability.bounded import LOWERING, BoundedReplay, bounded_replay, per_step, single
from app.probability.known_rows import KnownRows
from app.probability.lane import Lane, xtc_decisions
from app.probability.lowered_rows import Histories
from app.probability.stages import chain
from app.probability.what_if import NOT_CUT

ORDER = "order"
"""What stands for the order of the stages where the stages of two lanes are told apart."""


class Reason(NamedTuple):
    """Why two lanes took different tokens."""

    kind: ReasonKind
    """`cut`: the stage, which differs, cut the other's token. `made_cut`: `cutter` cut it, which does the same in both
    lanes but got something else from the stage, which differs before it. `reshaped`: both tokens were left in both
    lanes, and the stage changed their shares. `most_likely`: a lane takes the most likely token without a draw, or both
    do, and the stage made that another one. `greedy`: one takes the most likely token and the other draws. `draw`: the
    numbers of the draw differ, and nothing else would have parted the lanes. `either`: the numbers alone would have
    parted them, and so would the stages. `together`: neither alone would have. `rounding`: nothing that differs decided
    it, so the logits were not the same to the last bit. `forced`: somebody chose. `ended`: one lane was stopped there.
    `unknown`: the record does not say; a stage is the only one that differs, and decided it somehow."""
    stage: str | None = None
    """Name of the stage in the chain, or `ORDER`; None where it was several, or which of several is not certain."""
    in_lane: bool = False
    """Whether the stage acted in the lane, on the baseline's token; else in the baseline, on the lane's."""
    cutter: str | None = None
    """The stage that cut the token, where another one made it do so."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two lanes at the step where they part."""

    lane: Lane
    index: int
    replay: BoundedReplay
    number: float | None
    """What its draw drew with."""

    @property
    def is_greedy(self) -> bool:
        """Whether it takes the most likely token without a draw."""
        return self.lane.settings.is_greedy


class _Parting(NamedTuple):
    """Both lanes at that step, and what differs between them."""

    rows: KnownRows
    baseline: Side
    lane: Side
    differing: list[str]
    """The stages that do not do the same, in the chain's order; `ORDER` before them where that is not the same."""
    theirs: int | None
    own: int | None
    """Where the baseline's token and the lane's stand among the row's candidates."""

    @property
    def only(self) -> str | None:
        """The one stage that differs, where it is one."""
        return self.differing[0] if len(self.differing) == 1 else None


def replay_at(rows: KnownRows, lane: Lane, index: int) -> BoundedReplay:
    """Replay the one row before the token at an index with the lane's settings."""
    settings = lane.settings
    history = np.concatenate((lane.prompt, lane.tokens[:index])).astype(np.int32, copy=False)
    before = Histories(history, np.array([history.size]))
    decides = per_step(_xtc_at(lane, index, settings), 1)
    return bounded_replay(rows, settings, decides, before, lane.breakers, for_draws=True)


def decided(rows: KnownRows, baseline: Side, lane: Side, places: tuple[int | None, int | None]) -> Reason:
    """Return the reason; `places` are those of the baseline's token and of the lane's among the row's candidates."""
    grammar = baseline.lane.settings.grammar
    if grammar != lane.lane.settings.grammar:
        return Reason("unknown")  # what it cut is in no record
    order = _common_order(baseline, lane, rows.vocabulary)
    if order is not None:
        baseline, lane = (_reordered(side, order) for side in (baseline, lane))
    differing = [] if order is not None else [ORDER]
    differing += [name for name in order or STAGES if not _does_the_same(name, baseline, lane, rows.vocabulary)]
    same_draw = _same_draw(baseline, lane)
    if not differing:
        if same_draw or baseline.is_greedy:
            return Reason("rounding")
        return Reason("unknown" if same_draw is None else "draw")
    if grammar is not None:
        return Reason("unknown")
    parting = _Parting(rows, baseline, lane, differing, *places)
    if baseline.is_greedy or lane.is_greedy:
        return _of_greedy(parting)
    found = _of_cut(parting)
    if found is not None:
        return found
    if same_draw is None:
        return Reason("unknown")
    return _of_equal_numbers(parting) if same_draw else _of_other_numbers(parting)


def _of_greedy(parting: _Parting) -> Reason:
    """At least one lane takes the most likely token: what lowers tokens decided where without it they were the same."""
    baseline, lane, theirs, own = parting.baseline, parting.lane, parting.theirs, parting.own
    if any(side.is_greedy and _is_left(side, place) for side, place in ((lane, theirs), (baseline, own))):
        return Reason("rounding")
    start, end, place = (baseline, lane, theirs) if lane.is_greedy else (lane, baseline, own)
    lowering = [name for name in parting.differing if name in (ORDER, *LOWERING)]
    is_turned = start.is_greedy
    if lowering and place is not None and not is_turned:
        is_turned = int(_mixed(parting.rows, end, start, lowering).cut_by[place]) == NOT_CUT
    if is_turned:
        stage = _turning(parting, lowering, (start, end), place, "temperature")
        return Reason("most_likely", stage, in_lane=lane.is_greedy)
    return Reason("greedy", "temperature", in_lane=lane.is_greedy)


def _of_cut(parting: _Parting) -> Reason | None:
    """Return which stage cut one of the tokens in the other lane; None where none did for certain."""
    baseline, lane, differing = parting.baseline, parting.lane, parting.differing
    cut_here = None if parting.theirs is None else lane.replay.cutter(parting.theirs)
    cut_there = None if parting.own is None else baseline.replay.cutter(parting.own)
    if cut_here in differing:
        return Reason("cut", cut_here, in_lane=True)
    if cut_there in differing:
        return Reason("cut", cut_there)
    cutter = cut_here or cut_there
    if cutter is None:
        return None
    order = lane.lane.settings.order
    before = [name for name in differing if ORDER in differing or order.index(name) < order.index(cutter)]
    if not before:
        return Reason("rounding")
    sides = (baseline, lane) if cut_here else (lane, baseline)
    place = parting.theirs if cut_here else parting.own
    return Reason("made_cut", _turning(parting, before, sides, place, cutter), cut_here is not None, cutter)


def _of_equal_numbers(parting: _Parting) -> Reason:
    """Both lanes drew with the same number, and neither token is known to be cut by one certain stage."""
    number = parting.baseline.number
    if _falls(parting.lane, parting.theirs, number) or _falls(parting.baseline, parting.own, number):
        return Reason("rounding")
    return _of_settings(parting)


def _of_other_numbers(parting: _Parting) -> Reason:
    """Both the stages and the numbers differ: which of the two alone makes the baseline leave its token?"""
    by_number = _leaves(parting.baseline, parting, parting.lane.number)
    by_stages = _leaves(parting.lane, parting, parting.baseline.number)
    if by_number is None or by_stages is None:
        return Reason("unknown")
    if by_number:
        return Reason("either" if by_stages else "draw")
    return _of_settings(parting) if by_stages else Reason("together")


def _of_settings(parting: _Parting) -> Reason:
    """The stages decided: by the tokens' shares where both are left in both lanes."""
    if not (_is_left(parting.lane, parting.theirs) and _is_left(parting.baseline, parting.own)):
        return Reason("unknown", parting.only)
    return Reason("reshaped", _reshaping(parting), in_lane=True)


def _leaves(chain_of: Side, parting: _Parting, number: float | None) -> bool | None:
    """Return whether a chain does not take the baseline's token with a number; None where nobody can say."""
    falls = _falls(chain_of, parting.theirs, number)
    if falls is None:
        return True if _falls(chain_of, parting.own, number) else None
    return not falls


def _falls(side: Side, place: int | None, number: float | None) -> bool | None:
    return None if place is None or number is None else side.replay.falls_on(place, number)


def _is_left(side: Side, place: int | None) -> bool:
    """Return whether a candidate is left for certain."""
    return place is not None and int(side.replay.cut_by[place]) == NOT_CUT


def _turning(
    parting: _Parting, names: Sequence[str], sides: tuple[Side, Side], place: int | None, cutter: str
) -> str | None:
    """Give one lane the stages of the other, one after another; return the one with which a stage cuts a token."""
    start, end = sides
    for count in range(1, len(names)):
        if place is None:
            return None
        mixed = _mixed(parting.rows, end, start, names[count:])
        cut_by = mixed.cutter(place)
        if cut_by == cutter:
            return names[count - 1]
        is_behind = cut_by is not None and mixed.stages.index(cut_by) > mixed.stages.index(cutter)
        if not is_behind and int(mixed.cut_by[place]) != NOT_CUT:
            return None
    return names[-1]


def _reshaping(parting: _Parting) -> str | None:
    """Return the stage with which the baseline's number leaves its token, the stages given one after another."""
    theirs, number = parting.theirs, parting.baseline.number
    assert theirs is not None and number is not None
    for count in range(1, len(parting.differing)):
        mixed = _mixed(parting.rows, parting.baseline, parting.lane, parting.differing[:count])
        falls = mixed.falls_on(theirs, number)
        if falls is None:
            return None
        if not falls:
            return parting.differing[count - 1] if int(mixed.cut_by[theirs]) == NOT_CUT else None
    return parting.differing[-1]


def _mixed(rows: KnownRows, start: Side, end: Side, names: Sequence[str]) -> BoundedReplay:
    """Replay the chain of one lane with some of its stages as they are in the other."""
    fields = {field: getattr(end.lane.settings, field) for name in names for field in _fields(name)}
    off = tuple(name for name in STAGES if name in (end if name in names else start).lane.settings.off)
    draws, breaks = (end if name in names else start for name in ("xtc", "dry"))
    mixed = replace(
        start.lane,
        settings=msgspec.structs.replace(start.lane.settings, **fields, off=off),
        seed=draws.lane.seed,
        first=draws.lane.first,
        breakers=breaks.lane.breakers,
    )
    return replay_at(rows, mixed, start.index)


def _fields(name: str) -> tuple[str, ...]:
    return STAGE_FIELDS.get(name, (ORDER,))


def _common_order(baseline: Side, lane: Side, vocabulary: int) -> tuple[str, ...] | None:
    """Return an order in which both lanes do what they do in their own; None where there is none."""
    for order in dict.fromkeys(side.lane.settings.order for side in (baseline, lane)):
        if all(
            _acting(side, vocabulary) == _acting(_reordered(side, order), vocabulary) for side in (baseline, lane)
        ):
            return whole_order(order)
    return None


def _reordered(side: Side, order: tuple[str, ...]) -> Side:
    settings = msgspec.structs.replace(side.lane.settings, order=order)
    return replace(side, lane=replace(side.lane, settings=settings))


def _acting(side: Side, vocabulary: int) -> list[str]:
    """Return the stages that do something at this step, in their order."""
    names = [stage.name for stage in chain(side.lane.settings)]
    return [
        name for name in names if _shape(name, side, vocabulary) and (name != "xtc" or _xtc_acts(side) is not False)
    ]


def _does_the_same(name: str, baseline: Side, lane: Side, vocabulary: int) -> bool:
    if name == "xtc":
        acts = [_xtc_acts(side) for side in (baseline, lane)]
        if None in acts or acts[0] != acts[1]:
            return False
        return not acts[0] or _shape(name, baseline, vocabulary) == _shape(name, lane, vocabulary)
    return _shape(name, baseline, vocabulary) == _shape(name, lane, vocabulary)


def _shape(name: str, side: Side, vocabulary: int) -> tuple[object, ...]:
    """Return what a stage does at this step, as llama.cpp keeps it; nothing where it changes nothing."""
    settings = side.lane.settings
    if name not in {stage.name for stage in chain(settings)}:
        return ()
    if name == "temperature":
        temperature = max(single(settings.temperature), 0.0)
        return (temperature,) if temperature != 1.0 else ()
    if name == "top_k":
        return (settings.top_k,) if settings.top_k < vocabulary else ()
    whole = side.lane.prompt.size + side.index
    values: list[object] = []
    for field in STAGE_FIELDS[name]:
        value = getattr(settings, field)
        if field.endswith("last_n"):
            value = whole if value < 0 else min(value, whole)
            if value == 0:
                return ()
        values.append(single(value) if isinstance(value, float) else value)
    return tuple(values) if name != "xtc" else (single(settings.xtc_threshold),)


def _same_draw(baseline: Side, lane: Side) -> bool | None:
    if baseline.number is None or lane.number is None:
        return None
    return baseline.number == lane.number


def _xtc_acts(side: Side) -> bool | None:
    is_active = "xtc" in {stage.name for stage in chain(side.lane.settings)}
    return _xtc_at(side.lane, side.index, side.lane.settings) if is_active else False


def _xtc_at(lane: Lane, index: int, settings: SamplingSettings) -> bool | None:
    decides = xtc_decisions(settings, lane.seed, range(lane.first + index, lane.first + index + 1))
    return decides[0] if isinstance(decides, list) else decides
