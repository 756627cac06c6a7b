"""The first stage of the chain where an answer has to fit a grammar: which tokens may come next.

No token gets to the native stage that it was not asked about: at one that does not fit, llama.cpp ends the process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from app.core.errors import ExitCode, UserError
from app.core.events import GrammarMask
from app.core.grammar import GRAMMAR_TOO_SLOW, NOT_ALLOWED, NOTHING_FITTED, Grammar
from app.core.grammar_check import gbnf_of
from app.core.words import translate
from app.engine.aside import Aside, Stopped, TooLong
from app.engine.backend import Backend, Row

T = TypeVar("T")
Fitting = tuple[npt.NDArray[np.int32], Row]
"""Ids, ascending, and raw logits of the tokens that may come next, shape (n,) each."""

NOT_FITTING = translate("Engine", "The grammar of this answer does not allow that token here: choose another one.")
ENDED_BY_GRAMMAR = translate(
    "Engine",
    "No token of this model fits the grammar from here on, so the answer ends: look at what the grammar asks.",
    ended_by=NOTHING_FITTED,
)


TOO_SLOW = translate(
    "Engine",
    "llama.cpp did not get through what the grammar allows here, so the answer ends: make the grammar simpler, above all "
    "where parts of it say the same. Until it gets through, a processor core is busy and memory stays taken; to end it at "
    "once, unload the model.",
    ended_by=GRAMMAR_TOO_SLOW,
)

PROBED = 32
LARGEST_CHUNK, CHUNK_NS = 4096, 4_000_000
"""So many tokens are asked about at once, fewer where that takes longer by those that were probed, or asked before."""
MASK_NS = 120_000_000
"""Who looks gets no mask that takes more of the processor than this: the answer would wait for it."""


class TooSlow(UserError):
    """One native call did not come back in time: it is left to itself."""

    def __init__(self) -> None:
        super().__init__(TOO_SLOW, ExitCode.WRONG_USE)


class NothingFits(Exception):
    """No token of the vocabulary may come next, not even one that ends the answer."""


class StoppedAsking(Exception):
    """Somebody stopped the answer while the vocabulary was asked about."""


def _never() -> bool:
    return False


class GrammarFit:
    """One answer beside its grammar; the native stage is freed with `close`."""

    def __init__(
        self, backend: Backend, grammar: Grammar, answer: Iterable[int], stopped: Callable[[], bool] = _never
    ) -> None:
        """`answer` is what there is of it already. Raises `UserError` where that, or the grammar, cannot be used.

        `stopped` tells whether the answer is to end, and is asked between chunks of the vocabulary.
        """
        try:
            self._stage = backend.grammar(gbnf_of(grammar))
        except ValueError as error:
            raise _refusal_of_grammar() from error
        self.grammar = grammar
        self._stopped = stopped
        self._aside = Aside(stopped)
        self._every_id = np.arange(backend.vocabulary.size, dtype=np.int32)
        self._candidates = backend.candidates()
        self._fitting: Fitting | None = None
        try:
            self._beside(lambda: self._accept_all(answer))
        except (UserError, StoppedAsking):
            self.close()
            raise

    def _accept_all(self, answer: Iterable[int]) -> None:
        for token in answer:
            if self._aside.is_left or self._stopped():
                raise StoppedAsking
            if not self._stage.allows(token):
                raise _refusal_of_answer()
            self._stage.accept(token)
            self._aside.goes_on()

    def _beside(self, work: Callable[[], T]) -> T:
        """Return what native work returns, which may take for ever. Raises `StoppedAsking` and `TooSlow`."""
        try:
            return self._aside.run(work)
        except Stopped as stopped:
            raise StoppedAsking from stopped
        except TooLong as error:
            raise TooSlow from error

    def fitting(self, row: Row) -> Fitting:
        """Return what may come next of a row, which stays the same until a token is accepted.

        Raises `StoppedAsking` and `TooSlow`, as all that asks does.
        """
        if self._fitting is None:
            self._fitting = self._beside(lambda: self._of(self._every_id, row))
            if self._fitting is None:
                raise StoppedAsking
        return self._fitting

    def _of(self, ids: npt.NDArray[np.int32], logits: Row, most_ns: int | None = None) -> Fitting | None:
        """Return which of some tokens fit; None where somebody stopped, or where it took too long.

        Each token fits or not whatever the others do, so it is the same in chunks of any size.
        """
        kept_ids, kept_logits = [], []
        begun, done = time.thread_time_ns(), 0
        probed = slice(None, None, max(len(ids) // PROBED, 1))
        _, _, slowest = self._asked(ids[probed], logits[probed])
        while done < len(ids):
            self._aside.goes_on()
            if (
                self._aside.is_left
                or self._stopped()
                or (most_ns is not None and time.thread_time_ns() - begun > most_ns)
            ):
                return None
            size = min(max(int(CHUNK_NS / slowest), 1), LARGEST_CHUNK)
            fit_ids, fit_logits, each = self._asked(ids[done : done + size], logits[done : done + size])
            kept_ids.append(fit_ids)
            kept_logits.append(fit_logits)
            slowest = max(slowest, each)
            done += size
        return np.concatenate(kept_ids), np.concatenate(kept_logits)

    def _asked(self, ids: npt.NDArray[np.int32], logits: Row) -> tuple[npt.NDArray[np.int32], Row, float]:
        """Return which of some tokens fit, and how many nanoseconds one of them took, at least 1."""
        begun = time.perf_counter_ns()
        self._candidates.fill(ids, logits)
        self._stage.apply(self._candidates)
        left, kept = self._candidates.survivors()
        fits = kept > -np.inf
        each = (time.perf_counter_ns() - begun) / max(len(ids), 1)
        return left[fits], kept[fits], max(each, 1.0)

    def likeliest(self, row: Row, top: Fitting, enough: int) -> Fitting:
        """Return at least so many of the likeliest tokens that may come next, by falling logit or by id; or all there are.

        Raises `StoppedAsking`. `top` are the likeliest tokens of the row. Where enough of these fit, no other one is among the likeliest that do: to ask of all costs as much as a small model's decode.
        """
        if self._fitting is None:
            found = self._beside(lambda: self._of(*top))
            if found is None:
                raise StoppedAsking
            if found[0].size >= enough:
                return found
        return self.fitting(row)

    def mask(self, row: Row) -> GrammarMask:
        """Return which tokens may come next; not counted where that takes too long to be looked at, or somebody stopped."""
        if self._fitting is None:
            try:
                self._fitting = self._beside(lambda: self._of(self._every_id, row, MASK_NS))
            except (StoppedAsking, TooSlow):  # who draws or accepts next ends the answer
                return GrammarMask()
        if self._fitting is None:
            return GrammarMask()
        fits = np.zeros(self._every_id.size, np.bool_)
        fits[self._fitting[0]] = True
        return GrammarMask(int(fits.size - np.count_nonzero(fits)), np.packbits(fits, bitorder="little").tobytes())

    def allows(self, token: int) -> bool:
        """Return whether a token may come next."""
        return self._beside(lambda: self._stage.allows(token))

    def accept(self, token: int) -> None:
        """Append a token. Raises `UserError` at one that does not fit."""
        self._beside(lambda: self._accept(token))
        self._fitting = None

    def _accept(self, token: int) -> None:
        if not self._stage.allows(token):
            raise UserError(NOT_FITTING, ExitCode.WRONG_USE)
        self._stage.accept(token)

    def close(self) -> None:
        """Free the native stage, once no call is in it; calling it twice is harmless."""
        self._aside.close(self._stage.close)


def refuse_unfit(
    backend: Backend,
    grammar: Grammar | None,
    given: Sequence[int],
    chosen: Sequence[int] = (),
    stopped: Callable[[], bool] = _never,
) -> None:
    """Raise `UserError` where an answer with this beginning, and these tokens chosen behind it, cannot fit.

    Raises `StoppedAsking` where somebody stopped meanwhile.
    """
    if grammar is None:
        return
    fit = GrammarFit(backend, grammar, given, stopped)
    last = len(chosen) - 1
    try:
        for place, token in enumerate(chosen):
            if stopped():
                raise StoppedAsking
            if not 0 <= token < backend.vocabulary.size:
                continue  # what is no token is told by who uses it
            try:
                fit.accept(token)
            except UserError as error:
                if error.sentence != NOT_FITTING:
                    raise
                # Those before the last one are what the answer had there.
                told = UserError(NOT_ALLOWED, ExitCode.WRONG_USE) if place == last else _refusal_of_answer()
                raise told from error
    finally:
        fit.close()


def _refusal_of_grammar() -> UserError:
    return UserError(
        translate(
            "Engine",
            "llama.cpp does not take this grammar for this model: look at names of tokens in < >, and make it simpler.",
        ),
        ExitCode.WRONG_USE,
    )


def _refusal_of_answer() -> UserError:
    return UserError(
        translate(
            "Engine",
            "What there is of this answer does not fit the grammar that is set for this chat now, so it cannot go on: switch "
            "the grammar off in the settings, or write the answer anew.",
        ),
        ExitCode.WRONG_USE,
    )
