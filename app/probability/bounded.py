"""Replays a sampler chain on rounded records of many steps at once, and says only what holds for certain.

`what_if` replays one row whose logits are exact. Here each value is a stretch and most tokens are not at hand, so that
a candidate may be left for certain, cut for certain, or neither; no cut is claimed that could be false.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from app.core.sampling import REMEMBERING, SamplingSettings
from app.probability.bounded_stages import After, Alive
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.known_rows import Flags, Floats, KnownRows
from app.probability.lowered_rows import Histories, Lowering, as_recorded
from app.probability.stages import chain
from app.probability.what_if import NOT_CUT

UNKNOWN = -2
"""A candidate of which nobody can say whether it is left."""
CUT_SOMEWHERE = -3
"""A candidate that is cut for certain, but not by which of several stages."""
LOWERING = REMEMBERING
"""The stages that change logits and cut nobody."""
_ORDER_KEEPING = ("top_k", "top_p", "min_p")


@dataclass(frozen=True, slots=True)
class BoundedReplay:
    """What a chain leaves of n steps with c candidates in all."""

    stages: tuple[str, ...]
    cut_by: npt.NDArray[np.int8]
    """c numbers: index of the stage that cut a candidate, else `NOT_CUT`, `UNKNOWN` or `CUT_SOMEWHERE`."""
    after_low: Floats
    after: Floats
    after_high: Floats
    """c numbers each: the probability after the chain is between low and high; `after` is the best guess."""
    ahead_low: Floats
    ahead_high: Floats
    """c numbers each: the probability after the chain of all that the draw walks over before a candidate."""
    weight_low: Floats
    weight_high: Floats
    """c numbers each: what a candidate weighs beside the others of its step, were it left."""
    survivors: npt.NDArray[np.int64]
    """n numbers: at least so many tokens are left."""
    is_exact: Flags
    """n flags: whether exactly these are left."""
    unseen: Floats
    """n numbers: the raw probability of what is not at hand and may be left; 0 where all that is left is at hand."""

    def cutter(self, place: int) -> str | None:
        """Return the name of the stage that cut a candidate for certain."""
        number = int(self.cut_by[place])
        return self.stages[number] if number >= 0 else None

    def falls_on(self, place: int, number: float) -> bool | None:
        """Return whether the draw with a number in [0, 1) takes a candidate; None where nobody can say."""
        status = int(self.cut_by[place])
        if status >= 0 or status == CUT_SOMEWHERE:
            return False
        begins = float(self.ahead_low[place]), float(self.ahead_high[place])
        ends = begins[0] + float(self.after_low[place]), begins[1] + float(self.after_high[place])
        if status == NOT_CUT and begins[1] <= number < ends[0]:
            return True
        return False if number < begins[0] or number >= ends[1] else None


def bounded_replay(
    rows: KnownRows,
    settings: SamplingSettings,
    xtc_acts: tuple[Flags, Flags],
    histories: Histories,
    breakers: Breakers = NO_BREAKERS,
    *,
    for_draws: bool = False,
) -> BoundedReplay:
    """Run the chain of the settings; `histories` are what penalties and DRY look at.

    `xtc_acts` says of each step whether XTC takes effect for certain, and whether it may; see `per_step`. Only `for_draws` the result can say on which candidate a draw falls.
    """
    names = tuple(stage.name for stage in chain(settings))
    temperature = single(settings.temperature)
    alive = Alive(rows, as_recorded(rows))
    cut_by = np.full(rows.ids.size, NOT_CUT, np.int8)
    # Before the first token there is nothing that could be lowered.
    looks_back = histories.ends.max() > 0 and any(name in LOWERING for name in names)
    lowering = Lowering(settings, histories, breakers) if looks_back else None
    for number, name in enumerate(names):
        sure, maybe = alive.sure, alive.maybe
        if name in LOWERING:
            together = _lowering_from(names, number)
            if lowering is not None and together:
                alive.lower(lowering, together)
        elif name != "temperature":
            alive.keeps_order = alive.keeps_order and name in _ORDER_KEEPING
            _cut(alive, name, settings, xtc_acts)
        elif settings.is_greedy:
            alive.greedy()
        elif name != names[-1] and temperature != 1.0:
            alive.temper(temperature)
        gone = maybe & ~alive.maybe
        cut_by[gone & sure] = number
        cut_by[gone & ~sure] = CUT_SOMEWHERE
    cut_by[alive.maybe & ~alive.sure] = UNKNOWN
    is_last = names[-1:] == ("temperature",) and not settings.is_greedy
    return _result(rows, alive, (names, cut_by), alive.after(temperature if is_last else 1.0, for_draws=for_draws))


def _lowering_from(names: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Return the stages from this one on that lower logits, which are worked out at once with the first of them."""
    if number and names[number - 1] in LOWERING:
        return ()
    return tuple(takewhile(LOWERING.__contains__, names[number:]))


def _cut(alive: Alive, name: str, settings: SamplingSettings, xtc_acts: tuple[Flags, Flags]) -> None:
    match name:
        case "top_k":
            alive.top_k(settings.top_k)
        case "typical":
            alive.typical(single(settings.typical_p))
        case "top_p":
            alive.top_p(single(settings.top_p))
        case "min_p":
            alive.min_p(single(settings.min_p))
        case "xtc":
            alive.xtc(single(settings.xtc_threshold), xtc_acts)


def _result(
    rows: KnownRows, alive: Alive, cuts: tuple[tuple[str, ...], npt.NDArray[np.int8]], after: After
) -> BoundedReplay:
    at_hand = alive.order.total(alive.sure).astype(np.int64)
    survivors = np.maximum(at_hand + alive.unseen_least.astype(np.int64), 1)
    same = alive.order.total(alive.maybe != alive.sure) == 0
    may_be_left = alive.unseen_most > 0
    raw_unseen = np.where(may_be_left, (rows.mass_low + rows.mass_high) / 2, 0.0)
    is_exact = same & (alive.unseen_least == alive.unseen_most)
    return BoundedReplay(
        stages=cuts[0],
        cut_by=cuts[1],
        after_low=after.low,
        after=after.guess,
        after_high=after.high,
        ahead_low=after.ahead_low,
        ahead_high=after.ahead_high,
        weight_low=after.weight_low,
        weight_high=after.weight_high,
        survivors=survivors,
        is_exact=is_exact,
        unseen=raw_unseen,
    )


def per_step(decides: bool | list[bool] | None, steps: int) -> tuple[Flags, Flags]:
    """Return where XTC acts for certain, and where it may."""
    if isinstance(decides, list):
        flags = np.array(decides, np.bool_)
        return flags, flags
    return np.full(steps, decides is True), np.full(steps, decides is not False)


def single(value: float) -> float:
    """Return a setting as llama.cpp keeps it, in float32."""
    return float(np.float32(value))
