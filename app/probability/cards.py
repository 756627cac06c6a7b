"""The cards of the sampler laboratory for a step whose logits are all at hand: what enters and leaves each stage.

The stages are those of `stages`, which equal llama.cpp's. What a moved slider does not change is kept: all before its
stage. Must not know who asks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from app.core.sampler_cards import CardToken, DrawCard, DrawToken, Fate, SamplerCards, StageCard, StageState
from app.core.sampling import REMEMBERING, STAGE_FIELDS, SamplingSettings
from app.probability.candidates import Candidates, Ids, Logits, Places, Ranking, candidates_of, falling, weights_of
from app.probability.draw import XTC_STREAM, draw, uniform
from app.probability.dry import NO_BREAKERS, Breakers
from app.probability.row import RowReader
from app.probability.stages import Stage, Step, chain

SHOWN = 24
"""So many tokens are told of each stage."""
CUTTING = ("top_k", "typical", "top_p", "min_p", "xtc")
_FEW = 4096
"""Up to so many candidates are put in order as a whole; of more, the most likely ones are looked for."""


class Draws(NamedTuple):
    """Where the numbers of a step come from."""

    seed: int | None
    """None where nobody knows it."""
    position: int
    """The token's place in its answer."""

    @property
    def number(self) -> float | None:
        """The number in [0, 1) that draws the token."""
        return None if self.seed is None else uniform(self.seed, self.position)

    @property
    def xtc_number(self) -> float | None:
        """The number in [0, 1) that decides whether XTC takes effect."""
        return None if self.seed is None else uniform(self.seed, self.position, XTC_STREAM)


def states_of(settings: SamplingSettings) -> dict[str, StageState]:
    """Return of each stage, in the order in which they run, whether it does."""
    active = [stage.name for stage in chain(settings)]
    return {name: "acts" if name in active else _idle_state(settings, name) for name in settings.running_order}


def _idle_state(settings: SamplingSettings, name: str) -> StageState:
    if name in settings.off:
        return "off"
    return "skipped" if settings.is_greedy and name in CUTTING else "neutral"


@dataclass(frozen=True)
class _Between:
    """What is left between two stages; its sums are worked out once."""

    left: Candidates

    @cached_property
    def log_sum(self) -> float:
        """Logarithm of the sum of e^logit; where DRY made every logit -inf, that."""
        logits = self.left.logits
        largest = logits.max()
        if not np.isfinite(largest):
            return float(largest)
        return float(largest) + math.log(float(np.add.reduce(np.exp(logits - largest))))

    @cached_property
    def likely(self) -> Places:
        """The places of the most likely tokens, of equal ones the lower id first."""
        left = self.left
        if left.is_sorted:
            return np.arange(min(SHOWN, left.ids.size))
        if left.ids.size <= _FEW or math.isinf(self.log_sum):
            return falling(left.logits, SHOWN, left.ids)
        return RowReader(left.ids.size, SHOWN).read(left.logits).top(SHOWN)[0].astype(np.int64)

    def share(self, logits: Logits) -> list[float]:
        """Return the probabilities of some of the logits."""
        if math.isinf(self.log_sum):
            return [1.0 / self.left.ids.size] * logits.size
        shares: list[float] = np.exp(logits.astype(np.float64) - self.log_sum).tolist()
        return shares


class _Kept(NamedTuple):
    """A stage as it was when the cards were last worked out."""

    key: tuple[object, ...]
    after: _Between
    card: StageCard


class StepCards:
    """One step with its whole row; whatever stands before a moved slider is not worked out again."""

    def __init__(self, row: Logits, history: Ids, draws: Draws, fitting: Ids | None = None) -> None:
        """`row` are the logits in the order of ids, before any stage; `history` the tokens before the step.

        `fitting` are the tokens that a grammar lets through to the first stage, rising; None are all.
        """
        self._vocabulary = row.size
        ids = np.arange(row.size, dtype=np.int32) if fitting is None else fitting
        row = row if fitting is None else row[fitting]
        ranking = Ranking(falling(row, row.size), where=ids if fitting is None else None)
        self._start = _Between(candidates_of(ids, row, ranking=ranking))
        self._history = history
        self._draws = draws
        self._kept: list[_Kept] = []
        self._drawn: tuple[_Between, bool, DrawCard] | None = None
        self._breakers = NO_BREAKERS

    def of(self, settings: SamplingSettings, breakers: Breakers = NO_BREAKERS) -> SamplerCards:
        """Return the cards of a chain."""
        number = self._draws.xtc_number
        step = Step(self._history, number is not None and number < settings.xtc_probability, breakers)
        active = {stage.name: stage for stage in chain(settings)}
        earlier = self._kept if breakers is self._breakers else []
        self._breakers = breakers
        between, kept = self._start, list[_Kept]()
        for place, (name, state) in enumerate(states_of(settings).items()):
            key = (name, state, *(getattr(settings, field) for field in STAGE_FIELDS[name]))
            if place < len(earlier) and earlier[place].key == key:
                entry = earlier[place]
            else:
                earlier = []  # what comes after another stage is another one too
                entry = self._through(key, active.get(name), between, step)
            kept.append(entry)
            between = entry.after
        self._kept = kept
        is_greedy = settings.is_greedy
        if self._drawn is None or self._drawn[0] is not between or self._drawn[1] != is_greedy:
            self._drawn = (between, is_greedy, self._draw_from(between, is_greedy=is_greedy))
        return SamplerCards(tuple(entry.card for entry in kept), self._drawn[2], self._vocabulary, is_whole=True)

    def _through(self, key: tuple[object, ...], stage: Stage | None, before: _Between, step: Step) -> _Kept:
        """Send what is left through one stage; a stage that does not run passes on what it got."""
        name, state, values = str(key[0]), cast("StageState", key[1]), key[2:]
        is_acting = stage is not None and (name != "xtc" or step.xtc_decides)
        after = _Between(stage.apply(before.left, step)) if stage is not None and is_acting else before
        enter, leave = before.left.ids.size, after.left.ids.size
        tokens = _tokens(before, after)
        is_cutting = leave < enter
        card = StageCard(
            name=name,
            state=state,
            enter=enter,
            leave=leave,
            tokens=tokens,
            cut=(enter - leave if name == "xtc" else leave) if is_cutting and name != "typical" else None,
            cuts_front=name == "xtc",
            threshold=_threshold(name, values, before) if state == "acts" else None,
            removed=_removed(before, after) if is_cutting else 0.0,
            touched=_touched(before, after) if name in REMEMBERING and after is not before else 0,
            number=self._draws.xtc_number if name == "xtc" else None,
            acts_here=None if name == "xtc" and self._draws.seed is None and stage is not None else is_acting,
        )
        return _Kept(key, after, card)

    def _draw_from(self, between: _Between, *, is_greedy: bool) -> DrawCard:
        left = between.left
        likely = between.likely
        shares = between.share(left.logits[likely])
        ends = np.minimum(np.cumsum(shares), 1.0).tolist()
        begins = [0.0, *ends[:-1]]
        tokens = tuple(map(DrawToken, left.ids[likely].tolist(), begins, ends, shares))
        number = None if is_greedy else self._draws.number
        if is_greedy:
            return DrawCard(tokens, left.ids.size, True, None, tokens[0], is_greedy=True)
        return DrawCard(tokens, left.ids.size, True, number, None if number is None else _fallen_on(left, number))


def _tokens(before: _Between, after: _Between) -> tuple[CardToken, ...]:
    """Return the most likely tokens that enter, and what becomes of each."""
    entered, left = before.left, after.left
    likely = before.likely
    ids = entered.ids[likely].tolist()
    shares = before.share(entered.logits[likely])
    if after is before:
        return tuple(CardToken(token, share, share, "left") for token, share in zip(ids, shares, strict=True))
    if left.ids.size == entered.ids.size and left.places is entered.places:  # nobody was cut or put elsewhere
        logits, is_left = left.logits[likely], [True] * likely.size
    else:
        found = np.zeros(int(max(entered.places[likely].max(), left.places.max())) + 1, np.bool_)
        found[left.places] = True
        is_left = found[entered.places[likely]].tolist()
        # Stages that cut or sort leave the logits as they are, but for a temperature of 0, which leaves one token.
        logits = entered.logits[likely]
    made = []
    for token, share, stays, became in zip(ids, shares, is_left, after.share(logits), strict=True):
        fate: Fate = "left" if stays else "cut"
        made.append(CardToken(token, share, became if stays else 0.0, fate))
    return tuple(made)


def _threshold(name: str, values: tuple[object, ...], before: _Between) -> float | None:
    """Return where a stage cuts, beyond what its settings say."""
    if name == "min_p":
        largest = before.share(before.left.logits[before.likely[:1]])[0]
        return float(np.float32(cast("float", values[0]))) * largest
    if name == "typical" and math.isfinite(before.log_sum):
        logits = before.left.logits
        shares = np.exp(logits - np.float32(before.log_sum))
        with np.errstate(invalid="ignore"):
            # An impossible token gives 0 x -inf, which is meant to be 0.
            return max(before.log_sum - float(np.nansum(shares * logits)), 0.0)
    return None


def _removed(before: _Between, after: _Between) -> float:
    """Return the share of the mass that was cut."""
    if after.left.ids.size == 1 or math.isinf(before.log_sum):
        return max(1.0 - sum(before.share(after.left.logits)), 0.0)
    return abs(math.expm1(min(after.log_sum - before.log_sum, 0.0)))


def _touched(before: _Between, after: _Between) -> int:
    return int(np.count_nonzero(before.left.logits != after.left.logits))


def _fallen_on(left: Candidates, number: float) -> DrawToken:
    """Return the token on which a number falls, and its stretch."""
    drawn = draw(left.ids, left.logits, number)
    own = left.logits[drawn.index]
    is_ahead = (left.logits > own) | ((left.logits == own) & (left.ids < drawn.token))
    weights = weights_of(left.logits)
    begin = float(weights[is_ahead].sum() / weights.sum())
    return DrawToken(drawn.token, begin, min(begin + drawn.probability, 1.0), drawn.probability)
