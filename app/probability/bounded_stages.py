"""The stages on bounds, in any order: which candidates of many steps are left for certain, and which perhaps.

Each stage follows the rule of its twin in `stages`, with the sums that a candidate's fate depends on as bounds. Must not
know how records are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from app.probability.known_rows import LEAST_LOG, Flags, Floats, KnownRows
from app.probability.lowered_rows import Lowered, Lowering, lowered
from app.probability.tempering import LEAST_EXPONENT, tempered, tempered_bounds, tempered_rows

MASS_MARGIN = 3e-5
"""What llama.cpp's sums in float32 over a whole vocabulary may be off by."""
LOG_MARGIN = 1e-5
THRESHOLD_MARGIN = 1e-4
ENTROPY_MARGIN = 1e-4
_LEAST = 1e-300
_MOST_LOG = 1e6
_ROUNDING = 2.0**-52
"""Twice the unit roundoff u: running sums of n numbers are each off by (n - 1) u sum |x| at most (Higham, Accuracy
and Stability of Numerical Algorithms, 4.2), and so the difference of two by n * _ROUNDING * sum |x|."""


class After(NamedTuple):
    """Probabilities after the chain: of each candidate, and of all that the draw walks over before it."""

    low: Floats
    guess: Floats
    high: Floats
    ahead_low: Floats
    ahead_high: Floats
    weight_low: Floats
    weight_high: Floats
    """What each weighs beside the others of its step."""


class Alive:
    """What is left of each step, between two stages."""

    def __init__(self, rows: KnownRows, known: Lowered) -> None:
        self._rows = rows
        self._owner = rows.owner
        self.sure: Flags = np.ones(rows.ids.size, np.bool_)
        """Left for certain."""
        self.maybe: Flags = self.sure
        """Left for certain or perhaps."""
        self.unseen_least = rows.unseen
        self.unseen_most = rows.unseen
        self.keeps_order = known.in_order
        """Whether only the least likely tokens were cut until now."""
        self._is_whole = True
        """Whether all tokens are left and their weights add up to 1."""
        self._take(known)

    def _take(self, known: Lowered) -> None:
        """Use other bounds of the logits from now on."""
        self._known = known
        self.order = known.order
        self._mass_low, self._mass_high = known.mass_low, known.mass_high
        self._w_low, self._w_high = np.exp(known.low), np.exp(np.maximum(known.high, LEAST_LOG))
        self._is_whole = self._is_whole and known.is_whole
        self.keeps_order = self.keeps_order and known.in_order

    def lower(self, lowering: Lowering, stages: Sequence[str]) -> None:
        """Apply penalties and DRY, those of them that are named, in the order in which they are."""
        known = replace(self._known, mass_low=self._mass_low, mass_high=self._mass_high)
        self._take(lowered(self._rows, known, lowering, stages, self.unseen_most))

    def temper(self, temperature: float) -> None:
        """Divide the logits by a temperature above 0, before other stages; where it is the last, `after` does."""
        known = replace(self._known, mass_low=self._mass_low, mass_high=self._mass_high)
        self._take(tempered_rows(self._rows, known, temperature, self.unseen_most))

    def top_k(self, k: int) -> None:
        """Keep the k largest logits."""
        rows = self._rows
        before = self.order.total(self.sure) + self.unseen_least, self.unseen_most
        if self.keeps_order:
            kept = rows.places < k
            cut = ~kept
        else:
            unseen = np.where(self.order.unseen_ahead, self.unseen_most[self._owner], 0.0)
            kept = self.order.sum_perhaps(self.maybe) + unseen < k
            cut = self.order.sum_surely(self.sure) >= k
        above = self.order.total(self.sure & self._above_ceiling())
        self.sure, self.maybe = self.sure & kept, self.maybe & ~cut
        # k are left, or all where there are fewer; those at hand among them are so many at least, and at most.
        most = np.minimum(k - self.order.total(self.sure), k - above)
        least = np.minimum(k, before[0]) - self.order.total(self.maybe)
        self.unseen_most = np.clip(most, 0.0, before[1])
        self.unseen_least = np.clip(least, 0.0, np.minimum(self.unseen_least, self.unseen_most))
        share = self.unseen_least / np.maximum(before[1], 1.0)
        # The likeliest of them are left, so that their share of the mass is no smaller than that of their number.
        self._mass_low = self._mass_low * share
        with np.errstate(over="ignore", invalid="ignore"):
            most_mass = self.unseen_most * np.exp(np.maximum(self._known.ceiling, LEAST_LOG))
        self._mass_high = np.minimum(self._mass_high, most_mass)
        self._is_whole = self._is_whole and k >= rows.vocabulary

    def typical(self, p: float) -> None:
        """Keep the tokens whose surprise is closest to the entropy until their mass is above p."""
        known, owner = self._known, self._owner
        total_low, total_high = self._totals()
        low, high = self._entropy(total_low, total_high)
        # A token's distance is |-logit - entropy|; both are stretches.
        least, most = -known.high - high[owner], -known.low - low[owner]
        nearest = np.maximum(np.maximum(least, -most), 0.0)
        farthest = np.maximum(np.abs(least), np.abs(most))
        may, must = np.where(self.maybe, self._w_high, 0.0), np.where(self.sure, self._w_low, 0.0)
        order, most_h, least_h = self.order, high[owner], low[owner]
        closer = order.sum_high_from(may, -(most_h + farthest)) - order.sum_low_above(may, -(least_h - farthest))
        closer = np.maximum(closer - may, 0.0)
        closer += np.where(known.ceiling[owner] >= -(most_h + farthest), self._mass_high[owner], 0.0)
        surely = order.sum_low_above(must, -(least_h + nearest)) - order.sum_high_from(must, -(most_h - nearest))
        kept = closer / total_low[owner] <= p - MASS_MARGIN
        cut = np.maximum(surely, 0.0) / total_high[owner] > p + MASS_MARGIN
        away = -known.ceiling - high
        every = order.total(must * (farthest < away[owner]))
        unseen_cut = (away > 0) & (every / total_high > p + MASS_MARGIN)
        self._leave(kept, cut, unseen_cut)

    def top_p(self, p: float) -> None:
        """Keep the most likely tokens up to and with the one at which their mass reaches p."""
        ahead_low, ahead_high = self._ahead(self._w_low, self._w_high, (self._mass_low, self._mass_high))
        kept = (ahead_high < p - MASS_MARGIN) | self._is_first()
        cut = ahead_low >= p + MASS_MARGIN
        above = self.order.total(np.where(self.sure & self._above_ceiling(), self._w_low, 0.0))
        total = above + self.order.total(np.where(self.maybe & ~self._above_ceiling(), self._w_high, 0.0))
        reached = above / np.maximum(total + self._mass_high, _LEAST)
        if self._is_whole:
            reached = np.maximum(reached, above)
        self._leave(kept, cut, reached >= p + MASS_MARGIN)

    def min_p(self, p: float) -> None:
        """Keep the tokens with at least the share p of the most likely token's probability."""
        known, rows = self._known, self._rows
        distance = float(np.log(np.float32(p)))
        least = self.order.largest(np.where(self.sure, known.low, -np.inf))
        most = self.order.largest(np.where(self.maybe, known.high, -np.inf))
        may_be_larger = (self.unseen_most > 0) & ((rows.stored == 0) | (not self.keeps_order))
        most = np.where(may_be_larger, np.maximum(most, known.ceiling), most)
        if self.keeps_order and not known.is_tempered:
            # No distribution of this entropy has a smaller maximum than e^-entropy.
            least = np.maximum(least, -rows.entropy - ENTROPY_MARGIN)
        cut_at = distance - LOG_MARGIN
        kept = (known.low >= most[self._owner] + distance + LOG_MARGIN) | self._is_first()
        cut = known.high < least[self._owner] + cut_at
        self._leave(kept, cut, known.ceiling < least + cut_at)

    def xtc(self, threshold: float, decides: tuple[Flags, Flags]) -> None:
        """Drop all but the least likely of the tokens with at least this probability, where XTC takes effect."""
        acts, may_act = decides[0][self._owner], decides[1][self._owner]
        total_low, total_high = self._totals()
        if not may_act.any():
            return
        likely = self.sure & (self._w_low / total_high[self._owner] >= threshold * (1 + THRESHOLD_MARGIN))
        perhaps = self.maybe & (self._w_high / total_low[self._owner] >= threshold * (1 - THRESHOLD_MARGIN))
        unseen = self._mass_high > 0
        with np.errstate(over="ignore"):
            unseen &= np.exp(self._known.ceiling) / total_low >= threshold * (1 - THRESHOLD_MARGIN)
        not_last = self.order.total(likely)[self._owner] - self.order.sum_perhaps(likely) - likely > 0
        may_follow = self.order.total(perhaps)[self._owner] - self.order.sum_surely(perhaps) - perhaps > 0
        own = self._w_low / total_high[self._owner] >= threshold * (1 + THRESHOLD_MARGIN)
        kept = ~may_act | ~(perhaps & (may_follow | unseen[self._owner]))
        self._is_whole = False
        unsure = unseen & decides[1]
        self.sure = self.sure & kept
        self.maybe = self.maybe & ~(acts & own & not_last)
        self.unseen_least = np.where(unsure, 0.0, self.unseen_least)
        self._mass_low = np.where(unsure, 0.0, self._mass_low)

    def greedy(self) -> None:
        """Keep the first of the largest logits."""
        rows = self._rows
        if self._known.in_order:
            self.sure = self.maybe = rows.places == 0
            left = 1.0 - self.order.total(self.maybe)
            self.unseen_least = self.unseen_most = np.minimum(left, rows.unseen)
        else:
            surely_behind = self.order.sum_surely(np.ones(rows.ids.size, np.bool_)) > 0
            kept = self._is_first()
            above = self.order.total(self._above_ceiling()) > 0
            self._leave(kept, surely_behind, above)
        self._mass_low = np.zeros(rows.steps)
        self._mass_high = np.where(self.unseen_most > 0, self._mass_high, 0.0)
        self._is_whole = False

    def after(self, temperature: float, *, for_draws: bool) -> After:
        """Return the probabilities after dividing by the temperature, which is above 0.

        What lies before each candidate is worked out `for_draws` alone; else its bounds are 0 and 1.
        """
        known, owner, power = self._known, self._owner, 1.0 / temperature
        top = self.order.largest(np.where(self.maybe, known.high, -np.inf))
        top = np.where(self.unseen_most > 0, np.maximum(top, known.ceiling), top)
        top = np.where(np.isfinite(top), top, 0.0)
        relative = top[owner]
        low, guess = (tempered(line, relative, power) for line in (known.low, known.middle))
        high = tempered(known.high, relative, power, LEAST_EXPONENT)
        mass = self._mass_low, self._mass_high
        unseen_low, unseen_high = tempered_bounds(mass, (self.unseen_most, known.ceiling), top, power)
        must, may = np.where(self.sure, low, 0.0), np.where(self.maybe, high, 0.0)
        most, least = self.order.others(may) + unseen_high[owner], self.order.others(must) + unseen_low[owner]
        after_low = np.where(self.sure, low / np.maximum(most + low, _LEAST), 0.0)
        after_high = np.where(self.maybe, high / (least + high), 0.0)
        left = np.where(self.maybe, guess, 0.0)
        total = self.order.total(left) + (unseen_low + unseen_high) / 2
        ahead = np.zeros(low.size), np.ones(low.size)
        if for_draws:
            ahead = self._ahead(low, high, (unseen_low, unseen_high))
        best = np.clip(left / np.maximum(total[owner], _LEAST), after_low, after_high)
        return After(after_low, best, after_high, *ahead, low, high)

    def _ahead(self, low: Floats, high: Floats, unseen: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Bound the share of all weight that lies before each candidate, which is taken to be left."""
        order, owner = self.order, self._owner
        must, may = np.where(self.sure, low, 0.0), np.where(self.maybe, high, 0.0)
        unseen_low, unseen_high = unseen[0][owner], unseen[1][owner]
        gap = self._gap()
        may_precede = order.unseen_ahead & (gap > 0) if self._known.in_order else order.unseen_ahead
        # Running sums lose what is small beside all that was summed.
        most_lost, least_lost = (_ROUNDING * values.size * float(values.sum()) for values in (may, must))
        may_be_ahead = order.sum_perhaps(self.maybe) > 0
        most_ahead = order.sum_perhaps(may) + np.where(may_be_ahead, most_lost, 0.0)
        most_ahead += np.where(may_precede, unseen_high, 0.0)
        least_behind = order.total(must)[owner] - order.sum_perhaps(must) - least_lost + np.where(self.sure, 0.0, low)
        least_behind = np.maximum(least_behind, low) + np.where(may_precede, 0.0, unseen_low)
        least_ahead = np.maximum(order.sum_surely(must) - least_lost, 0.0)
        most_behind = order.total(may)[owner] - order.sum_surely(may) + most_lost + unseen_high
        if self.keeps_order:
            # All tokens before one that is left are left, and each of them weighs no less.
            least_ahead = least_ahead + np.maximum(gap, 0.0) * low
        ahead_high = most_ahead / np.maximum(most_ahead + least_behind, _LEAST)
        ahead_low = least_ahead / np.maximum(least_ahead + most_behind, _LEAST)
        if self._is_whole and high is self._w_high:
            return np.maximum(ahead_low, least_ahead), np.minimum(ahead_high, most_ahead)
        return ahead_low, ahead_high

    def _gap(self) -> Floats:
        """Return how many tokens that are not at hand come before each candidate, where the order is known."""
        rows = self._rows
        return (rows.places - (np.arange(rows.ids.size) - rows.starts[self._owner])).astype(np.float64)

    def _is_first(self) -> Flags:
        """Return which candidates nobody can come before."""
        if self.keeps_order:
            return np.equal(self._rows.places, 0)
        behind = self.order.unseen_ahead & (self.unseen_most > 0)[self._owner]
        is_first: Flags = (self.order.sum_perhaps(self.maybe) == 0) & ~behind
        return is_first

    def _above_ceiling(self) -> Flags:
        if self._known.in_order:
            return ~self.order.unseen_ahead
        return np.greater(self._known.low, self._known.ceiling[self._owner])

    def _totals(self) -> tuple[Floats, Floats]:
        """Bound the weight of all that is left, by step."""
        if self._is_whole:
            one = np.ones(self._rows.steps)
            return one, one
        low = self.order.total(np.where(self.sure, self._w_low, 0.0)) + self._mass_low
        high = self.order.total(np.where(self.maybe, self._w_high, 0.0)) + self._mass_high
        return np.maximum(low, _LEAST), np.maximum(high, _LEAST)

    def _entropy(self, total_low: Floats, total_high: Floats) -> tuple[Floats, Floats]:
        """Bound the mean of -logit over all that is left, by step: the entropy less the logarithm of the total."""
        if self._is_whole:
            return self._rows.entropy - ENTROPY_MARGIN, self._rows.entropy + ENTROPY_MARGIN
        known = self._known
        least = self.order.total(np.where(self.sure, self._w_low * -known.high, 0.0))
        # -l e^l rises up to l = -1 and falls behind it.
        steepest = np.maximum(np.clip(-1.0, known.low, known.high), LEAST_LOG)
        most = self.order.total(np.where(self.maybe, np.exp(steepest) * -steepest, 0.0))
        # What is not at hand adds most where its mass is spread evenly.
        count = np.maximum(self.unseen_most, 1.0)
        mass = np.clip(self._mass_high, _LEAST, count / np.e)
        most = most + np.where(self._mass_high > 0, mass * (np.log(count) - np.log(mass)), 0.0)
        return least / total_high - ENTROPY_MARGIN, np.minimum(most / total_low, _MOST_LOG) + ENTROPY_MARGIN

    def _leave(self, kept: Flags, cut: Flags, unseen_cut: Flags) -> None:
        """Note what a stage kept for certain and cut for certain; of the rest nobody knows."""
        self.sure = self.sure & kept
        self.maybe = self.maybe & ~cut
        self.unseen_least = np.zeros(self._rows.steps)
        self.unseen_most = np.where(unseen_cut, 0.0, self.unseen_most)
        self._mass_low = np.zeros(self._rows.steps)
        self._mass_high = np.where(unseen_cut, 0.0, self._mass_high)
        self._is_whole = False
