"""Models of a hub that are planned before they are here: read when somebody says so, one after the other, and kept.

A model of the hub has a path like those on the disk: `hub:org/repo`, or `hub:org/repo:file`. Must not know what is planned.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from app.core.errors import UserError
from app.core.file_name import model_stem
from app.core.gguf_cursor import shown_name
from app.core.hub_files import quantisation_name
from app.core.hub_model import HubModel, HubReference, Offline, hub_reference
from app.core.hub_watch import HubWatch
from app.core.job_events import LanesAnalysed
from app.core.ports import HubPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.planner.planned_model import PlannedModel, planned_model
from app.planner.quantised import OtherFile
from app.services.latest_job import LatestJob
from app.services.model_check import model_name
from app.system.jobs import Jobs

JOB = "hub model"
SCHEME = "hub:"
LOOK_S = 0.2
"""So often it is told how much has come."""
USUAL = ("q4_k_m", "q4_k_s", "q4_0", "q5_k_m", "q8_0")
"""Of a repository the first of these is read; people choose another."""
HubState = Literal["unread", "waiting", "reading", "read", "failed", "cancelled", "offline"]


class HubChoice(msgspec.Struct, frozen=True):
    """A model of a repository: what it is called beside the others, and what it takes on a disk."""

    path: str
    words: str
    """Its quantisation, or its file's name where that tells none."""
    size: int
    file: str = ""
    """Its path in the repository."""


class HubRead(msgspec.Struct, frozen=True):
    """What is known of a model of the hub."""

    path: str
    state: HubState = "unread"
    received: int = 0
    """Bytes that have come."""
    choices: tuple[HubChoice, ...] = ()
    """The models of its repository, once they are listed."""
    chosen: str = ""
    """The path of the one among them that was read; the file is named in it."""
    model: PlannedModel | None = None
    problem: Sentence | None = None
    """Why there is no model, and what to do next; None while it is read."""


class _Found(msgspec.Struct):
    """Where a job puts what it finds."""

    listed: tuple[HubModel, ...] = ()
    chosen: str = ""
    model: PlannedModel | None = None
    problem: Sentence | None = None
    is_offline: bool = False


def other_files(read: HubRead) -> tuple[OtherFile, ...] | None:
    """Return the other files of the model that was read; None where its repository is not listed.

    A repository may hold several models: the names of files of one differ by no more than the quantisation.
    """
    chosen = next((each for each in read.choices if each.file == named(read.chosen).partition(":")[2]), None)
    if chosen is None:
        return None
    return tuple(
        OtherFile(each.words, each.path, each.size)
        for each in read.choices
        if each is not chosen and _of_model(each.file) == _of_model(chosen.file)
    )


def _of_model(file: str) -> str:
    """Return what the name of a file says beside its quantisation."""
    stem = model_stem(file.rpartition("/")[2]).upper().replace("FP16", "F16").replace("FP32", "F32")
    return stem.replace(quantisation_name(file), "").strip("-._").removesuffix("-UD")


def hub_path(typed: str) -> str | None:
    """Return the path of a model of the hub as people type or paste it; None where it has not that form."""
    reference = hub_reference(typed)
    return None if reference is None else path_of(reference)


def path_of(reference: HubReference) -> str:
    """Return the path of what somebody named."""
    return f"{SCHEME}{reference.repository}" + (f":{reference.file}" if reference.file else "")


def is_hub_path(path: str) -> bool:
    """Return whether a path names a model of the hub."""
    return path.startswith(SCHEME)


def named(path: str) -> str:
    """Return how people name a model of the hub: `org/repo`, or `org/repo:file`."""
    return path.removeprefix(SCHEME)


class HubModels:
    """`get` tells what is known; nothing is asked of the hub before `read`."""

    def __init__(self, hub: HubPort, asking: Jobs, jobs: Jobs) -> None:
        """`asking` are the threads that wait for the hub."""
        self.changed: Signal[()] = Signal()
        """Something is in another state, or more has come."""
        self.known: Signal[str] = Signal()
        """Of the model of this path something else is known, or nothing while it is read anew."""
        self._hub = hub
        self._asking = asking
        self._reads: dict[str, HubRead] = {}
        self._listed: dict[str, tuple[HubModel, ...]] = {}
        """By repository."""
        self._waiting: list[str] = []
        self._now: tuple[int, str, HubWatch, _Found] | None = None
        """The job that runs: one at a time, so that each comes as fast as the line is."""
        self._count = 0
        self._look: LatestJob[int] = LatestJob(jobs, "hub progress", self._take_look, after_s=LOOK_S)

    def get(self, path: str) -> HubRead:
        """Return what is known of a model."""
        return self._reads.get(path) or HubRead(path, problem=_unread(path))

    def read(self, path: str) -> None:
        """Have a model read, unless that is so or is under way; what failed is tried again."""
        before = self.get(path)
        if before.state in ("waiting", "reading", "read"):
            return
        self._waiting.append(path)
        self._set(HubRead(path, "waiting", choices=before.choices))
        self._begin()

    def cancel(self, path: str) -> None:
        """Read it no longer."""
        before = self.get(path)
        if before.state not in ("waiting", "reading"):
            return
        self._waiting = [each for each in self._waiting if each != path]
        if self._now is not None and self._now[1] == path:
            self._now[2].cancel()
        self._set(msgspec.structs.replace(before, state="cancelled", problem=_cancelled(path)))

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was read."""
        self._look.take(event)
        if event.job != JOB or self._now is None or event.request != self._now[0]:
            return
        _, path, watch, found = self._now
        self._now = None
        self._look.forget()
        if self.get(path).state == "reading" and not watch.is_cancelled:
            self._set(self._told(path, watch, found))
        self._begin()

    def stop(self) -> None:
        """Read nothing any more."""
        self._waiting.clear()
        if self._now is not None:
            self._now[2].cancel()

    def _begin(self) -> None:
        if self._now is not None or not self._waiting:
            return
        path = self._waiting.pop(0)
        reference = hub_reference(named(path))
        if reference is None:  # kept by another version, or by hand
            self._set(HubRead(path, "failed", problem=_broken(path)))
            self._begin()
            return
        self._count += 1
        hub, watch, found = self._hub, HubWatch(), _Found(self._listed.get(reference.repository, ()))
        self._now = (self._count, path, watch, found)
        ready = LanesAnalysed(self._count, JOB)

        def read() -> LanesAnalysed:
            _read(hub, reference, watch, found)
            return ready

        self._set(msgspec.structs.replace(self.get(path), state="reading"))
        self._asking.submit(JOB, read, lambda: ready)
        self._look.want(lambda: watch.received)

    def _told(self, path: str, watch: HubWatch, found: _Found) -> HubRead:
        repository = named(path).partition(":")[0]
        choices = _choices(repository, found.listed)
        if found.model is not None:
            self._listed[repository] = found.listed
            chosen = found.chosen
            return HubRead(path, "read", watch.received, _with(choices, chosen, path), chosen, found.model)
        self._listed.pop(repository, None)  # another look may find it
        problem = found.problem or _broken(path)
        state: HubState = "offline" if found.is_offline else "failed"
        return HubRead(path, state, watch.received, choices, found.chosen, problem=problem)

    def _take_look(self, received: int | None) -> None:
        if self._now is None:
            return
        _, path, watch, _ = self._now
        before = self.get(path)
        if before.state != "reading":
            return
        if received is not None and received != before.received:
            self._reads[path] = msgspec.structs.replace(before, received=received)
            self.changed.emit()
        self._look.want(lambda: watch.received)

    def _set(self, read: HubRead) -> None:
        before = self.get(read.path)
        self._reads[read.path] = read
        self.changed.emit()
        if (before.model, before.problem) != (read.model, read.problem):
            self.known.emit(read.path)


def _read(hub: HubPort, reference: HubReference, watch: HubWatch, found: _Found) -> None:
    """Find a model and read its headers; waits for the network."""
    try:
        if not found.listed:
            found.listed = hub.models(HubReference(reference.repository), watch)
        models = hub.models(reference, watch) if reference.file and not _exact(found.listed, reference) else ()
        model = _exact(found.listed, reference) or _usual(models or found.listed)
        found.chosen = path_of(HubReference(reference.repository, model.path))
        planned = planned_model(hub.headers(model, watch), model.size)
    except UserError as error:
        found.problem, found.is_offline = error.sentence, isinstance(error, Offline)
        return
    name = model_name(Path(model.path), planned.name, planned.quantisation)
    found.model = msgspec.structs.replace(planned, name=name)


def _exact(listed: tuple[HubModel, ...], reference: HubReference) -> HubModel | None:
    """Return the model whose file is named in full."""
    return next((model for model in listed if model.path == reference.file), None)


def _usual(models: tuple[HubModel, ...]) -> HubModel:
    """Return the model that most would take: of the usual quantisations the first, else the smallest."""
    for name in USUAL:
        for model in models:
            if _words(model).lower().removeprefix("ud-") == name:
                return model
    return min(models, key=lambda model: model.size)


def _choices(repository: str, models: tuple[HubModel, ...]) -> tuple[HubChoice, ...]:
    """Return the models of a repository, the smallest first; two of one quantisation go by their files' names."""
    words = [_words(model) for model in models]
    found = [
        HubChoice(
            path_of(HubReference(repository, model.path)),
            word if words.count(word) == 1 else shown_name(model.path),
            model.size,
            model.path,
        )
        for model, word in zip(models, words, strict=True)
    ]
    return tuple(sorted(found, key=lambda choice: choice.size))


def _with(choices: tuple[HubChoice, ...], chosen: str, path: str) -> tuple[HubChoice, ...]:
    """Let the one that was read go by the path that it was read by: chosen again, it is the same."""
    return tuple(
        msgspec.structs.replace(choice, path=path) if choice.path == chosen else choice for choice in choices
    )


def _words(model: HubModel) -> str:
    name = model.path.rpartition("/")[2]
    return quantisation_name(model.path) or shown_name(model_stem(name))


def _unread(path: str) -> Sentence:
    return translate(
        "HubModels",
        "{name} of the hub was not read since the start: read it to see whether it fits.",
        name=shown_name(named(path)),
    )


def _cancelled(path: str) -> Sentence:
    return translate(
        "HubModels", "Reading {name} was cancelled: read it again to go on.", name=shown_name(named(path))
    )


def _broken(path: str) -> Sentence:
    return translate(
        "HubModels",
        "Reading {name} failed in a way that nobody expected; the log has the details. Choose another model.",
        name=shown_name(named(path)),
    )
