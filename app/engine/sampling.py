"""Sampling: settings become native stages over our own candidate array; the draw is ours.

The stages run in the order of the settings, which by default is llama.cpp's: it cuts before it tempers. The draw is last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from app.core.events import GrammarMask
from app.core.sampling import SamplingSettings
from app.engine.backend import Backend, Chain, Row, Stage
from app.engine.grammar import Fitting, GrammarFit, NothingFits
from app.probability.draw import DRAW_STREAM, XTC_STREAM, draw, uniform
from app.probability.nearness import draw_distance
from app.probability.record import NO_DRAW
from app.probability.row import RowFacts

VANISHING = np.float32(100)
"""e^-104 is the smallest float32; nobody draws a token so far below the most likely one."""
SHORT_ARRAY = 1024
"""At most so many of the largest logits stand for the whole vocabulary, where that is exact."""
_NOT_SUMMING = {"penalties", "dry", "min_p", "temperature"}
"""The stages that look at no token but the one itself, and the likeliest one."""


class Choice(NamedTuple):
    """One chosen token, its probability after the chain, and the record's flags."""

    token: int
    probability: float
    flags: int = 0


def raises_logits(settings: SamplingSettings) -> bool:
    """Return whether a penalty can make a token more likely."""
    return settings.repeat_penalty < 1 or settings.frequency_penalty < 0 or settings.presence_penalty < 0


def _finds_its_k(stages: Sequence[str], settings: SamplingSettings) -> bool:
    """Return whether top-k comes before all that sums over a whole row, and behind nothing that raises a token."""
    if "top_k" not in stages:
        return False
    before = stages[: stages.index("top_k")]
    return set(before) <= _NOT_SUMMING and not ("penalties" in before and raises_logits(settings))


def _likeliest(row: Row, fitting: Fitting | None) -> int:
    """Return the token of the largest logit that may come next, of equal ones the lower id."""
    if fitting is None:
        return int(np.argmax(row))
    ids, logits = fitting
    return int(ids[logits == logits.max()].min())


class Sampler:
    """Draws the tokens of one answer; keyed by (seed, position), so that no draw shifts a later one."""

    def __init__(
        self,
        backend: Backend,
        settings: SamplingSettings,
        seed: int,
        prompt: Sequence[int],
        given: int = 0,
        *,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`prompt` is remembered for the penalties, as far as they look back; its last `given` tokens are the answer's.

        `stopped` tells whether the answer is to end: a grammar can take long over a draw.

        Raises `UserError` where the answer's beginning, or the grammar itself, is wrong.
        """
        self._backend = backend
        self._stopped = stopped
        self._history = list(prompt)
        self._seed = seed
        self._candidates = backend.candidates()
        self._every_id = np.arange(backend.vocabulary.size, dtype=np.int32)
        self._chain: Chain | None = None
        self._answer_from = len(self._history) - given
        self._fit: GrammarFit | None = None
        self.change(settings)

    def change(self, settings: SamplingSettings) -> None:
        """Use other settings from the next draw on: a new chain that is told the last tokens."""
        self._free_chain()
        self._settings = settings
        self._use_grammar()
        cells = self._backend.cells
        self._look_back = max(settings.penalty_reach(cells), settings.dry_reach(cells))
        self._chain = self._backend.chain(settings)
        self._remembering: list[Stage] = [stage for stage in self._chain.stages if stage.remembers]
        self._stages = list(self._remembering if settings.is_greedy else self._chain.stages)
        self._is_short = _finds_its_k([stage.name for stage in self._stages], settings)
        for token in self._history[-self._look_back :] if self._look_back else ():
            for stage in self._remembering:
                stage.accept(token)

    def _use_grammar(self) -> None:
        """Have the grammar of the settings beside all that there is of the answer."""
        grammar = self._settings.grammar
        if self._fit is not None and self._fit.grammar == grammar:
            return
        self._free_grammar()
        if grammar is not None:
            self._fit = GrammarFit(self._backend, grammar, self._history[self._answer_from :], self._stopped)

    def mask(self, row: Row) -> GrammarMask | None:
        """Return what the grammar cuts of the next token's row; None without one, not counted where that takes too long."""
        return None if self._fit is None else self._fit.mask(row)

    def forbids(self, token: int | None) -> bool:
        """Return whether the grammar cuts a token of the vocabulary from the next row."""
        is_token = token is not None and 0 <= token < self._every_id.size
        return self._fit is not None and token is not None and is_token and not self._fit.allows(token)

    def draw(self, row: Row, facts: RowFacts, position: int) -> Choice:
        """Draw the token at a position of the answer from its row of logits. Raises `NothingFits` and `StoppedAsking`."""
        fitting = None if self._fit is None else self._fitting(self._fit, row, facts)
        if not self._stages and self._settings.is_greedy:
            return Choice(_likeliest(row, fitting), 1.0, NO_DRAW)
        candidates = self._candidates
        if fitting is not None:
            candidates.fill(*fitting)
        elif (enough := self._enough()) is not None:
            candidates.fill(*facts.top(enough))
        else:
            candidates.fill(self._every_id, row)
        for stage in self._stages:
            if stage.name == "typical":
                self._drop_vanishing()
            if stage.name != "xtc" or self._xtc_decides(position):
                stage.apply(candidates)
        ids, logits = candidates.survivors()
        if self._settings.is_greedy:
            return Choice(int(ids[logits == logits.max()].min()), 1.0, NO_DRAW)
        drawn = draw(ids, logits, uniform(self._seed, position, DRAW_STREAM))
        return Choice(drawn.token, drawn.probability)

    def _fitting(self, fit: GrammarFit, row: Row, facts: RowFacts) -> Fitting:
        """Return what the grammar leaves of a row, as far as the stages look at it. Raises `NothingFits`."""
        touched = min(self._look_back, len(self._history))
        enough = self._enough()
        if self._settings.is_greedy and not raises_logits(self._settings) and touched < SHORT_ARRAY:
            enough = 1 + touched
        found = fit.fitting(row) if enough is None else fit.likeliest(row, facts.top(SHORT_ARRAY), enough)
        if not found[0].size:
            raise NothingFits
        return found

    def share(self, token: int) -> float:
        """Return the probability after the chain of a token in the draw that was just made, 0 for one that was cut."""
        ids, logits = self._candidates.survivors()
        if self._settings.is_greedy or not (found := np.flatnonzero(ids == token)).size:
            return 0.0
        weights = np.exp(logits.astype(np.float64) - logits.max())
        return float(weights[found[0]] / weights.sum())

    def distance(self, token: int, position: int) -> float | None:
        """Return how far the draw that was just made at a position was from a token; None where it could not get it."""
        if self._settings.is_greedy:
            return None
        ids, logits = self._candidates.survivors()
        return draw_distance(ids, logits, uniform(self._seed, position, DRAW_STREAM), token)

    def accept(self, token: int) -> None:
        """Append a token to what penalties, DRY and the grammar look at. Raises `UserError` where that does not fit."""
        if self._fit is not None:
            self._fit.accept(token)
        self._history.append(token)
        for stage in self._remembering:
            stage.accept(token)

    def _enough(self) -> int | None:
        """Return how many of the largest logits are exact: top-k finds its k among those that no penalty lowered."""
        enough = self._settings.top_k + min(self._look_back, len(self._history))
        return enough if self._is_short and enough <= SHORT_ARRAY else None

    def _drop_vanishing(self) -> None:
        """Drop candidates whose probability rounds to 0: llama.cpp's typical stage gets NaN from one of them."""
        ids, logits = self._candidates.survivors()
        alive = logits > logits.max() - VANISHING
        if not alive.all():
            self._candidates.fill(ids[alive], logits[alive])

    def _xtc_decides(self, position: int) -> bool:
        return uniform(self._seed, position, XTC_STREAM) < self._settings.xtc_probability

    def _free_chain(self) -> None:
        if self._chain is not None:
            self._chain.close()
        self._chain = None

    def _free_grammar(self) -> None:
        if self._fit is not None:
            self._fit.close()
        self._fit = None

    def close(self) -> None:
        """Free the native stages."""
        self._free_chain()
        self._free_grammar()
