"""The loop: prompt -> tokens -> prefill -> KV cache -> logits -> sampling -> token -> again, until it ends.

It reads like that description; each stage is a file of its own. It yields events as values and knows nothing of
processes, threads or who listens.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from app.core.commands import Generate, SettingsChange
from app.core.errors import ExitCode, UserError
from app.core.events import Event, Finished, GrammarMask, Held, PrefillProgress, PromptReady, Step, Tokens
from app.core.metrics import Loading, Metrics, StopReason
from app.core.sampling import MAX_SEED
from app.core.words import Sentence, translate
from app.engine.backend import Backend, Row
from app.engine.clock import AnswerClock
from app.engine.control import Control
from app.engine.deadline import Deadline
from app.engine.full_context import Fitted, Policy, fit
from app.engine.grammar import (
    ENDED_BY_GRAMMAR,
    NOT_FITTING,
    TOO_SLOW,
    NothingFits,
    StoppedAsking,
    TooSlow,
    refuse_unfit,
)
from app.engine.kv_cache import KVCache
from app.engine.logits import Logits
from app.engine.pacing import Turn
from app.engine.paging import Paging
from app.engine.prefill import prefill
from app.engine.retracing import Retracing
from app.engine.sampling import Choice, Sampler
from app.engine.writing import Asked, Writing
from app.probability.record import FORCED, NO_DRAW
from app.probability.row import RowFacts

STEP_NS = 250_000_000
"""Whoever looks at the latest step gets one at most so often: nobody reads a list of words faster."""


class Answer:
    """One answer on its way round the loop."""

    def __init__(
        self,
        backend: Backend,
        cache: KVCache,
        command: Generate,
        control: Control,
        deadline: Deadline | None = None,
        retracing: Retracing | None = None,
    ) -> None:
        """`deadline` is what the chat template has to keep; None is its own second.

        With a `retracing` the answer is one that is there already: it begins from an empty cache, and ends where it
        becomes another one.
        """
        self._deadline = deadline
        self._retracing = retracing
        self._backend = backend
        self._cache = cache
        self._command = command
        self._control = control
        self._clock = AnswerClock(command.sent_ns)
        self._paging = Paging()
        self._is_first = not cache.was_used
        self._settings = command.settings.validated()
        asked = Asked(command.request, command.prompt, self._settings.stop, command.record)
        given = None if retracing is None else retracing.given
        self._writing = Writing(asked, backend.vocabulary, self._clock, given)
        self._seed = secrets.randbelow(MAX_SEED) if self._settings.seed is None else self._settings.seed
        self._fixed = self._settings
        """Seed, limit and stops hold for the whole answer."""
        self._first = command.first_token
        self._changes = [SettingsChange(self._first, self._settings)]
        self._replay = sorted(command.replay, key=lambda change: change.token)
        self._forced = dict(enumerate(command.forced))
        """Each stands for a place of its own: one that is passed by is gone."""
        self._chosen: list[int] = []
        """The places of the tokens that somebody chose and that were not told yet."""
        self._step_ns = 0
        self._notes: list[Sentence] = []
        """What people should know of its end."""

    def run(self, watched: Callable[[], bool], whole: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Go through the stages. Raises `UserError` on a bad prompt.

        `watched` tells whether somebody looks at the steps, `whole` whether each is told with all of its row.
        """
        policy = Policy(self._command.when_full, self._settings.max_tokens)
        fitted = fit(self._command.prompt, policy, self._backend.vocabulary, self._deadline, self._cache.cells)
        self._count_from(fitted)
        given = fitted.prepared.ids[max(len(fitted.prepared.ids) - self._first, 0) :]
        try:
            forced = self._command.forced
            refuse_unfit(self._backend, self._settings.grammar, given, forced, self._control.is_cancelled)
        except StoppedAsking:
            yield self._finished("cancelled", 0, 0, 0)
            return
        self._clock.mark_tokens(fitted.template_ns)
        prompt = np.asarray(fitted.prepared.ids, np.int32)
        reused = self._cache.rewind(prompt) if self._retracing is None else self._cache.empty()
        self._clock.mark_rewound()
        yield self._prompt_ready(fitted, prompt, reused)
        done = reused
        stretches = () if self._retracing is None else self._retracing.stretches
        for done in prefill(self._backend, self._cache, prompt, self._control.is_cancelled, stretches):
            at_ns = self._clock.mark_prefill()
            first = self._cache.window_from
            yield PrefillProgress(self._command.request, done, len(prompt), reused, at_ns, window_from=first)
        if done < len(prompt):  # else it ended with its last chunk, before that was told
            self._clock.mark_prefill()
        self._paging.mark_prefill()
        reason: StopReason = "cancelled"
        if self._cache.used == len(prompt):
            try:
                reason = yield from self._generate(fitted.prepared.ids, watched, whole)
            except (UserError, RuntimeError, MemoryError):
                yield from self._flush()
                raise
        self._cache.checkpoint()
        yield self._finished(reason, len(prompt), reused, done - reused)

    def _generate(
        self, prompt: list[int], watched: Callable[[], bool], whole: Callable[[], bool]
    ) -> Generator[Event, None, StopReason]:
        logits = Logits(self._backend)
        stopped, writing = self._control.is_cancelled, self._writing
        sampler: Sampler | None = None
        try:
            sampler = Sampler(self._backend, self._settings, self._seed, prompt, self._first, stopped=stopped)
            while True:
                row, facts = logits.take()
                turn = yield from self._wait(row, facts, sampler)
                if turn is None:
                    yield from self._flush()
                    return "cancelled"
                self._clock.mark_draw()
                self._move_sliders(sampler)
                choice = self._choose(turn, sampler, row, facts)
                at_ns = self._clock.mark_token()
                reason = writing.add(choice, row, facts, at_ns, self._limit(len(prompt)))
                sends = reason is not None or writing.due()
                if sends:
                    # before the step: who looks knows its tokens
                    whole_record = reason is not None or self._control.pacing.is_held
                    yield self._with_settings(writing.take(self._cache.told, last=whole_record))
                if sends and watched() and (reason is not None or self._is_time_for_step()):
                    yield self._step(row, facts, sampler.mask(row), whole=reason is not None or whole())
                if reason is not None:
                    return reason
                sampler.accept(choice.token)
                appended = self._cache.append((choice.token,), logits=True)
                if appended != "done":
                    yield from self._flush()
                    return "cancelled" if appended == "aborted" else "context_full"
        except (NothingFits, TooSlow) as error:
            yield from self._flush()
            self._notes.append(TOO_SLOW if isinstance(error, TooSlow) else ENDED_BY_GRAMMAR)
            return "end"
        except StoppedAsking:
            yield from self._flush()
            return "cancelled"
        finally:
            if sampler is not None:
                sampler.close()

    def _is_time_for_step(self) -> bool:
        """Return whether people are told of a step again; a slow answer is watched token by token, held time counts."""
        now = time.perf_counter_ns()
        if now - self._step_ns < STEP_NS:
            return False
        self._step_ns = now
        return True

    def _wait(self, row: Row, facts: RowFacts, sampler: Sampler) -> Generator[Event, None, Turn | None]:
        """Wait until the next token may be drawn; None when the answer is to end instead."""
        pacing, is_told, place = self._control.pacing, False, len(self._writing.ids)
        if (turn := pacing.take(place)) is not None and not sampler.forbids(turn.token):
            return turn
        refused = None if turn is None else NOT_FITTING
        with self._clock.held():
            while True:
                seen = pacing.changes
                is_held = pacing.is_held
                if self._writing.is_waiting or (is_held and self._writing.has_unsent):  # who waits sees all of it
                    yield self._with_settings(self._writing.take(self._cache.told, last=is_held))
                turn = pacing.take(place)  # before it is told: leave that came too late is no leave
                if turn is not None and not sampler.forbids(turn.token):
                    return turn
                if turn is not None:
                    refused, is_told = NOT_FITTING, False
                if pacing.is_held and pacing.is_over:
                    return None
                if pacing.is_held and not is_told:
                    mask = sampler.mask(row)
                    forced, first = self._forced.get(place), self._cache.window_from
                    told = (facts.log_sum_exp, mask, refused, forced, first)
                    yield Held(self._command.request, place, row.tobytes(), *told)
                is_told = pacing.is_held
                pacing.wait(seen)

    def _choose(self, turn: Turn, sampler: Sampler, row: Row, facts: RowFacts) -> Choice:
        """Draw the next token, or take the one that somebody chose.

        Raises `UserError` on one that is not there, or that the grammar forbids, `NothingFits` and `StoppedAsking`.
        """
        choice = sampler.draw(row, facts, self._position)
        if self._retracing is not None:
            return self._retracing.take(choice, row, sampler)
        place = len(self._writing.ids)
        chosen = turn.token if turn.token is not None else self._forced.get(place)
        if chosen is None:
            return choice
        if not 0 <= chosen < len(row):
            raise UserError(translate("Engine", "Token {token} is none of this model's tokens.", token=chosen))
        if sampler.forbids(chosen):
            raise UserError(NOT_FITTING, ExitCode.WRONG_USE)
        share = choice.probability if chosen == choice.token else sampler.share(chosen)
        self._chosen.append(place)
        return Choice(chosen, share, FORCED | NO_DRAW)

    @property
    def _position(self) -> int:
        """Index in the answer of the next token; an answer that goes on does not begin at 0."""
        return self._first + len(self._writing.ids)

    def _count_from(self, fitted: Fitted) -> None:
        """Count an answer that goes on from the tokens that the model got for its beginning: they can be others."""
        if fitted.given is not None:
            self._first = fitted.given
            self._changes = [SettingsChange(self._first, self._settings)]

    def _limit(self, prompt_tokens: int) -> StopReason | None:
        """Return why the answer ends with the next token, whatever that one says."""
        sampled = len(self._writing.ids) + 1
        if self._retracing is not None and self._retracing.is_over:
            return "length"
        if self._fixed.max_tokens and sampled >= self._fixed.max_tokens:
            return "length"
        if prompt_tokens + sampled >= self._cache.cells:
            return "context_full"
        return "cancelled" if self._control.cancelled else None

    def _flush(self) -> Iterator[Event]:
        """Let go of what is held back when the answer ends outside of a step."""
        if (tokens := self._writing.flush(self._cache.told)) is not None:
            yield self._with_settings(tokens)

    def _with_settings(self, tokens: Tokens) -> Tokens:
        """Return tokens with the settings that hold from one of them on, and which of them somebody chose."""
        begin, end = self._first + tokens.first, tokens.first + tokens.count
        moved = tuple(change for change in self._changes if begin <= change.token < begin + tokens.count)
        chosen = tuple(place for place in self._chosen if place < end)
        self._chosen = self._chosen[len(chosen) :]
        return msgspec.structs.replace(tokens, settings=moved, chosen=chosen) if moved or chosen else tokens

    def _move_sliders(self, sampler: Sampler) -> None:
        """Use settings that were moved, or that a replayed answer had moved here, from this token on."""
        position = self._position
        moved = self._control.take_settings()
        if moved is not None:  # one that is set meanwhile is for the answers after this one
            moved = msgspec.structs.replace(moved, grammar=self._settings.grammar)
        while self._replay and self._replay[0].token <= position:
            moved = self._replay.pop(0).settings
        if moved is None:
            return
        moved = msgspec.structs.replace(
            moved.validated(), seed=self._fixed.seed, max_tokens=self._fixed.max_tokens, stop=self._fixed.stop
        )
        if moved != self._settings:
            self._settings = moved
            self._changes = [change for change in self._changes if change.token < position]
            self._changes.append(SettingsChange(position, moved))
            sampler.change(moved)

    def _step(self, row: Row, facts: RowFacts, mask: GrammarMask | None, *, whole: bool) -> Step:
        return Step(
            request=self._command.request,
            token=len(self._writing.ids) - 1,
            ids=b"" if whole else facts.ids.tobytes(),
            logits=(row if whole else facts.logits).tobytes(),
            log_sum_exp=facts.log_sum_exp,
            grammar=mask,
        )

    def _prompt_ready(self, fitted: Fitted, prompt: npt.NDArray[np.int32], reused: int) -> PromptReady:
        return PromptReady(
            request=self._command.request,
            ids=prompt.tobytes(),
            spans=fitted.prepared.spans,
            from_cache=reused,
            at_ns=self._clock.tokens_ready,
            notes=(*fitted.prepared.notes, *self._writing.notes),
            dropped=fitted.dropped,
            seed=self._seed,
            window_from=self._cache.window_from,
            thinking_opened=fitted.prepared.thinking_opened,
        )

    def _finished(self, reason: StopReason, prompt: int, reused: int, evaluated: int) -> Finished:
        problem = self._cache.take_problem()
        return Finished(
            request=self._command.request,
            text=self._writing.text,
            ids=self._writing.id_bytes,
            stop_reason=reason,
            metrics=self._told_with(self._clock.metrics(self._backend, prompt, reused, evaluated, self._cache.use)),
            seed=self._seed,
            settings=tuple(self._changes),
            notes=(*self._notes, *(() if problem is None else (problem,))),
        )

    def _told_with(self, metrics: Metrics) -> Metrics:
        """Return the figures with what they do not say of how they came about."""
        info = self._backend.info
        return msgspec.structs.replace(
            metrics,
            decode_cpu_s=self._paging.decode_cpu_s(),
            page_ins=self._paging.page_ins(),
            reuse=self._cache.reuse,
            loading=Loading(
                info.gpu_layers, info.layers + 1, info.threads, info.weight_bytes_per_token, self._is_first
            ),
        )


def cancelled_before_start(backend: Backend, cache: KVCache, command: Generate) -> Finished:
    """Return the end of an answer that was cancelled while it waited."""
    clock = AnswerClock(command.sent_ns)
    return Finished(
        request=command.request,
        text="",
        ids=b"",
        stop_reason="cancelled",
        metrics=clock.metrics(backend, 0, 0, 0, cache.use),
        seed=command.settings.seed,
        settings=(SettingsChange(command.first_token, command.settings),),
    )
