"""What if: a finished answer's record under other settings, without the model.

Which of its tokens would have been cut and by which stage, how probable the answer would have been, and how many tokens
would have been left at each step. Nothing is claimed that the record does not prove. Must not know the engine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.core.sampling import SamplingSettings
from app.probability.bounded import (
    CUT_SOMEWHERE,
    UNKNOWN,
    BoundedReplay,
    bounded_replay,
    per_step,
    single,
)
from app.probability.candidates import Places
from app.probability.known_rows import Flags, Floats, chosen_rows, part_of
from app.probability.lane import Lane, xtc_decisions
from app.probability.lowered_rows import histories_of
from app.probability.prefix_replay import PrefixReplay
from app.probability.stages import chain
from app.probability.what_if import NOT_CUT

KNOWN_WITHIN = 0.1
"""A probability whose bounds are farther apart, as a natural logarithm, is not told as a number."""
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An answer of n recorded tokens under other settings; the arrays have a number for each of them."""

    stages: tuple[str, ...]
    cut_by: npt.NDArray[np.int8]
    """Index of the stage that would have cut the token, else `NOT_CUT`, `UNKNOWN`, or `CUT_SOMEWHERE`: cut for certain,
    but not known by which stage."""
    after_low: Floats
    after: Floats
    after_high: Floats
    """The token's probability after the chain is between low and high; `after` is the best guess."""
    survivors: Places
    """At least so many tokens would have been left to draw from."""
    is_exact: Flags
    """Whether exactly these."""
    unseen: Floats
    """The raw probability of tokens that are not in the record and may be among those left; 0 where none is."""
    greedy_leaves_at: int | None
    """The first token that was not the model's most likely one; None where there is none."""

    @property
    def is_known(self) -> Flags:
        """Return of which tokens the probability after the chain is a number: left for certain, with close bounds."""
        is_close = self.after_high * math.exp(-KNOWN_WITHIN) <= self.after_low
        is_known: Flags = (self.cut_by == NOT_CUT) & is_close & (self.after > 0)
        return is_known

    @property
    def cut(self) -> Places:
        """Return the indices of the tokens that would have been cut for certain."""
        return np.flatnonzero((self.cut_by >= 0) | (self.cut_by == CUT_SOMEWHERE))

    @property
    def unknown(self) -> Places:
        """Return the indices of the tokens of which the record does not say whether they would have been cut."""
        return np.flatnonzero(self.cut_by == UNKNOWN)

    @property
    def cuts(self) -> Mapping[str, int]:
        """Return how many tokens each stage would have cut, those of which the stage is not known left out."""
        counts = np.bincount(self.cut_by[self.cut_by >= 0], minlength=len(self.stages)).tolist()
        return {name: count for name, count in zip(self.stages, counts, strict=True) if count}

    @property
    def log_probability(self) -> float | None:
        """Return how probable the whole answer would have been; None where a token is cut or not known."""
        known = self.is_known
        return self._sum(known) if known.all() and known.size else None

    @property
    def log_probability_of_known(self) -> float | None:
        """Return the same of those tokens alone that are known; None where none is."""
        known = self.is_known
        return self._sum(known) if known.any() else None

    def _sum(self, known: Flags) -> float:
        return float(np.log(np.maximum(self.after[known], _LEAST)).sum())


def what_if(lane: Lane, settings: SamplingSettings, seed: int | None = None) -> WhatIf | None:
    """Replay an answer's record under other settings; None where nothing of it was recorded.

    `seed` decides where XTC takes effect; without one it is what the answer was drawn with. Vectorised over the steps
    except for penalties and DRY, which look at the tokens before each.
    """
    count = lane.recorded
    if lane.records is None or count == 0:
        return None
    if settings.grammar is not None:  # what it would have cut is in no record
        return _unknown(lane.records.rank[:count])
    seed = lane.seed if seed is None else seed
    decides = per_step(xtc_decisions(settings, seed, range(lane.first, lane.first + count)), count)
    records = lane.records if len(lane.records) == count else part_of(lane.records, slice(0, count))
    if PrefixReplay.suits(records, settings):
        return _of_prefixes(PrefixReplay(records), settings, decides, records.rank)
    rows, chosen = chosen_rows(records)
    done = bounded_replay(rows, settings, decides, histories_of(lane.prompt, lane.tokens[:count]), lane.breakers)
    return _of_chosen(done, chosen, records.rank)


def _unknown(rank: npt.NDArray[np.int32]) -> WhatIf:
    nothing = np.zeros(rank.size)
    return WhatIf(
        stages=(),
        cut_by=np.full(rank.size, UNKNOWN, np.int8),
        after_low=nothing,
        after=nothing,
        after_high=np.ones(rank.size),
        survivors=np.ones(rank.size, np.intp),
        is_exact=np.zeros(rank.size, np.bool_),
        unseen=nothing,
        greedy_leaves_at=_first_not_greedy(rank),
    )


def _of_prefixes(
    left: PrefixReplay, settings: SamplingSettings, decides: tuple[Flags, Flags], rank: npt.NDArray[np.int32]
) -> WhatIf:
    stages = tuple(stage.name for stage in chain(settings))
    cut_by = np.full(rank.size, NOT_CUT, np.int8)
    for number, name in enumerate(stages):
        sure, maybe = left.sure, left.maybe
        match name:
            case "top_k":
                left.top_k(settings.top_k)
            case "top_p":
                left.top_p(single(settings.top_p))
            case "min_p":
                left.min_p(single(settings.min_p))
            case "xtc":
                left.xtc(single(settings.xtc_threshold), *decides)
            case _ if settings.is_greedy:
                left.greedy()
        gone = maybe & ~left.maybe
        cut_by[gone & sure] = number
        cut_by[gone & ~sure] = CUT_SOMEWHERE
    cut_by[left.maybe & ~left.sure] = UNKNOWN
    is_tempered = "temperature" in stages and not settings.is_greedy
    after = left.after(single(settings.temperature) if is_tempered else 1.0)
    unseen = np.where(left.unseen_most > 0, left.raw_unseen, 0.0)
    return WhatIf(stages, cut_by, *after, *left.survivors(), unseen, _first_not_greedy(rank))


def _of_chosen(done: BoundedReplay, chosen: Places, rank: npt.NDArray[np.int32]) -> WhatIf:
    return WhatIf(
        stages=done.stages,
        cut_by=done.cut_by[chosen],
        after_low=done.after_low[chosen],
        after=done.after[chosen],
        after_high=done.after_high[chosen],
        survivors=done.survivors,
        is_exact=done.is_exact,
        unseen=done.unseen,
        greedy_leaves_at=_first_not_greedy(rank),
    )


def _first_not_greedy(rank: npt.NDArray[np.int32]) -> int | None:
    left_at = np.flatnonzero(rank != 1)
    return int(left_at[0]) if left_at.size else None
