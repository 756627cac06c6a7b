"""The engine as a state machine: which model is wanted, what is loaded, what is running, what became of it.

Asks the engine through its port and never waits; every request ends in exactly one `Finished` or `Failed`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from app.core.attention import AttentionProgress, AttentionRead
from app.core.commands import Cancel, Load
from app.core.events import (
    Compared,
    EngineGone,
    Event,
    Failed,
    Finished,
    Held,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    Loaded,
    LoadProgress,
    MemoryMeasured,
    PrefillProgress,
    PromptReady,
    Step,
    Tokens,
)
from app.core.job_events import ModelChecked
from app.core.model import FoundModel, ModelInfo, ModelRef
from app.core.operations import BandwidthMeasured, OperationsProgress, OperationsTimed
from app.core.ports import EnginePort
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.core.replay_events import Reproduced
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import translate
from app.services.load_check import Checked, LoadCheck
from app.services.load_notices import LoadNotices
from app.services.model_check import model_name
from app.services.notices import Notices
from app.services.questions import STOPPED, Asked, Questions
from app.services.templates import Templates
from app.services.wishes import Loading, StatePlaces, Wish, moved, nowhere
from app.system.hardware import decode_threads, usable_cores
from app.system.settings_file import SettingsFile

Phase = Literal["no_model", "starting", "loading", "ready", "busy", "gone"]


class EngineSession:
    """One engine, one wanted model, one question at a time; the last wish wins."""

    def __init__(
        self,
        engine: EnginePort,
        settings: SettingsFile,
        templates: Templates,
        notices: Notices,
        check: LoadCheck,
        state_place: StatePlaces = nowhere,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The phase, the model or the progress of a load is another one."""
        self.load_told: Signal[LoadProgress | Loaded | Failed] = Signal()
        """What the engine says of the load that is wanted."""
        self._engine = engine
        self._settings = settings
        self._notices = notices
        self._check = check
        self.wish: Wish | None = None
        """The model that is loaded, or is about to be, or that the next question goes to."""
        self.refused: Wish | None = None
        """The wish that was refused last for want of memory, until another one is fulfilled."""
        self._loading: Loading | None = None
        self._names: dict[Path, str] = {}
        self._identities: dict[Path, str] = {}
        self.own_name: Callable[[Path, str], str] = lambda _path, _identity: ""
        """What people call the model of a file, by its identity where that is known; empty where they gave it no name."""
        check.own_name = lambda identity: self.own_name(Path(), identity)
        self.percent = 0.0
        """How much of the model is loaded, while it is being loaded."""
        self._loaded: tuple[ModelInfo, ModelRef] | None = None
        self._held: Wish | None = None
        self._given_up: Wish | None = None
        """The model that gave way to the load: the next question goes to it if the load fails."""
        self._questions = Questions(engine, templates, check.memory, state_place)
        self.answer_told = self._questions.told
        """What the engine says of an open question; `Finished` or `Failed` is the last of it."""
        self.replayed = self._questions.replayed
        """What the engine says of an answer that it writes once more; `Reproduced` or `Failed` is the last of it."""
        self.lanes_told = self._questions.lanes_told
        """What the engine says of the lanes of a comparison; `Compared` or `Failed` is the last of it."""
        self.scored = self._questions.scored
        """What the engine says of a pass over tokens; `PromptScored`, `AttentionRead`, `OperationsTimed` or `Failed` is the last."""
        self.lanes_before = self._questions.lanes_before
        """How many lanes of a comparison are still written before a question begins; 0 where none is."""
        self.opened = self._questions.opened
        """Tells what the engine has; None while that is nothing."""
        self.sent = self._questions.sent
        """A question went to a loaded model: its request and the time that its clock starts at (`perf_counter_ns`)."""
        self.set_pace = self._questions.set_pace
        """Write an answer at another pace from its next token on: its request and the pace."""
        self.step_on = self._questions.step_on
        """Let an answer that is held go on by one token: its request, the token's place, and which one it is."""
        self._told = LoadNotices(notices)
        self._gone = False
        check.passed.connect(self._take_checked)
        check.refused.connect(self._take_refused)

    @property
    def phase(self) -> Phase:
        """What the engine is doing."""
        if self._check.busy:
            return "starting"
        if self._loading is not None:
            return "loading"
        if self._gone:
            return "gone"
        if self._questions.opened() is not None:
            return "busy"
        return "ready" if self._loaded else "no_model"

    @property
    def model(self) -> ModelInfo | None:
        """The model in the engine."""
        return self._loaded[0] if self._loaded else None

    @property
    def ref(self) -> ModelRef | None:
        """Which model is in the engine: what its options are remembered under."""
        return self._loaded[1] if self._loaded else None

    @property
    def template(self) -> str:
        """The chat template in force: what people chose for the model, or its own; empty where there is none."""
        own = self.model.chat_template if self.model is not None else None
        return self._questions.template_for(self.ref) or own or ""

    @property
    def name(self) -> str | None:
        """What to call the model that is wanted or loaded: as people do."""
        wish = self.wish if self._check.busy or self._held is None else self._held
        return self._name_of(wish.path) if wish else None

    def use(self, wish: Wish) -> None:
        """Check and load a model; whatever is being loaded gives way as soon as the file proves usable."""
        path = Path(os.path.expanduser(wish.path)).absolute()  # noqa: PTH111  Path.expanduser raises for ~nobody
        wish = msgspec.structs.replace(wish, path=path)
        self.wish = wish
        self._told.loading()
        self._check.begin(self._engine.new_request(), path, wish.changes, anyway=wish.anyway, present=self.model)
        self.changed.emit()

    def restart(self) -> None:
        """Load the wanted model again, in a fresh engine if the old one is gone."""
        if self.wish is not None:
            self.use(self.wish)

    def unload(self) -> None:
        """End the engine process, so that all of its memory is back; the next question starts it again."""
        if self._check.busy:
            self.wish = self._held or self.wish
        self._check.cancel()
        if self._loaded is not None:
            self._told.unloaded(self._loaded[0], self.name or self._loaded[0].name)
        self._loading = self._loaded = None
        self._engine.unload()
        self._questions.fail_open("cancelled", _UNLOADED)
        self._questions.fail_waiting("cancelled", _UNLOADED)
        self.changed.emit()

    def follow(self, old: frozenset[str], new: str) -> None:
        """Want a model under its new path, or none where its file is gone; one that is loaded is unloaded before."""
        self.wish, self.refused = moved(self.wish, old, new), moved(self.refused, old, new)
        self._held, self._given_up = moved(self._held, old, new), moved(self._given_up, old, new)
        self.changed.emit()

    def new_request(self) -> int:
        """Return a number for a question."""
        return self._engine.new_request()

    def ask(self, question: Asked) -> None:
        """Answer a question, in one lane or several, or do what else takes its turn, as soon as its model is loaded."""
        self._questions.wait(question)
        if self.wish is None:
            self._questions.fail_waiting("model", _NO_MODEL)
        elif self._is_ready:
            self._send_next()
        elif not self._check.busy and self._loading is None:
            self.restart()

    def cancel(self, request: int, lane: int | None = None) -> None:
        """End a question in whatever phase it is, or one of its lanes, while the others go on."""
        if lane is None:
            self._questions.cancel(request)
        else:
            self._questions.stop_lane(request, lane)

    def cancel_load(self) -> None:
        """Stop checking or loading; a model that gave way to a load is gone already."""
        was_checking = self._check.busy
        self._check.cancel()  # first: whoever hears that a question failed sees the phase that is left
        if self._loading is not None:
            self._engine.send(Cancel(self._loading.request))
            self.wish = self._loading.wish
        elif was_checking:
            self.wish = self._held or self.wish
            self._questions.fail_waiting("cancelled", STOPPED)
        self.changed.emit()

    def change_settings(self, settings: SamplingSettings, request: int | None = None) -> None:
        """Use other sampling settings for an answer, from its next token on; None is every question."""
        self._questions.change_settings(settings, request)

    def take(self, event: Event) -> None:
        """Take in what the engine or a check said; what belongs to nobody any more is ignored."""
        match event:
            case ModelChecked() | MemoryMeasured():
                self._check.take(event)
            case LoadProgress(request=request) if self._is_loading(request):
                self.percent = event.percent
                self.load_told.emit(event)
                self.changed.emit()
            case Loaded(request=request) if self._is_loading(request):
                self._take_loaded(event)
            case Failed(request=request) if self._loading is not None and request == self._loading.request:
                path, self._loading = self._loading.wish.path, None
                if event.kind != "cancelled" and self._given_up is not None and not self._check.busy:
                    self.wish = self._given_up
                self._fail_load(event, path)
            case PromptReady() | PrefillProgress() | Tokens() | Step() | Held():
                self._questions.take(event)
            case (
                LanesPlanned()
                | LaneTokens()
                | LaneFinished()
                | ScoreProgress()
                | AttentionProgress()
                | OperationsProgress()
            ):
                self._questions.take(event)
            case (
                Finished()
                | Reproduced()
                | Compared()
                | PromptScored()
                | AttentionRead()
                | OperationsTimed()
                | BandwidthMeasured()
                | Failed()
            ):
                if self._questions.take(event):
                    self._send_next()
                    self.changed.emit()
                elif isinstance(event, Failed):
                    self._check.take(event)
            case EngineGone():
                self._take_gone(event)
            case _:
                pass

    @property
    def _is_ready(self) -> bool:
        return self._loaded is not None and not self._check.busy and self._loading is None

    def _send_next(self) -> None:
        if self._is_ready and self._questions.send_next(self.ref):
            self.changed.emit()

    def _name_of(self, path: Path) -> str:
        own = self.own_name(path, self._identities.get(path, ""))
        return own or self._names.get(path) or model_name(path, None, None)

    def _is_loading(self, request: int) -> bool:
        return self._loading is not None and self._loading.request == request

    def _take_refused(self, failed: Failed, file: FoundModel) -> None:
        if self.wish is None:
            return
        path = self.wish.path
        self._names[path] = file.name
        self.refused = self.wish if failed.kind == "memory" else None
        self.wish = self._loading.wish if self._loading else self._held
        self._fail_load(failed, path)

    def _take_checked(self, checked: Checked) -> None:
        if self.wish is None:
            return
        self._names[self.wish.path], self._identities[self.wish.path] = checked.file.name, checked.ref.identity
        self._questions.cancel_open()
        if self._loading is not None:
            self._engine.send(Cancel(self._loading.request))
        options = checked.options
        self._loading = Loading(checked.request, self.wish, checked.ref, options)
        self._given_up = self._held or self._given_up
        self._loaded = self._held = self.refused = None
        self._gone, self.percent = False, 0.0
        self._notices.settle("open_model")
        threads = max(1, min(options.threads or decode_threads(), usable_cores()))
        options = msgspec.structs.replace(options, threads=threads)
        self._engine.send(Load(checked.request, str(self.wish.path), options))
        self.changed.emit()

    def _take_loaded(self, event: Loaded) -> None:
        loading, self._loading = self._loading, None
        if loading is None:
            return
        self._loaded = (event.model, loading.ref)
        self._held, self._given_up = loading.wish, None
        if loading.wish.remember:
            remembered = self._settings.model(loading.ref.identity)
            remembered = msgspec.structs.replace(remembered, name=event.model.name, options=loading.options)
            self._settings.remember_model(loading.ref.identity, remembered)
            self._settings.change(last_model=str(loading.wish.path))
        self._told.loaded(event.model)
        self.load_told.emit(event)
        self.changed.emit()
        self._notices.settle("restart_engine")
        self._send_next()

    def _fail_load(self, event: Failed, path: Path) -> None:
        if event.kind != "cancelled":
            self._told.failed(event, path, self._name_of(path) if path in self._names else "")
        self.load_told.emit(event)
        if self._loading is None:
            self._questions.fail_waiting(event.kind, event.sentence, event.details)
        self.changed.emit()

    def _take_gone(self, event: EngineGone) -> None:
        if self._loading is not None and self._loading.request not in event.requests:
            # An earlier process ended; the load is with its successor.
            self._questions.fail_open("engine", event.sentence, event.details, event.requests)
            return
        self._gone, self._loading, self._loaded = True, None, None
        if not self._check.busy:
            self._told.gone(event)
            self._questions.fail_waiting("engine", event.sentence, event.details)
        self._questions.fail_open("engine", event.sentence, event.details)
        self.changed.emit()


_NO_MODEL = translate("EngineSession", "No model is open: open a .gguf file first.")
_UNLOADED = translate("EngineSession", "The model was unloaded before it could answer.")
