"""The engine as a state machine: which model is wanted, what is loaded, what is running, what became of it.

Asks the engine through its port and never waits; every request ends in exactly one `Finished` or `Failed`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from app.core.chat import ChatPrompt, Prompt
from app.core.commands import Cancel, ChangeSettings, Generate, Load
from app.core.events import (
    EngineGone,
    Event,
    Failed,
    FailureKind,
    Finished,
    Loaded,
    LoadProgress,
    ModelChecked,
    PrefillProgress,
    PromptReady,
    Step,
    Tokens,
)
from app.core.model import FoundModel, LoadOptions, ModelInfo, ModelRef
from app.core.ports import EnginePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.model_check import model_name
from app.services.notices import Notice, Notices
from app.services.templates import Templates
from app.system.hardware import decode_threads, usable_cores
from app.system.jobs import Jobs
from app.system.model_files import shown
from app.system.settings_file import SettingsFile

Phase = Literal["no_model", "starting", "loading", "ready", "busy", "gone"]
CheckModel = Callable[[Path], tuple[FoundModel, ModelRef | None]]
"""Looks at a file before it is loaded; runs on a job thread."""
AnswerEvent = PromptReady | PrefillProgress | Tokens | Step | Finished | Failed


class Wish(msgspec.Struct, frozen=True):
    """A model that somebody wants to use, and how it should differ from what is remembered of it."""

    path: Path
    changes: Mapping[str, object] = {}
    """Fields of `LoadOptions` that were asked for."""
    remember: bool = True
    """Whether a load that works is remembered for the next time."""


class Question(msgspec.Struct, frozen=True):
    """A prompt that waits for its model or is being answered."""

    request: int
    prompt: Prompt
    settings: SamplingSettings
    record: bool = True


class _Loading(msgspec.Struct, frozen=True):
    request: int
    wish: Wish
    ref: ModelRef
    options: LoadOptions


class EngineSession:
    """One engine, one wanted model, one question at a time; the last wish wins."""

    def __init__(
        self,
        engine: EnginePort,
        jobs: Jobs,
        settings: SettingsFile,
        templates: Templates,
        notices: Notices,
        check: CheckModel,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The phase, the model or the progress of a load is another one."""
        self.load_told: Signal[LoadProgress | Loaded | Failed] = Signal()
        """What the engine says of the load that is wanted."""
        self.answer_told: Signal[AnswerEvent] = Signal()
        """What the engine says of an open question; `Finished` or `Failed` is the last of it."""
        self.sent: Signal[int, int] = Signal()
        """A question went to a loaded model: its request and the time (`perf_counter_ns`)."""
        self._engine = engine
        self._jobs = jobs
        self._settings = settings
        self._templates = templates
        self._notices = notices
        self._check_model = check
        self._wish: Wish | None = None
        self._check: int | None = None
        self._loading: _Loading | None = None
        self._names: dict[Path, str] = {}
        self._percent = 0.0
        self._loaded: tuple[ModelInfo, ModelRef] | None = None
        self._held: Wish | None = None
        self._waiting: Question | None = None
        self._open: dict[int, Question] = {}
        self._gone = False

    @property
    def phase(self) -> Phase:
        """What the engine is doing."""
        if self._check is not None:
            return "starting"
        if self._loading is not None:
            return "loading"
        if self._gone:
            return "gone"
        if self._open:
            return "busy"
        return "ready" if self._loaded else "no_model"

    @property
    def percent(self) -> float:
        """How much of the model is loaded, while it is being loaded."""
        return self._percent

    @property
    def model(self) -> ModelInfo | None:
        """The model in the engine."""
        return self._loaded[0] if self._loaded else None

    @property
    def identity(self) -> str | None:
        """What options of the model in the engine are remembered under."""
        return self._loaded[1].identity if self._loaded else None

    @property
    def name(self) -> str | None:
        """What to call the model that is wanted or loaded."""
        wish = self._wish if self._check is not None or self._held is None else self._held
        return self._names.get(wish.path, model_name(wish.path, None, None)) if wish else None

    def use(self, wish: Wish) -> None:
        """Check and load a model; whatever is being loaded gives way as soon as the file proves usable."""
        path = Path(os.path.expanduser(wish.path)).absolute()  # noqa: PTH111  Path.expanduser raises for ~nobody
        wish = msgspec.structs.replace(wish, path=path)
        self._wish = wish
        self._check = request = self._engine.new_request()
        self._jobs.submit(
            "model check",
            lambda: ModelChecked(request, *self._check_model(path)),
            lambda: ModelChecked(request, _unchecked(path), None),
        )
        self.changed.emit()

    def restart(self) -> None:
        """Load the wanted model again, in a fresh engine if the old one is gone."""
        if self._wish is not None:
            self.use(self._wish)

    def unload(self) -> None:
        """End the engine process, so that all of its memory is back; the next question starts it again."""
        self._check = self._loading = self._loaded = None
        self._engine.unload()
        self._fail_open(list(self._open), "cancelled", _UNLOADED)
        self._fail_waiting("cancelled", _UNLOADED)
        self.changed.emit()

    def new_request(self) -> int:
        """Return a number for a question."""
        return self._engine.new_request()

    def ask(self, question: Question) -> None:
        """Answer a question as soon as its model is loaded."""
        if self._loaded and self._check is None and self._loading is None:
            self._send(question)
            return
        if self._wish is None:
            self.answer_told.emit(Failed(question.request, "model", _NO_MODEL))
            return
        self._waiting = question
        if self._check is None and self._loading is None:
            self.restart()

    def cancel(self, request: int) -> None:
        """End a question in whatever phase it is."""
        if self._waiting is not None and self._waiting.request == request:
            self._waiting = None
            self.answer_told.emit(Failed(request, "cancelled", _STOPPED))
        elif request in self._open:
            self._engine.send(Cancel(request))

    def cancel_load(self) -> None:
        """Stop checking or loading; a model that gave way to a load is gone already."""
        if self._loading is not None:
            self._engine.send(Cancel(self._loading.request))
            self._wish = self._loading.wish
        elif self._check is not None:
            self._wish = self._held
            self._fail_waiting("cancelled", _STOPPED)
        self._check = None
        self.changed.emit()

    def change_settings(self, settings: SamplingSettings) -> None:
        """Use other sampling settings for the answer that is being written, from its next token on."""
        if self._waiting is not None:
            self._waiting = msgspec.structs.replace(self._waiting, settings=settings)
        for request in self._open:
            self._engine.send(ChangeSettings(request, settings))

    def take(self, event: Event) -> None:
        """Take in what the engine or a check said; what belongs to nobody any more is ignored."""
        match event:
            case ModelChecked():
                self._take_check(event)
            case LoadProgress(request=request) if self._is_loading(request):
                self._percent = event.percent
                self.load_told.emit(event)
                self.changed.emit()
            case Loaded(request=request) if self._is_loading(request):
                self._take_loaded(event)
            case Failed(request=request) if self._is_loading(request):
                self._loading = None
                self._fail_load(event)
            case PromptReady() | PrefillProgress() | Tokens() | Step() if event.request in self._open:
                self.answer_told.emit(event)
            case Finished() | Failed() if event.request in self._open:
                del self._open[event.request]
                self.answer_told.emit(event)
                self.changed.emit()
            case EngineGone():
                self._take_gone(event)
            case _:
                pass

    def _is_loading(self, request: int) -> bool:
        return self._loading is not None and self._loading.request == request

    def _take_check(self, event: ModelChecked) -> None:
        if event.request != self._check or self._wish is None:
            return
        self._check = None
        self._names[self._wish.path] = event.file.name
        if event.file.problem is not None or event.ref is None:
            self._wish = self._loading.wish if self._loading else self._held
            self._fail_load(Failed(event.request, "model", event.file.problem or _NO_MODEL))
            return
        remembered = self._settings.model(event.ref.identity).options or LoadOptions()
        options = msgspec.structs.replace(remembered, **self._wish.changes)
        for request in self._open:
            self._engine.send(Cancel(request))
        if self._loading is not None:
            self._engine.send(Cancel(self._loading.request))
        self._loading = _Loading(event.request, self._wish, event.ref, options)
        self._loaded = self._held = None
        self._gone = False
        self._percent = 0.0
        threads = max(1, min(options.threads or decode_threads(), usable_cores()))
        self._engine.send(
            Load(event.request, str(self._wish.path), msgspec.structs.replace(options, threads=threads))
        )
        self.changed.emit()

    def _take_loaded(self, event: Loaded) -> None:
        loading, self._loading = self._loading, None
        if loading is None:
            return
        self._loaded = (event.model, loading.ref)
        self._held = loading.wish
        if loading.wish.remember:
            remembered = self._settings.model(loading.ref.identity)
            remembered = msgspec.structs.replace(remembered, name=event.model.name, options=loading.options)
            self._settings.remember_model(loading.ref.identity, remembered)
            self._settings.change(last_model=str(loading.wish.path))
        self.load_told.emit(event)
        self.changed.emit()
        if self._waiting is not None and self._check is None:
            question, self._waiting = self._waiting, None
            self._send(question)

    def _fail_load(self, event: Failed) -> None:
        if event.kind != "cancelled":
            self._notices.post(Notice(event.sentence, remedy="open_model", details=event.details))
        self.load_told.emit(event)
        if self._loading is None:
            self._fail_waiting(event.kind, event.sentence, event.details)
        self.changed.emit()

    def _take_gone(self, event: EngineGone) -> None:
        if self._loading is not None and self._loading.request not in event.requests:
            # An earlier process ended; the load is with its successor.
            self._fail_open(event.requests, "engine", event.sentence, event.details)
            return
        self._gone = True
        self._loading = self._loaded = None
        if self._check is None:
            self._notices.post(Notice(event.sentence, remedy="restart_engine", details=event.details))
            self._fail_waiting("engine", event.sentence, event.details)
        self._fail_open(list(self._open), "engine", event.sentence, event.details)
        self.changed.emit()

    def _send(self, question: Question) -> None:
        self._open[question.request] = question
        prompt = question.prompt
        if isinstance(prompt, ChatPrompt) and prompt.template is None:
            prompt = msgspec.structs.replace(prompt, template=self._templates.for_model(self.identity))
        now = time.perf_counter_ns()
        self.sent.emit(question.request, now)
        self._engine.send(Generate(question.request, prompt, question.settings, now, question.record))
        self.changed.emit()

    def _fail_waiting(self, kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self.answer_told.emit(Failed(waiting.request, kind, sentence, details))

    def _fail_open(
        self, requests: Iterable[int], kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()
    ) -> None:
        for request in requests:
            if self._open.pop(request, None) is not None:
                self.answer_told.emit(Failed(request, kind, sentence, details))


def _unchecked(path: Path) -> FoundModel:
    problem = translate(
        "EngineSession",
        "Looking at {path} failed in a way that nobody expected; the log has the details. Choose another file.",
        path=shown(path),
    )
    return FoundModel(str(path), 0, path.stem, problem=problem)


_NO_MODEL = translate("EngineSession", "No model is open: open a .gguf file first.")
_STOPPED = translate("EngineSession", "Stopped before the model began to answer.")
_UNLOADED = translate("EngineSession", "The model was unloaded before it could answer.")
