"""The questions that wait and the one that the engine has; each ends in exactly one `Finished` or `Failed`.

An answer that is written once more takes its turn among them and ends in `Reproduced` or `Failed`, and so do the lanes
of a comparison, which end in `Compared` or `Failed`, and a pass over tokens, which ends in `PromptScored`,
`AttentionRead`, `OperationsTimed` or `Failed`;
they are told apart, so that nobody takes them for an answer. A question's clock starts when it goes to the engine, not while
another one is answered. Knows no model and no file; when a question may go is the session's to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import msgspec

from app.core.attention import AttentionEvent, AttentionProgress, AttentionRead
from app.core.chat import ChatPrompt, Prompt
from app.core.commands import (
    Cancel,
    ChangeSettings,
    Compare,
    Generate,
    Pass,
    Reproduce,
    SetPace,
    StepOn,
    StopLane,
)
from app.core.devices import MainMemory
from app.core.events import (
    Compared,
    Failed,
    FailureKind,
    Finished,
    Held,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Step,
    Tokens,
)
from app.core.model import ModelRef
from app.core.operations import BandwidthMeasured, OperationsEvent, OperationsProgress, OperationsTimed
from app.core.ports import EnginePort
from app.core.prompt_scores import PromptScored, ScoreEvent, ScoreProgress
from app.core.replay_events import Reproduced
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.templates import Templates
from app.services.wishes import LanesQuestion, Question, StatePlaces, Unkept, nowhere

AnswerEvent = PromptReady | PrefillProgress | Tokens | Step | Held | Finished | Failed
ReplayEvent = PromptReady | PrefillProgress | Tokens | Reproduced | Failed
LanesEvent = PromptReady | PrefillProgress | LanesPlanned | LaneTokens | LaneFinished | Compared | Failed
ScoringEvent = ScoreEvent | AttentionEvent | OperationsEvent | Failed
QuestionEvent = (
    AnswerEvent
    | Reproduced
    | LanesPlanned
    | LaneTokens
    | LaneFinished
    | Compared
    | ScoreEvent
    | AttentionEvent
    | OperationsEvent
)
ENDS = (Finished, Reproduced, Compared, PromptScored, AttentionRead, OperationsTimed, BandwidthMeasured, Failed)
"""The last that is said of something that takes its turn."""


class _OfOneModel(msgspec.Struct, frozen=True):
    """Something that one model alone can do."""

    command: Reproduce | Pass
    model: ModelRef

    @property
    def request(self) -> int:
        """The number of its request."""
        return self.command.request

    def belongs_to(self, model: ModelRef | None) -> bool:
        """Whether a model is that one."""
        return model is not None and model.identity == self.model.identity


class Replay(_OfOneModel, frozen=True):
    """An answer that is to be written once more, by the model that wrote it."""

    command: Reproduce


class Scoring(_OfOneModel, frozen=True):
    """A pass over tokens in an inspection context: their scores, or the attention of one, by the model they are for."""

    command: Pass


Asked = Question | Replay | LanesQuestion | Scoring


class Questions:
    """Sends questions and hands on what the engine says of them."""

    def __init__(
        self,
        engine: EnginePort,
        templates: Templates,
        memory: Callable[[], MainMemory],
        state_place: StatePlaces = nowhere,
    ) -> None:
        self.told: Signal[AnswerEvent] = Signal()
        """What the engine says of an open question; `Finished` or `Failed` is the last of it."""
        self.replayed: Signal[ReplayEvent] = Signal()
        """What the engine says of an answer that it writes once more; `Reproduced` or `Failed` is the last of it."""
        self.lanes_told: Signal[LanesEvent] = Signal()
        """What the engine says of the lanes of a comparison; `Compared` or `Failed` is the last of it."""
        self.scored: Signal[ScoringEvent] = Signal()
        """What the engine says of a pass over tokens; `PromptScored`, `AttentionRead`, `OperationsTimed` or `Failed` is the last."""
        self.sent: Signal[int, int] = Signal()
        """A question went to a loaded model: its request and the time that its clock starts at (`perf_counter_ns`)."""
        self._engine = engine
        self._templates = templates
        self._memory = memory
        self._state_place = state_place
        self._waiting: dict[int, Asked] = {}
        self._open: dict[int, Asked] = {}
        self._stopped: list[StopLane] = []
        """Of comparisons that wait."""
        self._ended: set[int] = set()
        """Lanes that have ended of the comparison that the engine has."""

    def opened(self) -> Asked | None:
        """Return what the engine has; None while that is nothing."""
        return next(iter(self._open.values()), None)

    def lanes_before(self, request: int) -> int:
        """Return how many lanes of a comparison are still written before this question begins; 0 where none is."""
        if request in self._open:
            return 0
        lanes = [len(each.lanes) for each in self._open.values() if isinstance(each, LanesQuestion)]
        return max(sum(lanes) - len(self._ended), 0)

    def template_for(self, model: ModelRef | None) -> str | None:
        """Return the chat template that people chose for a model; None takes the model's own."""
        return self._templates.for_model(model)

    def wait(self, question: Asked) -> None:
        """Let a question wait for its model, or for the answers before it; once kept it takes its own place."""
        self._waiting[question.request] = question

    def send_next(self, model: ModelRef | None) -> bool:
        """Send the question that has waited longest, unless the engine has one; whether one was sent."""
        while not self._open:
            first = next((each for each in self._waiting.values() if not isinstance(each, Unkept)), None)
            if first is None:
                return False
            del self._waiting[first.request]
            if isinstance(first, Question):
                self._send(first, model)
            elif isinstance(first, LanesQuestion):
                self._send_lanes(first, model)
            elif first.belongs_to(model):
                self._send_as_it_is(first)
            else:
                self._tell_failed(first, "model", _OTHER_MODEL)
                continue
            return True
        return False

    def _send_as_it_is(self, asked: Replay | Scoring) -> None:
        self._open[asked.request] = asked
        if isinstance(asked, Replay):
            self._engine.send(msgspec.structs.replace(asked.command, sent_ns=time.perf_counter_ns()))
        else:
            self._engine.send(msgspec.structs.replace(asked.command, main_memory=self._memory()))

    def _send(self, question: Question, model: ModelRef | None) -> None:
        """Send a question to the engine, with the template that people chose for the model."""
        self._open[question.request] = question
        starts = time.perf_counter_ns() - question.saved_ns
        self.sent.emit(question.request, starts)
        self._engine.send(
            Generate(
                request=question.request,
                prompt=self._with_template(question.prompt, model),
                settings=question.settings,
                sent_ns=starts,
                record=question.record,
                when_full=question.when_full,
                first_token=question.first_token,
                tokens_per_s=question.tokens_per_s,
                forced=question.forced,
                kept=self._state_place(question.conversation, model),
            )
        )

    def _send_lanes(self, question: LanesQuestion, model: ModelRef | None) -> None:
        self._open[question.request] = question
        self._ended.clear()
        self._engine.send(
            Compare(
                request=question.request,
                prompt=self._with_template(question.prompt, model),
                lanes=question.lanes,
                sent_ns=time.perf_counter_ns(),
                record=question.record,
                when_full=question.when_full,
                main_memory=self._memory(),
            )
        )
        for stop in [each for each in self._stopped if each.request == question.request]:
            self._stopped.remove(stop)
            self._engine.send(stop)

    def _with_template(self, prompt: Prompt, model: ModelRef | None) -> Prompt:
        """Return a chat with the template that people chose for the model."""
        if not isinstance(prompt, ChatPrompt) or prompt.template is not None:
            return prompt
        return msgspec.structs.replace(prompt, template=self._templates.for_model(model))

    def stop_lane(self, request: int, lane: int) -> None:
        """End one lane of a comparison, at once or as soon as the engine has it."""
        if request in self._open:
            self._engine.send(StopLane(request, lane))
        elif request in self._waiting:
            self._stopped.append(StopLane(request, lane))

    def cancel(self, request: int) -> None:
        """End a question in whatever phase it is."""
        if (waiting := self._waiting.pop(request, None)) is not None:
            self._tell_failed(waiting, "cancelled", STOPPED)
        elif request in self._open:
            self._engine.send(Cancel(request))

    def cancel_open(self) -> None:
        """End every question that the engine has."""
        for request in self._open:
            self._engine.send(Cancel(request))

    def change_settings(self, settings: SamplingSettings, request: int | None = None) -> None:
        """Use other settings for an answer, from its next token on; None is every question."""
        for waiting in tuple(self._waiting.values()):
            if request in (None, waiting.request) and isinstance(waiting, Question):
                self._waiting[waiting.request] = msgspec.structs.replace(waiting, settings=settings)
        for opened in self._open.values():
            if request in (None, opened.request) and isinstance(opened, Question):
                self._engine.send(ChangeSettings(opened.request, settings))

    def set_pace(self, request: int, tokens_per_s: float | None) -> None:
        """Write an answer at another pace, as `SetPace` says it; one that has that pace is told nothing."""
        for asked in (self._waiting, self._open):
            question = asked.get(request)
            if isinstance(question, Question) and question.tokens_per_s != tokens_per_s:
                asked[request] = msgspec.structs.replace(question, tokens_per_s=tokens_per_s)
                if asked is self._open:
                    self._engine.send(SetPace(request, tokens_per_s))

    def step_on(self, request: int, place: int, token: int | None = None) -> None:
        """Let an answer that is held before its token `place` go on by that one: by this token, or by a draw."""
        if request in self._open:
            self._engine.send(StepOn(request, token, place))

    def take(self, event: QuestionEvent) -> bool:
        """Take in what was said of a question; False when it is nobody's."""
        question = self._open.get(event.request)
        if question is None:
            return False
        if isinstance(event, LaneFinished):
            self._ended.add(event.lane)
        if isinstance(event, ENDS):
            del self._open[event.request]
        self._tell(question, event)
        return True

    def _tell(self, question: Asked, event: QuestionEvent) -> None:
        """Hand on what belongs to a kind of question; of anything else nothing is known."""
        match question, event:
            case Question(), Finished():
                self.told.emit(_with_saving(event, question.saved_ns))
            case Question(), PromptReady() | PrefillProgress() | Tokens() | Step() | Held() | Failed():
                self.told.emit(event)
            case Replay(), PromptReady() | PrefillProgress() | Tokens() | Reproduced() | Failed():
                self.replayed.emit(event)
            case LanesQuestion(), (
                PromptReady()
                | PrefillProgress()
                | LanesPlanned()
                | LaneTokens()
                | LaneFinished()
                | Compared()
                | Failed()
            ):
                self.lanes_told.emit(event)
            case Scoring(), ScoreProgress() | PromptScored() | AttentionProgress() | AttentionRead() | Failed():
                self.scored.emit(event)
            case Scoring(), OperationsProgress() | OperationsTimed() | BandwidthMeasured():
                self.scored.emit(event)
            case _:
                pass

    def fail_waiting(self, kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()) -> None:
        """End every question that waits for a model that does not come."""
        waiting, self._waiting = self._waiting, {}
        for question in waiting.values():
            self._tell_failed(question, kind, sentence, details)

    def fail_open(
        self,
        kind: FailureKind,
        sentence: Sentence,
        details: tuple[str, ...] = (),
        requests: Iterable[int] | None = None,
    ) -> None:
        """End these questions, or all that the engine had."""
        for request in tuple(self._open if requests is None else requests):
            if (opened := self._open.pop(request, None)) is not None:
                self._tell_failed(opened, kind, sentence, details)

    def _tell_failed(
        self, question: Asked, kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()
    ) -> None:
        self._tell(question, Failed(question.request, kind, sentence, details))


def _with_saving(event: Finished, saved_ns: int) -> Finished:
    """Tell the time that saving took apart: the engine counts it as waiting."""
    saved = saved_ns / 1e6
    parts = event.metrics.ttft_parts_ms
    parts = msgspec.structs.replace(parts, save=saved, queue=max(parts.queue - saved, 0.0))
    return msgspec.structs.replace(event, metrics=msgspec.structs.replace(event.metrics, ttft_parts_ms=parts))


STOPPED = translate("EngineSession", "Stopped before the model began to answer.")
_OTHER_MODEL = translate(
    "EngineSession", "Another model was loaded meanwhile, and only the one that wrote it can tell."
)
