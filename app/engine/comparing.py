"""The loop for lanes: one prompt -> prefill -> shared cells -> a row for each lane -> a token of each -> again.

As `loop.py`, with one prefill for all and one decode a step. Yields events as values and knows nothing of processes,
threads or who listens.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np

from app.core.chat import ReadStretch
from app.core.commands import Compare
from app.core.comparison import MOST_AT_ONCE, MOST_LANES, LanePlan, SharedPrefill
from app.core.errors import UserError
from app.core.events import Compared, Event, LaneFinished, LanesPlanned, PrefillProgress, PromptReady
from app.core.lane_plan import plan_lanes
from app.core.metrics import StopReason
from app.core.sampling import MAX_SEED
from app.core.words import Sentence, translate
from app.engine.backend import Backend, Row
from app.engine.clock import MS, AnswerClock
from app.engine.control import Control
from app.engine.deadline import Deadline
from app.engine.full_context import Fitted, Policy, fit
from app.engine.grammar import StoppedAsking, refuse_unfit
from app.engine.kv_cache import KVCache
from app.engine.lane_cells import ChatCells, LaneCells, SharedCells
from app.engine.lanes import Lane, Prompted, Terms, lane_finished
from app.engine.logits import Logits
from app.engine.prefill import prefill
from app.engine.stops import usable_stops

_ONE_BY_ONE = translate(
    "Engine",
    "There is not enough memory to keep the state of all lanes at once, so they run one after another from the "
    "prompt that was read once.",
)
_NOT_GIVEN_BACK = translate(
    "Engine",
    "The memory that the lanes took could not be given back: the model keeps it until the next comparison, or until "
    "you load it again.",
)


class Comparing:
    """The answers of one comparison on their way round the loop."""

    def __init__(
        self, backend: Backend, cache: KVCache, command: Compare, control: Control, deadline: Deadline | None = None
    ) -> None:
        """`deadline` is what the chat template has to keep; None is its own second. Raises `UserError`."""
        if not 1 <= len(command.lanes) <= MOST_LANES:
            raise UserError(
                translate("Engine", "A comparison has 1 to {most} lanes. Take some of them away.", most=MOST_LANES)
            )
        self._deadline = deadline
        self._backend = backend
        self._cache = cache
        self._command = command
        self._control = control
        self._clock = AnswerClock(command.sent_ns)
        self._settings = tuple(each.validated() for each in command.lanes)
        drawn = secrets.randbelow(MAX_SEED)
        self._seeds = tuple(drawn if each.seed is None else each.seed for each in self._settings)
        self._wanted = tuple(each.max_tokens for each in self._settings)
        self._first = 0
        self._clocks: list[AnswerClock] = []
        self._ended: set[int] = set()
        """Lanes that ended before they began."""
        self._waiting: list[int] = []
        """Lanes of the waves that are still to come."""
        self._is_anew = False
        """Whether the context was made anew for the lanes."""
        self._notes: list[Sentence] = []
        """What people should know at the end."""

    def run(self) -> Iterator[Event]:
        """Go through the stages. Raises `UserError` on a bad prompt."""
        fitted = fit(
            self._command.prompt, self._policy(), self._backend.vocabulary, self._deadline, self._cache.cells
        )
        self._first = fitted.given or 0
        given = fitted.prepared.ids[len(fitted.prepared.ids) - self._first :]
        try:
            for grammar in {each.grammar for each in self._settings}:
                refuse_unfit(self._backend, grammar, given, stopped=self._control.is_cancelled)
        except StoppedAsking:
            yield from self.cancelled()
            return
        self._clock.mark_tokens()
        ids = fitted.prepared.ids
        prompt = np.asarray(ids, np.int32)
        plan = plan_lanes(len(ids), self._wanted, self._cache.cells, MOST_AT_ONCE)
        reused = done = self._cache.rewind(prompt)
        yield self._prompt_ready(fitted, reused)
        # The last token alone, as it is where the prompt is in the cells already: run again, lanes write the same.
        alone = (ReadStretch(len(ids) - 1),)
        for done in prefill(self._backend, self._cache, prompt, self._control.is_cancelled, alone):
            self._clock.mark_prefill()
            first, at_ns = self._cache.window_from, self._clock.prefilled
            yield PrefillProgress(self._command.request, done, len(ids), reused, at_ns, window_from=first)
        self._clock.mark_prefill()
        prompted = Prompted(self._backend, self._command, self._control, ids, reused, done - reused)
        if self._cache.used == len(ids):
            yield from self._answer(plan, prompted)
        else:
            yield from self._unbegun(range(len(self._settings)), prompted)
        self._cache.checkpoint()
        yield self._compared(prompted)

    def cancelled(self) -> Iterator[Event]:
        """Yield the ends of a comparison that was cancelled while it waited."""
        prompted = Prompted(self._backend, self._command, self._control, [], 0, 0)
        yield from self._unbegun(range(len(self._settings)), prompted)
        yield self._compared(prompted)

    def _answer(self, plan: LanePlan, prompted: Prompted) -> Iterator[Event]:
        """Run all waves behind the prompt that is in the cells, and leave it there."""
        row = self._backend.logits().copy()  # of all waves: each begins with it, whatever was evaluated since
        try:
            plan, cells, notes = self._prepare(plan, len(prompted.ids))
            first, sizes = self._cache.window_from, self._backend.sequences.cache
            yield LanesPlanned(self._command.request, plan, self._seeds, notes, first, sizes)
            self._waiting = [lane for wave in plan.waves for lane in wave]
            for number, wave in enumerate(plan.waves):
                yield from self._stopped_waiting(prompted)
                self._waiting = [lane for lane in self._waiting if lane not in wave]
                terms = [self._terms(lane, plan.limits[lane]) for lane in wave if lane not in self._ended]
                if terms:
                    lanes = self._lanes(terms, prompted, waits=number > 0)
                    if lanes:
                        yield from self._run_wave(lanes, cells, row, prompted)
            yield from self._stopped_waiting(prompted)
        finally:
            if not self._backend.sequences.close():
                self._notes.append(_NOT_GIVEN_BACK)
            if self._is_anew:
                self._cache.carried_over()

    def _prepare(self, plan: LanePlan, prompt: int) -> tuple[LanePlan, LaneCells, tuple[Sentence, ...]]:
        """Return the plan as it can be kept, the cells for it, and what people should know of that."""
        sequences, wanted = self._backend.sequences, max(map(len, plan.waves))
        if wanted < sequences.count:
            return plan, SharedCells(self._backend, self._cache), ()
        if wanted == 1:
            return plan, ChatCells(self._cache), ()
        most = sequences.fitting(wanted + 1, self._command.main_memory) - 1
        while most > 1:
            if most < wanted:
                plan = plan_lanes(prompt, self._wanted, self._cache.cells, most)
                most = max(map(len, plan.waves))
            if sequences.open(most + 1):
                self._is_anew = True
                self._cache.carried_over()
                return plan, SharedCells(self._backend, self._cache), () if most == wanted else (_fewer(most),)
            most //= 2
        plan = plan_lanes(prompt, self._wanted, self._cache.cells, 1, "one_by_one")
        return plan, ChatCells(self._cache), (_ONE_BY_ONE,)

    def _run_wave(self, lanes: list[Lane], cells: LaneCells, row: Row, prompted: Prompted) -> Iterator[Event]:
        """Run lanes side by side until the last of them has ended; the first token of each comes from the same row."""
        logits, running = Logits(self._backend), lanes
        try:
            cells.open(len(lanes))
            shared = logits.read(row)
            for lane in running:
                if lane.draw(*shared):
                    yield lane.tokens(cells.told(lane.place))
            while running := (yield from self._still_running(running, cells)):
                yield from self._stopped_waiting(prompted)
                places, tokens = [lane.place for lane in running], [lane.token for lane in running]
                if (result := cells.append(places, tokens)) != "done":
                    yield from self._end_all(running, cells, "cancelled" if result == "aborted" else "context_full")
                    return
                for index, lane in enumerate(running):
                    if lane.draw(*logits.take(index)):
                        yield lane.tokens(cells.told(lane.place))
        except (UserError, RuntimeError, MemoryError):
            yield from self._flush(running, cells)
            raise
        finally:
            for lane in lanes:
                lane.close()
            cells.close()

    def _still_running(self, lanes: list[Lane], cells: LaneCells) -> Generator[Event, None, list[Lane]]:
        """Tell the ends of lanes that have ended and free their cells; returns the others."""
        running = [lane for lane in lanes if lane.reason is None]
        if len(running) < len(lanes):
            ended = [lane for lane in lanes if lane.reason is not None]
            use = self._cache.use
            for lane in ended:
                cells.end(lane.place)
                yield lane.finished(use, self._cache.told)
        return running

    def _end_all(self, lanes: list[Lane], cells: LaneCells, reason: StopReason) -> Iterator[Event]:
        """End all lanes whose tokens were not evaluated: somebody stopped that, or llama.cpp found no cells for them."""
        yield from self._flush(lanes, cells)
        for lane in lanes:
            lane.reason = reason
        yield from self._still_running(lanes, cells)

    def _flush(self, lanes: list[Lane], cells: LaneCells) -> Iterator[Event]:
        """Let go of what lanes hold back when they end outside of a step."""
        for lane in lanes:
            if (tokens := lane.flush(cells.told(lane.place))) is not None:
                yield tokens

    def _policy(self) -> Policy:
        """Return how the prompt is made to fit; all lanes get room that have a limit."""
        return Policy(self._command.when_full, sum(self._wanted) if all(self._wanted) else 0)

    def _terms(self, lane: int, limit: int = 0) -> Terms:
        return Terms(lane, self._settings[lane], self._seeds[lane], limit, self._first)

    def _lanes(self, terms: Sequence[Terms], prompted: Prompted, *, waits: bool) -> list[Lane]:
        """Return the lanes of a wave; the clocks of those that wait for another wave begin now."""
        lanes: list[Lane] = []
        try:
            for each in terms:
                try:
                    lanes.append(Lane(each, len(lanes), prompted, self._clock.shared(waits=waits)))
                except StoppedAsking:
                    self._waiting.append(each.number)  # its end is told with those that never began
        except BaseException:
            for lane in lanes:
                lane.close()
            raise
        self._clocks += [lane.clock for lane in lanes]
        return lanes

    def _stopped_waiting(self, prompted: Prompted) -> Iterator[LaneFinished]:
        """Tell the ends of lanes that were stopped while they wait for their wave."""
        if stopped := [lane for lane in self._waiting if self._control.is_stopped(lane)]:
            self._waiting = [lane for lane in self._waiting if lane not in stopped]
            yield from self._unbegun(stopped, prompted)

    def _unbegun(self, lanes: Iterable[int], prompted: Prompted) -> Iterator[LaneFinished]:
        """Yield the ends of lanes that were stopped before they began."""
        for lane in lanes:
            self._ended.add(lane)
            metrics = prompted.metrics(self._clock, self._cache.use)
            yield lane_finished(self._terms(lane), self._command, metrics, "cancelled", cells=self._cache.told)

    def _prompt_ready(self, fitted: Fitted, reused: int) -> PromptReady:
        hints = (usable_stops(each.stop)[1] for each in self._settings)
        return PromptReady(
            request=self._command.request,
            ids=np.asarray(fitted.prepared.ids, np.int32).tobytes(),
            spans=fitted.prepared.spans,
            from_cache=reused,
            at_ns=self._clock.tokens_ready,
            notes=(*fitted.prepared.notes, *next(filter(None, hints), ())),
            dropped=fitted.dropped,
            window_from=self._cache.window_from,
            thinking_opened=fitted.prepared.thinking_opened,
        )

    def _compared(self, prompted: Prompted) -> Compared:
        clock, problem = self._clock, self._cache.take_problem()
        visible = [each.visible for each in self._clocks if each.visible is not None]
        prefill = SharedPrefill(
            prompt_tokens=len(prompted.ids),
            from_cache=prompted.reused,
            evaluated=prompted.evaluated,
            prefill_ms=(clock.prefilled - clock.tokens_ready) / MS,
            ttft_ms=(min(visible) - clock.sent) / MS if visible else None,
        )
        notes = (*self._notes, *(() if problem is None else (problem,)))
        return Compared(self._command.request, prefill, self._cache.use, notes, self._backend.sequences.cache)


def _fewer(lanes: int) -> Sentence:
    return translate(
        "Engine",
        "There is not enough memory to keep the state of all lanes at once, so at most {lanes} of them run together.",
        lanes=lanes,
    )
