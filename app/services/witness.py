"""What happens around an answer while it is written and what no figure of it says: for the diagnosis at its end.

Follows every answer; asks nothing of the engine. What the machine does is known while somebody looks at it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import msgspec

from app.core.circumstances import LAST_TOKEN, Circumstances
from app.core.commands import SettingsChange
from app.core.devices import MAIN_MEMORY, Gpu, GpuLimit
from app.core.events import Compared, Failed, Finished, PromptReady, Tokens
from app.core.metrics import Metrics
from app.core.model import ModelInfo
from app.core.replay_events import Reproduced
from app.core.sampling import in_effect
from app.core.signal import Signal
from app.planner.gpu import PrefillTime, Speed
from app.services.answers import Answers
from app.services.engine_session import EngineSession
from app.services.questions import AnswerEvent, LanesEvent, ReplayEvent
from app.services.unused_cache import ReadAgain, UnusedCaches
from app.system.hardware import decode_threads

MOST_KEPT = 8
"""Circumstances of so many answers are kept for whoever asks for them at their end."""
MOST_OF_IT = 0.5
"""What held a GPU back for less of the decode explains nothing."""
NO_CHAT = ""

cores = cache(decode_threads)
"""The cores that are worth a thread: they do not change, and asking takes some milliseconds."""


class _Open:
    """One answer on its way."""

    def __init__(self, chat: str, model: ModelInfo | None) -> None:
        self.chat = chat
        self.model = model
        self.read_again = ReadAgain()
        self.busy_since: int | None = None
        """Time of the window's thread when the first token came."""
        self.first_ns = self.since = 0
        self.held: dict[GpuLimit, int] = {}
        """For how long each limit was in force, in ns."""


class Witness:
    """Knows the circumstances of the answers that are written."""

    def __init__(
        self,
        session: EngineSession,
        gpu_is_there: Callable[[], bool | None] = lambda: None,
        answers: Answers | None = None,
        busy_ns: Callable[[], int] = time.thread_time_ns,
        now_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """`gpu_is_there` tells whether the engine has a GPU to use, `busy_ns` for how long this thread has computed."""
        self.gpus: Callable[[], tuple[Gpu, ...]] = tuple
        """The GPUs that have a part of the model, as they are now; none where nobody looks at them."""
        self.ceiling: Callable[[ModelInfo], float | None] = lambda _model: None
        """The measured bandwidth, in 10^9 bytes/s, of the memory that holds a model's weights."""
        self.expected: Callable[[Metrics], Speed | None] = lambda _metrics: None
        """How fast an answer should have been written, as earlier ones let one expect."""
        self.expected_reading: Callable[[Metrics], PrefillTime | None] = lambda _metrics: None
        """And how long its prompt should have taken to be read."""
        self.ended: Signal[Finished, Circumstances, bool] = Signal()
        """An answer has ended, in these circumstances; whether somebody held or paced it."""
        self._session = session
        self._gpu_is_there = gpu_is_there
        self._answers = answers
        self._busy_ns = busy_ns
        self._now_ns = now_ns
        self._open: dict[int, _Open] = {}
        self._held: set[int] = set()
        """Those on their way that somebody held or paced."""
        self._ended: dict[int, Circumstances] = {}
        """By request, oldest first."""
        self._caches = UnusedCaches()
        self._limits: tuple[GpuLimit, ...] = ()
        self._answered: ModelInfo | None = None
        session.answer_told.connect(self._take)
        session.replayed.connect(self._take_beside)
        session.lanes_told.connect(self._take_beside)

    def look_at_machine(self) -> None:
        """Take in what holds the GPUs back now."""
        for each in self._open.values():
            self._count(each)
        self._limits = tuple({limit for gpu in self.gpus() for limit in gpu.limits})

    def circumstances_of(self, request: int) -> Circumstances:
        """Return what was around an answer that has just ended."""
        return self._ended.get(request, Circumstances())

    def seen(self, event: Finished) -> Finished:
        """Return the end of an answer with what was around it, which is kept with its figures."""
        if event.request not in self._ended:
            self._ended[event.request] = self._at_end(event)
            if len(self._ended) > MOST_KEPT:
                del self._ended[next(iter(self._ended))]
        metrics = msgspec.structs.replace(event.metrics, circumstances=self._ended[event.request])
        return msgspec.structs.replace(event, metrics=metrics)

    def _at_end(self, event: Finished) -> Circumstances:
        answer = self._open.pop(event.request, None)
        model = self._session.model
        if model is None:
            return Circumstances()
        is_first, self._answered = self._answered is not model, model
        found = _loaded(model, self._gpu_is_there(), event.settings)
        speed, reading = self.expected(event.metrics), self.expected_reading(event.metrics)
        found = msgspec.structs.replace(
            found,
            first_after_load=is_first,
            memory_gb_per_s=self.ceiling(model),
            expected=(speed.tokens_per_s, speed.low, speed.high) if speed is not None else None,
            expected_prefill_s=(reading.seconds, reading.low, reading.high) if reading is not None else None,
        )
        if answer is None:
            return found
        self._caches.wrote(answer.chat, event.ids)
        used, buffers = self._gpu_memory(event.metrics)
        return msgspec.structs.replace(
            found,
            **_cache(answer.read_again, event.metrics),
            window_busy_s=None if answer.busy_since is None else (self._busy_ns() - answer.busy_since) / 1e9,
            gpu_limits=self._limits_of(answer),
            gpu_used_bytes=used,
            gpu_buffer_bytes=buffers,
        )

    def _take(self, event: AnswerEvent) -> None:
        match event:
            case PromptReady():
                self._take_prompt(event)
            case Tokens():
                answer = self._open.get(event.request)
                if event.held_ns:
                    self._held.add(event.request)
                if answer is not None and answer.busy_since is None:
                    answer.busy_since = self._busy_ns()
                    answer.first_ns = answer.since = self._now_ns()
                    self.look_at_machine()
            case Finished():
                is_held = bool(event.metrics.held_ms) or event.request in self._held
                self._held.discard(event.request)
                self.seen(event)
                self.ended.emit(event, self._ended[event.request], is_held)
            case Failed():
                self._open.pop(event.request, None)
                self._held.discard(event.request)
            case _:
                pass

    def _take_prompt(self, event: PromptReady) -> None:
        runs = self._answers.runs if self._answers is not None else ()
        run = next((run for run in runs if run.request == event.request), None)
        self._ended.pop(event.request, None)
        chat = str(run.conversation.head.id) if run is not None else NO_CHAT
        answer = self._open[event.request] = _Open(chat, self._session.model)
        answer.read_again = self._caches.read(
            chat, self._session.model, event.ids, event.from_cache, event.spans, event.dropped
        )

    def _take_beside(self, event: ReplayEvent | LanesEvent) -> None:
        if isinstance(event, Compared):
            self._caches.came_between("comparison")
        elif isinstance(event, Reproduced):
            self._caches.came_between("reproduction")

    def _count(self, answer: _Open) -> None:
        """Add the time since the last look to the limits that were in force."""
        now = self._now_ns()
        if answer.busy_since is not None:
            for limit in self._limits:
                answer.held[limit] = answer.held.get(limit, 0) + now - answer.since
            answer.since = now

    def _limits_of(self, answer: _Open) -> frozenset[GpuLimit]:
        self._count(answer)
        whole = answer.since - answer.first_ns
        return frozenset(limit for limit, ns in answer.held.items() if ns >= MOST_OF_IT * whole)

    def _gpu_memory(self, metrics: Metrics) -> tuple[int | None, int | None]:
        """Return what lies on the GPUs by their driver, and what the engine set aside there; None is unknown."""
        sizes = [use.total for use in metrics.memory if use.device != MAIN_MEMORY]
        used = [gpu.used for gpu in self.gpus()]
        if not sizes or len(used) != len(sizes) or None in sizes or None in used:
            return None, None
        return sum(each or 0 for each in used), sum(each or 0 for each in sizes)


def _loaded(model: ModelInfo, gpu_is_there: bool | None, settings: tuple[SettingsChange, ...]) -> Circumstances:
    """Return what a load and the last settings of an answer say."""
    options, last = model.options, settings[-1].settings if settings else None
    return Circumstances(
        gpu_is_there=True if model.gpu_layers else gpu_is_there,
        gpu_layers=model.gpu_layers,
        all_layers=model.layers + 1,
        weight_bytes_per_token=model.weight_bytes_per_token,
        threads=model.threads,
        cores=cores(),
        micro_batch=options.micro_batch,
        kv_is_f16=(options.kv_type_k, options.kv_type_v) == ("f16", "f16"),
        locks_memory=options.mlock,
        checkpoints=None if model.memory_kind == "plain" else options.checkpoints,
        top_k_is_off=last is not None and not last.is_greedy and not in_effect(last).top_k,
        has_grammar=last is not None and last.grammar is not None,
    )


def _cache(read_again: ReadAgain, metrics: Metrics) -> dict[str, object]:
    """Return why tokens were read again; what the engine found in its cells is surer than what was told of them."""
    if metrics.reuse is None:
        return {"unused_cache": read_again.why, "read_again": read_again.tokens}
    lost = metrics.reuse.shared - metrics.prompt_tokens_from_cache
    if lost > LAST_TOKEN:
        return {"unused_cache": "cannot_rewind", "read_again": lost}
    told = ReadAgain() if read_again.why == "cannot_rewind" else read_again
    return {"unused_cache": told.why, "read_again": told.tokens}
