"""The candidates of one step under any settings: what the model gave, and what the chain would leave of it.

Loads numpy, so whoever may run before the window is there loads this module late. Must not know services.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.core.events import Step
from app.core.sampling import SamplingSettings
from app.probability.candidates import Ids, Logits, falling
from app.probability.draw import XTC_STREAM, uniform
from app.probability.dry import Breakers
from app.probability.row import RowReader
from app.probability.what_if import NOT_CUT, Replay, WholeRow, replay

ROWS = 20
"""So many candidates are told."""
SHORT_ARRAY = 1024
"""As many of the most likely tokens as the engine's own short array holds: where that is exact, nothing else is read."""

_Tokens = tuple[Ids, Logits]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One token and its probability before and after the chain."""

    token: int
    raw: float
    after: float
    cut_by: str | None
    """The stage that cut it; None for one that is left."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a chain makes of a step."""

    rows: tuple[Candidate, ...]
    """The most likely tokens by falling raw probability, and the one that was drawn last where it is not among them."""
    survivors: int
    is_exact: bool


class StepCandidates:
    """One step; what no setting changes is worked out once."""

    def __init__(self, step: Step, vocabulary: int, history: bytes, drawn: int | None) -> None:
        """`history` are the tokens before the step, int32; `drawn` is the one that the engine drew from it."""
        self.vocabulary = vocabulary
        self.drawn = drawn
        logits: Logits = np.frombuffer(step.logits, "<f4")
        self._row: _Tokens | None = None
        self._sorted_row: _Tokens | None = None
        if step.ids:
            self._top = (np.frombuffer(step.ids, "<i4"), logits)
        else:
            self._row = (np.arange(logits.size, dtype=np.int32), logits)
            self._top = RowReader(logits.size).read(logits).top(SHORT_ARRAY)
        self._has_drawn = drawn is None or bool(np.any(self._top[0] == drawn))
        """Whether the drawn token is among the most likely ones."""
        self._known = WholeRow(step.log_sum_exp, vocabulary)
        self._history: Ids = np.frombuffer(history, "<i4")

    def outcome(self, settings: SamplingSettings, xtc_decides: bool, breakers: Breakers) -> Outcome:
        """Return what the chain of these settings makes of the step."""
        done, ids = self._replay(settings, xtc_decides, breakers)
        tokens = self._top[0][:ROWS].tolist()
        if self.drawn is not None and self.drawn not in tokens and np.any(ids == self.drawn):
            tokens = [*tokens[: ROWS - 1], self.drawn]
        places = (int(np.flatnonzero(ids == token)[0]) for token in tokens)
        rows = tuple(self._row_at(done, place, token) for place, token in zip(places, tokens, strict=True))
        return Outcome(rows, done.stages[-1].survivors, done.is_exact)

    @staticmethod
    def _row_at(done: Replay, place: int, token: int) -> Candidate:
        cut = int(done.cut_by[place])
        name = None if cut == NOT_CUT else done.stages[cut].name
        return Candidate(token, float(done.raw[place]), float(done.after[place]), name)

    def _replay(self, settings: SamplingSettings, xtc_decides: bool, breakers: Breakers) -> tuple[Replay, Ids]:
        """Return the replay and the tokens that it is of: the most likely ones where that is exact, else all."""
        short = replay(*self._top, settings, self._history, xtc_decides, self._known, breakers)
        # Where top-k does not come first, top-p's sum over the full row rounds as the engine's does, and no other.
        sums_as_the_engine = settings.top_k > 0 or settings.top_p >= 1.0
        if self._row is None or (short.is_exact and sums_as_the_engine and self._has_drawn):
            return short, self._top[0]
        tokens = self._in_order(self._row) if xtc_decides or settings.typical_p < 1.0 else self._row
        return replay(*tokens, settings, self._history, xtc_decides, self._known, breakers), tokens[0]

    def _in_order(self, row: _Tokens) -> _Tokens:
        """Return the full row by falling logit: stages that sort it need not do so at every move of a slider."""
        if self._sorted_row is None:
            order = falling(row[1], row[1].size)
            self._sorted_row = (row[0][order], row[1][order])
        return self._sorted_row

    @staticmethod
    def xtc_decides(seed: int, position: int, probability: float) -> bool:
        """Return whether XTC takes effect at a position of an answer, as the engine decides it."""
        return uniform(seed, position, XTC_STREAM) < probability

    @staticmethod
    def breakers(tokens: Iterable[int]) -> Breakers:
        """Return DRY's breakers, of which each is a token that holds a breaker's text."""
        return Breakers(dict.fromkeys(tokens, ((),)))
