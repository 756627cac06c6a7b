"""The candidates of one step under any settings: what the model gave, and what the chain would leave of it.

Loads numpy, so whoever may run before the window is there loads this module late. Must not know services.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from app.core.events import GrammarMask, Step
from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids, Logits, Ranking, falling
from app.probability.draw import XTC_STREAM, uniform
from app.probability.dry import Breakers
from app.probability.row import RowReader
from app.probability.stages import chain
from app.probability.what_if import NOT_CUT, Replay, WholeRow, replay

GRAMMAR = "grammar"
"""What is said to have cut a token that does not fit the grammar."""
ROWS = 20
"""So many candidates are told."""
SHORT_ARRAY = 1024
"""As many of the most likely tokens as the engine's own short array holds: where that is exact, nothing else is read."""


def _sorting(settings: SamplingSettings) -> list[str]:
    """Return the stages that put a row in order or sum over it, as they come."""
    return [stage.name for stage in chain(settings) if stage.name in ("top_k", "typical", "top_p", "xtc")]


class _Tokens(NamedTuple):
    """Tokens in one order, and what is known of it."""

    ids: Ids
    logits: Logits
    ranking: Ranking | None = None

    def place_of(self, token: int) -> int | None:
        where = None if self.ranking is None else self.ranking.where
        if where is not None:
            return int(where[token])
        found = np.flatnonzero(self.ids == token)
        return int(found[0]) if found.size else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One token and its probability before and after the chain."""

    token: int
    rank: int | None
    """Its place by falling raw probability, 1 for the most likely. None for a drawn token of which no more is known."""
    raw: float
    after: float | None
    """None where nobody knows."""
    cut_by: str | None
    """The stage that cut it; None for one that is left, and where nobody knows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a chain makes of a step."""

    rows: tuple[Candidate, ...]
    """The most likely tokens by falling raw probability, and the one that was drawn last where it is not among them."""
    survivors: int | None
    """None where nobody knows."""
    is_exact: bool


class _Fitting(NamedTuple):
    """The tokens at hand that fit the grammar."""

    tokens: _Tokens
    all: int
    """How many tokens of the vocabulary fit."""

    @property
    def is_all(self) -> bool:
        """Whether no other token fits."""
        return self.all == self.tokens.ids.size


def _fitting(mask: GrammarMask, whole: Logits | None, top: _Tokens) -> _Fitting:
    fits = np.unpackbits(np.frombuffer(mask.fits, np.uint8), bitorder="little").astype(np.bool_)
    if whole is not None:
        ids: Ids = np.flatnonzero(fits[: whole.size]).astype(np.int32)
        return _Fitting(_Tokens(ids, whole[ids]), ids.size)
    kept = fits[top.ids]
    return _Fitting(_Tokens(top.ids[kept], top.logits[kept]), int(np.count_nonzero(fits)))


class StepCandidates:
    """One step; what no setting changes is worked out once."""

    def __init__(self, step: Step, vocabulary: int, history: bytes, drawn: int | None) -> None:
        """`history` are the tokens before the step, int32; `drawn` is the one that the engine drew from it."""
        self.vocabulary = vocabulary
        self.drawn = drawn
        self._whole: Logits | None = None
        logits: Logits = np.frombuffer(step.logits, "<f4")
        if step.ids:
            self._top = _Tokens(np.frombuffer(step.ids, "<i4"), logits)
        else:
            self._whole = logits
            self._top = _Tokens(*RowReader(logits.size).read(logits).top(SHORT_ARRAY))
        self._known = WholeRow(step.log_sum_exp, vocabulary)
        self._grammar = step.grammar
        counted = step.grammar if self.is_counted else None
        self._fitting = None if counted is None else _fitting(counted, self._whole, self._top)
        self._history: Ids = np.frombuffer(history, "<i4")

    def drawn_as(self, drawn: int) -> StepCandidates:
        """Return the step with the token that was drawn from it, or chosen."""
        step = copy(self)
        step.drawn = drawn
        return step

    def outcome(self, settings: SamplingSettings, xtc_decides: bool, breakers: Breakers) -> Outcome:
        """Return what the chain of these settings makes of the step."""
        shown = self._top.ids[:ROWS].tolist()
        if self.drawn is not None and self.drawn not in shown:
            shown = [*shown[: ROWS - 1], self.drawn]
        if not self.is_counted:
            return Outcome(tuple(self._row_of(token, None, None) for token in shown), None, is_exact=False)
        if self._fitting is not None:
            return self._outcome_of_fitting(self._fitting, shown, settings, xtc_decides, breakers)
        done, tokens = self._replay(settings, xtc_decides, breakers)
        rows = tuple(self._row_at(done, tokens.place_of(token), token) for token in shown)
        left = done.stages[-1].survivors if done.stages else self.vocabulary
        return Outcome(rows, left, done.is_exact)

    @staticmethod
    def largest(step: Step) -> Step:
        """Return a whole step with its largest logits alone, as the engine tells those that come now and then."""
        row: Logits = np.frombuffer(step.logits, "<f4")
        facts = RowReader(row.size).read(row)
        return msgspec.structs.replace(step, ids=facts.ids.tobytes(), logits=facts.logits.tobytes())

    @property
    def has_grammar(self) -> bool:
        """Whether the answer's grammar cut tokens of this step before all other stages."""
        return self._grammar is not None

    @property
    def is_counted(self) -> bool:
        """Whether it is known what came to the first stage: a grammar's mask is given up where it takes too long."""
        return self._grammar is None or self._grammar.masked is not None

    def _outcome_of_fitting(
        self, fitting: _Fitting, shown: list[int], settings: SamplingSettings, xtc_decides: bool, breakers: Breakers
    ) -> Outcome:
        """Return what the chain makes of the tokens that fit the grammar, as far as they are at hand."""
        tokens = fitting.tokens
        places = {token: place for place, token in enumerate(tokens.ids.tolist()) if token in shown}
        if not tokens.ids.size:
            return Outcome(tuple(self._row_of(token, 0.0, GRAMMAR) for token in shown), fitting.all, fitting.is_all)
        done = replay(tokens.ids, tokens.logits, settings, self._history, xtc_decides, None, breakers)
        rows = []
        for token in shown:
            if (place := places.get(token)) is None:
                rows.append(self._row_of(token, 0.0, GRAMMAR))
                continue
            cut = int(done.cut_by[place])
            name = None if cut == NOT_CUT else done.stages[cut].name
            rows.append(self._row_of(token, float(done.after[place]), name))
        survivors = done.stages[-1].survivors if done.stages else tokens.ids.size
        return Outcome(tuple(rows), survivors, fitting.is_all)

    def _row_of(self, token: int, after: float | None, cut_by: str | None) -> Candidate:
        """Return a token with its probability in the row as the model gave it, whatever the grammar cut of that."""
        tokens = self._top if self._top.place_of(token) is not None or self._whole is None else self._by_id
        place = tokens.place_of(token)
        if place is None:
            return Candidate(token, None, 0.0, 0.0, None)
        raw = float(np.exp(tokens.logits[place] - np.float32(self._known.log_sum_exp)))
        return Candidate(token, self._rank_of(token), raw, after, cut_by)

    def _row_at(self, done: Replay, place: int | None, token: int) -> Candidate:
        if place is None:
            return Candidate(token, None, 0.0, 0.0, None)
        cut = int(done.cut_by[place])
        name = None if cut == NOT_CUT else done.stages[cut].name
        return Candidate(token, self._rank_of(token), done.raw_at(place), float(done.after[place]), name)

    def _rank_of(self, token: int) -> int:
        place = self._top.place_of(token)
        return self._drawn_rank if place is None else place + 1

    @cached_property
    def _drawn_rank(self) -> int:
        """The rank of the drawn token where it is not among the most likely."""
        assert self._whole is not None and self.drawn is not None
        return RowReader(self._whole.size).rank(self._whole, self.drawn)

    def _replay(self, settings: SamplingSettings, xtc_decides: bool, breakers: Breakers) -> tuple[Replay, _Tokens]:
        """Return the replay and the tokens that it is of: the most likely ones where that is exact, else all."""
        tokens = self._top
        if self._whole is None or self._top_may_do(settings):
            done = self._replay_of(tokens, settings, xtc_decides, breakers)
            if self._whole is None or done.is_exact:
                return done, tokens
        # Where none that sorts comes before it, top-p's sum rounds as the engine's in the order of ids alone.
        sorting = [name for name in _sorting(settings) if name != "xtc" or xtc_decides]
        tokens = self._by_id if sorting[:1] == ["top_p"] else self._by_rank
        return self._replay_of(tokens, settings, xtc_decides, breakers), tokens

    def _replay_of(
        self, tokens: _Tokens, settings: SamplingSettings, xtc_decides: bool, breakers: Breakers
    ) -> Replay:
        known = self._known._replace(ranking=tokens.ranking)
        return replay(tokens.ids, tokens.logits, settings, self._history, xtc_decides, known, breakers)

    def _top_may_do(self, settings: SamplingSettings) -> bool:
        has_drawn = self.drawn is None or self._top.place_of(self.drawn) is not None
        return has_drawn and not {"typical", "top_p"} & set(_sorting(settings)[:1])

    @cached_property
    def _by_id(self) -> _Tokens:
        """The full row in the order of ids."""
        assert self._whole is not None
        ids = np.arange(self._whole.size, dtype=np.int32)
        return _Tokens(ids, self._whole, Ranking(falling(self._whole, ids.size), where=ids))

    @cached_property
    def _by_rank(self) -> _Tokens:
        """The full row by falling logit: stages that sort it need not do so at every move of a slider."""
        ids, logits, ranking = self._by_id
        assert ranking is not None and ranking.order is not None
        where = np.empty(ids.size, np.int32)
        where[ranking.order] = ids
        return _Tokens(ranking.order.astype(np.int32), logits[ranking.order], Ranking(where=where))

    @staticmethod
    def xtc_decides(seed: int, position: int, probability: float) -> bool:
        """Return whether XTC takes effect at a position of an answer, as the engine decides it."""
        return uniform(seed, position, XTC_STREAM) < probability

    @staticmethod
    def breakers(tokens: Iterable[int]) -> Breakers:
        """Return DRY's breakers, of which each is a token that holds a breaker's text."""
        return Breakers(dict.fromkeys(tokens, ((),)))
