"""The questions that wait and the one that the engine has; each ends in exactly one `Finished` or `Failed`.

An answer that is written once more, to be compared, takes its turn among them and ends in `Reproduced` or `Failed`; it
is told apart, so that nobody takes it for an answer. A question's clock starts when it goes to the engine, not while
another one is answered. Knows no model and no file; when a question may go is the session's to say.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from app.core.chat import ChatPrompt
from app.core.commands import Cancel, ChangeSettings, Generate, Reproduce
from app.core.events import Failed, FailureKind, Finished, PrefillProgress, PromptReady, Reproduced, Step, Tokens
from app.core.model import ModelRef
from app.core.ports import EnginePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.templates import Templates
from app.services.wishes import Question

AnswerEvent = PromptReady | PrefillProgress | Tokens | Step | Finished | Failed
ReplayEvent = PromptReady | PrefillProgress | Tokens | Reproduced | Failed


class Unkept(Question, frozen=True):
    """A question that is not kept yet: it has its place among the others, and goes once it is kept."""

    def kept(self, settings: SamplingSettings, saved_ns: int) -> Question:
        """Return the question as it goes to the engine, with the settings of now and the time that keeping it took."""
        return Question(**{**msgspec.structs.asdict(self), "settings": settings, "saved_ns": saved_ns})


class Replay(msgspec.Struct, frozen=True):
    """An answer that is to be written once more, and the model that wrote it: no other one can."""

    command: Reproduce
    model: ModelRef

    @property
    def request(self) -> int:
        """The number of its request."""
        return self.command.request

    def belongs_to(self, model: ModelRef | None) -> bool:
        """Whether a model is the one that wrote it."""
        return model is not None and model.identity == self.model.identity


class Questions:
    """Sends questions and hands on what the engine says of them."""

    def __init__(self, engine: EnginePort, templates: Templates) -> None:
        self.told: Signal[AnswerEvent] = Signal()
        """What the engine says of an open question; `Finished` or `Failed` is the last of it."""
        self.replayed: Signal[ReplayEvent] = Signal()
        """What the engine says of an answer that it writes once more; `Reproduced` or `Failed` is the last of it."""
        self.sent: Signal[int, int] = Signal()
        """A question went to a loaded model: its request and the time that its clock starts at (`perf_counter_ns`)."""
        self._engine = engine
        self._templates = templates
        self._waiting: dict[int, Question | Replay] = {}
        self._open: dict[int, Question | Replay] = {}

    @property
    def are_open(self) -> bool:
        """Whether the engine has a question."""
        return bool(self._open)

    def template_for(self, model: ModelRef | None) -> str | None:
        """Return the chat template that people chose for a model; None takes the model's own."""
        return self._templates.for_model(model)

    def wait(self, question: Question | Replay) -> None:
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
            elif first.belongs_to(model):
                self._replay(first)
            else:
                self._tell_failed(first, "model", _OTHER_MODEL)
                continue
            return True
        return False

    def _replay(self, replay: Replay) -> None:
        self._open[replay.request] = replay
        self._engine.send(msgspec.structs.replace(replay.command, sent_ns=time.perf_counter_ns()))

    def _send(self, question: Question, model: ModelRef | None) -> None:
        """Send a question to the engine, with the template that people chose for the model."""
        self._open[question.request] = question
        prompt = question.prompt
        if isinstance(prompt, ChatPrompt) and prompt.template is None:
            prompt = msgspec.structs.replace(prompt, template=self._templates.for_model(model))
        starts = time.perf_counter_ns() - question.saved_ns
        self.sent.emit(question.request, starts)
        self._engine.send(
            Generate(
                request=question.request,
                prompt=prompt,
                settings=question.settings,
                sent_ns=starts,
                record=question.record,
                when_full=question.when_full,
                first_token=question.first_token,
            )
        )

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

    def take(self, event: AnswerEvent | Reproduced) -> bool:
        """Take in what was said of a question; False when it is nobody's."""
        question = self._open.get(event.request)
        if question is None:
            return False
        if isinstance(event, (Finished, Reproduced, Failed)):
            del self._open[event.request]
        if isinstance(question, Replay):
            if not isinstance(event, (Step, Finished)):
                self.replayed.emit(event)
        elif not isinstance(event, Reproduced):
            self.told.emit(_with_saving(event, question.saved_ns) if isinstance(event, Finished) else event)
        return True

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
        self, question: Question | Replay, kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()
    ) -> None:
        failed = Failed(question.request, kind, sentence, details)
        if isinstance(question, Replay):
            self.replayed.emit(failed)
        else:
            self.told.emit(failed)


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
