"""What a chain makes of the chosen tokens of thousands of steps, where its stages cut from the ends of the order alone.

Top-k, top-p, min-p, XTC and temperature leave a stretch of the tokens by falling probability, so that two bounds for each
of its ends say everything; `bounded` does the same for any chain, candidate by candidate. Must not know settings' names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.bounded_stages import ENTROPY_MARGIN, LOG_MARGIN, MASS_MARGIN, THRESHOLD_MARGIN
from app.probability.candidates import Places
from app.probability.known_rows import LEAST_LOG, MARGIN, Flags, Floats, rounding_error
from app.probability.record import TokenRecords
from app.probability.stages import chain
from app.probability.tempering import LEAST_EXPONENT, tempered, tempered_bounds

_NUMBER = 0x7FFF
"""All bits of a float16 but its sign: log-probabilities are never above 0."""
_INFINITE = 0x7C00
_LEAST = 1e-300
_ABOVE_ONE = 1.0 + 2.0**-48
"""So that rounding makes no difference too small."""
SUITED = ("top_k", "top_p", "min_p", "xtc", "temperature")
"""In this order alone."""


class PrefixReplay:
    """The steps of a record, and what is left of each between two stages; every step has stored alternatives."""

    def __init__(self, records: TokenRecords) -> None:
        count = len(records)
        self._start = records.offsets[:-1]
        self._stored = np.diff(records.offsets)
        end = records.alternative_ids.size
        # One more than there are, so that every stretch has an end; whole indices are the fastest to look up.
        self._codes: Places = np.zeros(end + 1, np.int64)
        np.bitwise_and(records.alternative_log_probability.view(np.uint16), _NUMBER, out=self._codes[:end])
        self._low_of, self._high_of, weights = _tables()
        self._running_low, self._running_high = (_running(table[self._codes]) for table in weights)
        self._own = records.log_probability.astype(np.float64)
        self._own_low, self._own_high = self._own - MARGIN, np.minimum(self._own + MARGIN, 0.0)
        self.place = records.rank.astype(np.int64) - 1
        self._is_stored = self.place < self._stored
        self._entropy = records.entropy
        self._vocabulary = records.vocabulary
        # The stretch that is left begins between two places and ends between two.
        self._begin_low = self._begin_high = np.zeros(count, np.int64)
        self._end_low = self._end_high = self._stored
        unseen = np.maximum(records.vocabulary - self._stored, 0).astype(np.float64)
        self.unseen_least = self.unseen_most = unseen
        self._unseen = unseen
        self._mass_low = np.clip(1.0 - self._sum(self._running_high, self._stored) - MARGIN, 0.0, 1.0)
        self._mass_high = np.clip(1.0 - self._sum(self._running_low, self._stored) + MARGIN, 0.0, 1.0)
        self._mass_low[unseen == 0] = self._mass_high[unseen == 0] = 0.0
        self.raw_unseen = (self._mass_low + self._mass_high) / 2
        last = self._high_of[self._codes[self._start + self._stored - 1]]
        with np.errstate(divide="ignore"):
            ceiling = np.where(unseen > 0, np.minimum(np.log(self._mass_high), last), -np.inf)
        self._ceiling = np.maximum(ceiling, LEAST_LOG)
        self._is_whole = True
        self.sure: Flags = np.ones(count, np.bool_)
        """Whether the chosen token is left for certain."""
        self.maybe: Flags = self.sure
        """Whether it is left for certain or perhaps."""

    @staticmethod
    def suits(records: TokenRecords, settings: SamplingSettings) -> bool:
        """Return whether the records and the stages of these settings are of this kind."""
        stages = [stage.name for stage in chain(settings)]
        if stages != [name for name in SUITED if name in stages]:
            return False
        stored, place = np.diff(records.offsets), records.rank - 1
        inside = np.flatnonzero(place < stored)
        found = records.alternative_ids[records.offsets[inside] + place[inside]]
        return bool(stored.all() and (place >= 0).all() and np.array_equal(found, records.tokens[inside]))

    def top_k(self, k: int) -> None:
        """Keep the k most likely tokens; the first of the stages."""
        self._end_low = self._end_high = np.minimum(self._stored, k)
        self.sure = self.maybe = self.place < k
        left = np.clip(k - self._stored, 0.0, self._unseen)
        self.unseen_least = self.unseen_most = left
        self._mass_low = self._mass_low * (left / np.maximum(self._unseen, 1.0))
        self._mass_high = np.minimum(self._mass_high, left * np.exp(self._ceiling))
        self._is_whole = k >= self._vocabulary

    def top_p(self, p: float) -> None:
        """Keep the most likely tokens up to and with the one at which their mass reaches p."""
        all_low = self._sum(self._running_low, self._end_low) + self._mass_low
        all_high = self._sum(self._running_high, self._end_high) + self._mass_high

        def surely(ends: Places) -> Flags:
            low = self._sum(self._running_low, ends)
            rest = np.maximum(all_high - self._sum(self._running_high, ends), 0.0)
            reached = low >= (p + MASS_MARGIN) * (low + rest)
            return reached | (low >= p + MASS_MARGIN) if self._is_whole else reached

        def perhaps(ends: Places) -> Flags:
            high = self._sum(self._running_high, ends)
            rest = np.maximum(all_low - self._sum(self._running_low, ends), 0.0)
            reached = high >= (p - MASS_MARGIN) * (high + rest)
            return reached & (high >= p - MASS_MARGIN) if self._is_whole else reached

        latest, earliest = self._first(surely, self._end_low), self._first(perhaps, self._end_high)
        is_reached = latest <= self._end_low
        ahead_low, ahead_high = self._ahead_of_outside()
        own, rest = np.exp(self._own_low), np.maximum(self._mass_high, 0.0)
        is_cut = is_reached | (ahead_low >= (p + MASS_MARGIN) * (ahead_low + rest))
        is_kept = ahead_high < (p - MASS_MARGIN) * (ahead_high + own)
        if self._is_whole:
            is_cut |= ahead_low >= p + MASS_MARGIN
            is_kept |= ahead_high < p - MASS_MARGIN
        self._leave(np.maximum(earliest, 1), np.where(is_reached, latest, self._end_high), is_reached)
        self._leave_chosen(is_kept, is_cut)

    def min_p(self, p: float) -> None:
        """Keep the tokens with at least the share p of the most likely token's probability."""
        distance = float(np.log(np.float32(p)))
        first = self._codes[self._start]
        least = np.maximum(self._low_of[first], -self._entropy - ENTROPY_MARGIN) + (distance - LOG_MARGIN)
        most = self._high_of[first] + (distance + LOG_MARGIN)
        earliest = self._first(lambda ends: self._low_of[self._codes[self._start + ends - 1]] < most, self._stored)
        latest = self._first(lambda ends: self._high_of[self._codes[self._start + ends - 1]] < least, self._stored)
        # The first that is too unlikely is the end; the most likely one is not compared with itself.
        self._leave(np.maximum(earliest - 1, 1), np.maximum(latest - 1, 1), self._ceiling < least)
        self._leave_chosen(self._own_low >= most, self._own_high < least)

    def xtc(self, threshold: float, acts: Flags, may_act: Flags) -> None:
        """Drop all but the least likely of the tokens with at least this probability; the last of the stages that cut."""
        if not may_act.any():
            return
        bound = float(np.log(max(threshold, _LEAST)))
        total_low, total_high = self._totals(self._running_low, self._running_high, (self._mass_low, self._mass_high))
        most = np.log(total_high) + (np.log1p(THRESHOLD_MARGIN) + bound)
        least = np.log(total_low) + (np.log1p(-THRESHOLD_MARGIN) + bound)
        likely = self._first(lambda ends: self._low_of[self._codes[self._start + ends - 1]] < most, self._end_low)
        perhaps = self._first(lambda ends: self._high_of[self._codes[self._start + ends - 1]] < least, self._end_high)
        reaches_unseen = may_act & (self.unseen_most > 0) & (self._ceiling >= least)
        # `_first` counts one more than are likely, and the last of them stays.
        self._begin_low = np.where(acts, np.maximum(likely - 2, 0), 0)
        self._begin_high = np.where(may_act, np.maximum(perhaps - 2, 0), 0)
        self._begin_high = np.where(reaches_unseen, self._end_low, self._begin_high)
        self.unseen_least = np.where(reaches_unseen, 0.0, self.unseen_least)
        self._mass_low = np.where(reaches_unseen, 0.0, self._mass_low)
        stays = np.where(self._is_stored, self.place >= self._begin_high, ~reaches_unseen)
        goes = self._is_stored & (self.place < self._begin_low)
        self.sure, self.maybe = self.sure & stays, self.maybe & ~goes
        self._is_whole = False

    def greedy(self) -> None:
        """Keep the most likely token."""
        self.sure = self.maybe = self.place == 0
        self._end_low = self._end_high = np.ones(self._own.size, np.int64)
        self.unseen_least = self.unseen_most = self._mass_low = self._mass_high = np.zeros(self._own.size)

    def after(self, temperature: float) -> tuple[Floats, Floats, Floats]:
        """Return bounds and best guess of the chosen token's probability, as low, guess, high."""
        power = 1.0 / temperature
        first = self._codes[np.minimum(self._start + self._begin_low, self._start + self._stored - 1)]
        top = np.maximum(self._high_of[first], np.where(self.unseen_most > 0, self._ceiling, LEAST_LOG))
        mass = tempered_bounds((self._mass_low, self._mass_high), (self.unseen_most, self._ceiling), top, power)
        low, high = self._weights(self._low_of, top, power), self._weights(self._high_of, top, power, LEAST_EXPONENT)
        own_low, own = (tempered(line, top, power) for line in (self._own_low, self._own))
        own_high = tempered(self._own_high, top, power, LEAST_EXPONENT)
        # A token that is not stored is a part of the mass of those.
        more_most = np.where(self._is_stored, mass[1], np.maximum(mass[1] * _ABOVE_ONE - own_low, 0.0))
        more_least = np.where(self._is_stored, mass[0], 0.0)
        others_most = self._others(high, self._begin_low, self._end_high) + more_most
        others_least = self._others(low, self._begin_high, self._end_low) + more_least
        after_low = np.where(self.sure, own_low / np.maximum(own_low + others_most, _LEAST), 0.0)
        after_high = np.where(self.maybe, own_high / (own_high + others_least), 0.0)
        guess = np.where(self.maybe, own / np.maximum(own + (others_least + others_most) / 2, _LEAST), 0.0)
        return after_low, np.clip(guess, after_low, after_high), after_high

    def survivors(self) -> tuple[Places, Flags]:
        """Return how many tokens are left of each step at least, and whether exactly these are."""
        at_hand = np.maximum(self._end_low - self._begin_high, 0) + self.unseen_least.astype(np.int64)
        is_exact = (self._end_low == self._end_high) & (self._begin_low == self._begin_high)
        return np.maximum(at_hand, 1), is_exact & (self.unseen_least == self.unseen_most)

    def _sum(self, running: Floats, ends: Places) -> Floats:
        sums: Floats = running[self._start + ends] - running[self._start]
        return sums

    def _stretch_sum(self, values: Floats, begins: Places, ends: Places) -> Floats:
        """Return the sum of each step's values from a place up to another."""
        edges = np.stack((self._start + np.minimum(begins, ends), self._start + ends), axis=1).ravel()
        sums = np.add.reduceat(values, edges)[::2]
        return np.where(begins < ends, sums, 0.0)

    def _others(self, values: Floats, begins: Places, ends: Places) -> Floats:
        """Return the sum of each step's values but the chosen token's, from a place up to another."""
        place = np.where(self._is_stored, self.place, self._stored)
        before = self._stretch_sum(values, begins, np.minimum(ends, place))
        return before + self._stretch_sum(values, np.maximum(begins, place + 1), ends)

    def _weights(self, table: Floats, top: Floats, power: float, least: float = -np.inf) -> Floats:
        """Return the weight of each stored token after the temperature, relative to the largest of its step."""
        largest = np.append(np.repeat(top, self._stored), 0.0)
        return tempered(table[self._codes], largest, power, least)

    def _totals(self, low: Floats, high: Floats, mass: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        if self._is_whole:
            one = np.ones(self._own.size)
            return one, one
        return (
            np.maximum(self._sum(low, self._end_low) + mass[0], _LEAST),
            np.maximum(self._sum(high, self._end_high) + mass[1], _LEAST),
        )

    def _ahead_of_outside(self) -> tuple[Floats, Floats]:
        """Bound the mass before a chosen token that is not stored and is left: all before it are left then."""
        gap = np.maximum(self.place - self._stored, 0)
        low = self._sum(self._running_low, self._stored) + gap * np.exp(self._own_low)
        more = np.minimum(self._mass_high, gap * np.exp(self._ceiling))
        return low, self._sum(self._running_high, self._stored) + more

    def _first(self, holds: Callable[[Places], Flags], most: Places) -> Places:
        """Return the least number from 1 on for which a rising condition holds, one above `most` where it never does."""
        low, high = np.ones_like(most), most + 1
        for _ in range(int(most.max()).bit_length()):
            middle = (low + high) // 2
            ok = holds(np.minimum(middle, most)) | (middle > most)
            is_open = low < high
            high = np.where(is_open & ok, middle, high)
            low = np.where(is_open & ~ok, middle + 1, low)
        return high

    def _leave(self, earliest: Places, latest: Places, unseen_cut: Flags) -> None:
        """Note bounds of the end of what is left, and where no token that is not at hand is left."""
        self._end_low = np.minimum(self._end_low, earliest)
        self._end_high = np.minimum(self._end_high, latest)
        self.unseen_least = self._mass_low = np.zeros(self._own.size)
        self.unseen_most = np.where(unseen_cut, 0.0, self.unseen_most)
        self._mass_high = np.where(unseen_cut, 0.0, self._mass_high)
        self._is_whole = False

    def _leave_chosen(self, is_kept: Flags, is_cut: Flags) -> None:
        """Note what became of the chosen tokens; the two flags are of those that are not stored."""
        kept = np.where(self._is_stored, self.place < self._end_low, is_kept)
        cut = np.where(self._is_stored, self.place >= self._end_high, is_cut)
        self.sure, self.maybe = self.sure & kept, self.maybe & ~cut


def _running(values: Floats) -> Floats:
    """Return the sums of all values before each; the last value is not in any."""
    running = np.empty(values.size)
    running[0] = 0.0
    np.cumsum(values[:-1], out=running[1:])
    return running


@cache
def _tables() -> tuple[Floats, Floats, tuple[Floats, Floats]]:
    """Return by a float16's bits the bounds of a log-probability, and of the probability."""
    numbers = np.arange(_NUMBER + 1, dtype=np.uint16)
    numbers[_INFINITE:] = _INFINITE
    values = np.maximum(-numbers.view(np.float16).astype(np.float64), LEAST_LOG)
    error = rounding_error(values)
    low, high = values - error, np.minimum(values + error, 0.0)
    return low, high, (np.exp(low), np.exp(high))
