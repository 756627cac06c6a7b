"""Replays a sampler chain on recorded logits: what each stage leaves, who is cut where, and what the draw sees.

Works from a full row or from its most likely tokens, and says whether the answer is exact. Must not know the engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.core.sampling import SamplingSettings
from app.probability.candidates import Candidates, Ids, Logits, Places, Ranking, candidates_of, falling, weights_of
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.stages import Stage, Step, chain, recent_of

NOT_CUT = -1
_LARGEST_EXPONENT = 700.0


class WholeRow(NamedTuple):
    """What is known of a row, of which perhaps only the most likely tokens are at hand."""

    log_sum_exp: float
    vocabulary: int
    ranking: Ranking | None = None
    """What is known of the tokens at hand, where somebody worked it out before."""


class StageResult(NamedTuple):
    """What one stage left."""

    name: str
    survivors: int
    """Tokens that are left, those not at hand included; at least so many when it is not exact."""
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed step; the arrays are in the order of the candidates that went in."""

    stages: tuple[StageResult, ...]
    cut_by: npt.NDArray[np.int8]
    """Index of the stage that cut a candidate, `NOT_CUT` for the survivors."""
    given: Logits
    """The logits that went in."""
    log_sum_exp: float
    """Of the full row."""
    after: Logits
    """Probability after the chain; 0 for what was cut."""
    logits: Logits
    """Logits after the chain; -inf for what was cut."""
    is_exact: bool
    """Whether survivors and probabilities are those of the full row."""

    @property
    def raw(self) -> Logits:
        """Probability in the row as the model gave it."""
        raw: Logits = np.exp(self.given - np.float32(self.log_sum_exp))
        return raw

    def raw_at(self, place: int) -> float:
        """Return the raw probability of one candidate."""
        return float(np.exp(self.given[place] - np.float32(self.log_sum_exp)))

    def walk(self, count: int) -> Places:
        """Return the places of the first survivors that the draw walks over, of equal ones the lower place first."""
        survivors = np.flatnonzero(self.cut_by == NOT_CUT)
        return survivors[falling(self.logits[survivors], count)]


@dataclass
class _Unseen:
    """The tokens of the row that are not at hand: none of them has a larger logit than the floor."""

    count: int
    log_mass: float
    floor: float
    mass_is_known: bool = True
    is_exact: bool = True

    def gone(self, *, for_certain: bool) -> None:
        """Note that a stage cut them all, or that nobody can say."""
        self.is_exact = self.is_exact and (for_certain or self.count == 0)
        self.count = 0
        self.log_mass = -math.inf


def replay(
    ids: Ids,
    logits: Logits,
    settings: SamplingSettings,
    history: npt.NDArray[np.int32],
    xtc_decides: bool = False,
    whole: WholeRow | None = None,
    breakers: Breakers = NO_BREAKERS,
) -> Replay:
    """Run the chain of the settings on a row's candidates; without `whole` they are all that there are."""
    is_all = whole is None or whole.vocabulary <= ids.size
    log_sum_exp = _log_sum_exp(logits) if whole is None or not is_all else whole.log_sum_exp
    unseen = _Unseen(0, -math.inf, float(logits.min()))
    if whole is not None and not is_all:
        seen = math.exp(log_sum_exp - whole.log_sum_exp)
        log_mass = whole.log_sum_exp + math.log1p(-seen) if seen < 1.0 else -math.inf
        unseen = _Unseen(whole.vocabulary - ids.size, log_mass, float(logits.min()))
        log_sum_exp = whole.log_sum_exp
    step = Step(history, xtc_decides, breakers)
    is_sorted = bool((logits[1:] <= logits[:-1]).all())
    left = candidates_of(ids, logits, is_sorted=is_sorted, ranking=None if whole is None else whole.ranking)
    places = left.places
    cut_by = np.full(ids.size, NOT_CUT, np.int8)
    results: list[StageResult] = []
    for number, stage in enumerate(chain(settings)):
        before = left
        left = stage.apply(before, replace(step, log_outside=unseen.log_mass))
        if unseen.count:
            _judge(unseen, stage, settings, (before, left), step, ids)
        if left.ids.size < before.ids.size:
            if before.ids.size == ids.size:
                cut_by.fill(number)
            else:
                cut_by[before.places] = number
            cut_by[left.places] = NOT_CUT
        results.append(StageResult(stage.name, left.ids.size + unseen.count, unseen.is_exact))
    after, changed = _spread(left, unseen, logits.size, in_place=left.places is places)
    is_exact = unseen.is_exact and (unseen.count == 0 or unseen.mass_is_known)
    return Replay(tuple(results), cut_by, logits, log_sum_exp, after, changed, is_exact)


def _spread(left: Candidates, unseen: _Unseen, size: int, *, in_place: bool) -> tuple[Logits, Logits]:
    """Return probabilities and logits of what is left, where the candidates stood that went in."""
    weights = weights_of(left.logits)
    outside = _exp(unseen.log_mass - float(left.logits.max())) if unseen.count else 0.0
    weights /= weights.sum() + outside
    if in_place:  # nobody was cut or put elsewhere, which spares writing a whole row through indices
        after, logits = weights.astype(np.float32), left.logits
    else:
        after = np.zeros(size, np.float32)
        after[left.places] = weights
        logits = np.full(size, -np.inf, np.float32)
        logits[left.places] = left.logits
    return after, logits


def _judge(
    unseen: _Unseen,
    stage: Stage,
    settings: SamplingSettings,
    change: tuple[Candidates, Candidates],
    step: Step,
    ids: Ids,
) -> None:
    """Work out what a stage did to the tokens that are not at hand; `ids` are all that were."""
    before, after = change
    largest = float(before.logits.max())
    certain = unseen.mass_is_known and largest >= unseen.floor
    match stage.name:
        case "penalties" | "dry":
            _judge_penalty(unseen, stage.name, settings, step, ids)
        case "top_k" if settings.top_k > before.ids.size:
            unseen.count = min(unseen.count, settings.top_k - before.ids.size)
            unseen.mass_is_known = False
        case "top_k":
            unseen.gone(for_certain=float(after.logits[-1]) >= unseen.floor)
        case "typical":
            unseen.gone(for_certain=False)
        case "top_p":
            reached = after.ids.size < before.ids.size and float(after.logits[-1]) >= unseen.floor
            unseen.gone(for_certain=certain and reached)
        case "min_p":
            cut = largest + math.log(settings.min_p)
            unseen.gone(for_certain=largest >= unseen.floor and cut > unseen.floor)
        case "xtc" if step.xtc_decides:
            log_total = np.logaddexp(_log_sum_exp(before.logits), unseen.log_mass)
            unlikely = _exp(unseen.floor - log_total) < settings.xtc_threshold
            unseen.is_exact = unseen.is_exact and certain and unlikely
        case "temperature" if settings.is_greedy:
            unseen.gone(for_certain=largest >= unseen.floor)
        case "temperature" if settings.temperature != 1.0:
            unseen.mass_is_known = False
            unseen.log_mass = -math.inf
            with np.errstate(over="ignore"):
                unseen.floor = float(np.float32(unseen.floor) / np.float32(settings.temperature))


def _judge_penalty(unseen: _Unseen, name: str, settings: SamplingSettings, step: Step, ids: Ids) -> None:
    last_n = settings.penalty_last_n if name == "penalties" else settings.dry_penalty_last_n
    if np.isin(recent_of(step.history, last_n), ids).all():
        return
    unseen.mass_is_known = False
    raises = settings.repeat_penalty < 1.0 or settings.frequency_penalty < 0.0 or settings.presence_penalty < 0.0
    if name == "penalties" and raises:
        unseen.is_exact = False


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, _LARGEST_EXPONENT))


def _log_sum_exp(logits: Logits) -> float:
    largest = logits.max()
    return (
        float(largest) + math.log(float(np.exp(logits - largest).sum())) if np.isfinite(largest) else float(largest)
    )
