"""The model of a preset: whether it is loaded, where its file is now, and when it can be loaded.

An answer that is being written is never ended for it: the load waits for that.
"""

from __future__ import annotations

import os
from pathlib import Path

from app.core.chat_preset import PresetModel
from app.core.job_events import PresetModelFound
from app.core.signal import Signal
from app.services.engine_session import EngineSession
from app.services.models import Models
from app.services.questions import ENDS, AnswerEvent, LanesEvent, ReplayEvent, ScoringEvent
from app.services.wishes import Wish, moved
from app.system.jobs import Jobs


class PresetModels:
    """One such model is wanted at a time; whatever model people choose meanwhile goes before it."""

    def __init__(self, session: EngineSession, models: Models, jobs: Jobs) -> None:
        self.missing: Signal[PresetModel] = Signal()
        """The file of the model that is wanted is gone."""
        self._session = session
        self._models = models
        self._jobs = jobs
        self._number = 0
        self._wanted: PresetModel | None = None
        self._waiting: Wish | None = None
        """What is loaded once the answer is written."""
        self._gives_way = False
        """Whether a load that begins, or a model that goes, is somebody's choice after this one."""
        session.answer_told.connect(self._take_answer)
        session.replayed.connect(self._take_answer)
        session.lanes_told.connect(self._take_answer)
        session.scored.connect(self._take_answer)
        session.changed.connect(self._take_change)

    @property
    def loaded(self) -> PresetModel | None:
        """The model that is loaded now, as a preset keeps it."""
        model, ref = self._session.model, self._session.ref
        if model is None or ref is None:
            return None
        return PresetModel(self._session.name or model.name, model.path, ref.identity)

    @property
    def wished(self) -> Wish | None:
        """What is loaded next, or is being loaded; None where that is the model that is loaded now."""
        return None if self._session.phase in ("ready", "busy") else self._session.wish

    @property
    def waits(self) -> bool:
        """Whether something is being written or read that a model has to wait for."""
        return self._session.phase == "busy"

    def want(self, model: PresetModel) -> bool:
        """Have a model loaded in the usual way; False where it is loaded already."""
        self.drop()
        if self._is_loaded(model):
            return False
        self._wanted, number = model, self._number
        self._gives_way = self._session.phase in ("ready", "busy")
        entry = self._models.entry_of(model.path, model.ref)
        path = entry.path if entry is not None and entry.problem is None else model.path
        self._jobs.submit(
            "the model of a preset",
            lambda: PresetModelFound(number, path, os.path.isfile(path)),  # noqa: PTH113  Path.is_file raises for some names
            lambda: PresetModelFound(number, path, False),
        )
        return True

    def go_back(self, wish: Wish) -> None:
        """Have loaded what was wished for earlier, unless that is what is loaded next."""
        self.drop()
        if wish != self._session.wish:
            self._load_in_turn(wish)

    def drop(self) -> None:
        """Want no model any more."""
        self._number += 1
        self._wanted = self._waiting = None
        self._gives_way = False

    def follow(self, old: frozenset[str], new: str) -> None:
        """Want a model where its file is now; one without a file any more is looked for as before."""
        waiting, wanted = self._waiting, self._wanted
        if waiting is not None and new:
            self._waiting = moved(waiting, old, new)
        if wanted is None or wanted.moved(old, new) == wanted:
            return
        if waiting is None:
            self.want(wanted.moved(old, new))  # where it was looked for, it is no longer
        else:
            self._wanted = wanted.moved(old, new)

    def take(self, event: PresetModelFound) -> None:
        """Take in whether the file is there."""
        wanted = self._wanted
        if event.number != self._number or wanted is None:
            return
        if not event.is_there:
            self.drop()
            self.missing.emit(wanted)
        else:
            self._load_in_turn(Wish(Path(event.path)))

    def _is_loaded(self, model: PresetModel) -> bool:
        loaded = self.loaded if self._session.phase in ("ready", "busy") else None
        return loaded is not None and bool(model.identity) and loaded.identity == model.identity

    def _load_in_turn(self, wish: Wish) -> None:
        if self.waits:
            self._waiting, self._gives_way = wish, True
        else:
            self._load(wish)

    def _load(self, wish: Wish) -> None:
        self.drop()
        self._session.use(wish)

    def _take_answer(self, event: AnswerEvent | ReplayEvent | LanesEvent | ScoringEvent) -> None:
        """Load what waits before the next question is sent: that is one for the new model."""
        if self._waiting is None or not isinstance(event, ENDS) or self.waits:
            return
        if self._session.phase == "no_model":
            self.drop()  # the answer ended because somebody wants the memory back
        else:
            self._load(self._waiting)

    def _take_change(self) -> None:
        """Give way to a model that somebody chose meanwhile, and to the wish for none."""
        if self._gives_way and self._session.phase in ("starting", "loading", "no_model"):
            self.drop()
