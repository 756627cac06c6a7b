"""What models can be planned: those that were found, and others by their path, each read from the headers of its files.

Reading is a job's work; what was read is kept as long as the file is the same. Those of a hub are read there, and only when
somebody says so (`hub_models`). Must not know what is planned with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.job_events import LanesAnalysed
from app.core.model import FoundModel
from app.core.model_file import check_model_file
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.planner.planned_model import PlannedModel, planned_model
from app.services.file_names import short_name
from app.services.hub_models import HubModels, is_hub_path
from app.services.model_check import model_name
from app.services.models import Models
from app.system.jobs import Jobs
from app.system.model_files import OpenFiles, lost, readable
from app.system.model_search import find_models

JOB = "planned model"
MOST_NAMED = 3
"""Of the models in a folder that holds several, so many are named."""
_Stamp = tuple[int, int]


class PlannedFile(msgspec.Struct, frozen=True):
    """A model of this machine as a plan sees it: either the model or what is wrong with its file."""

    path: str
    model: PlannedModel | None = None
    problem: Sentence | None = None


class PlanningModels:
    """`get` tells what is known of a model, and has read what is not; `changed` follows."""

    def __init__(self, models: Models, hub: HubModels, jobs: Jobs) -> None:
        self.changed: Signal[str] = Signal()
        """More is known of the model of this path; empty where other models were found."""
        self.hub = hub
        """Those that are not on this machine."""
        self._models = models
        self._jobs = jobs
        self._known: dict[str, tuple[_Stamp | None, PlannedFile]] = {}
        self._reading: dict[int, tuple[str, list[tuple[_Stamp | None, PlannedFile]]]] = {}
        """What is read, by the number of the job, and where its result will be."""
        self._paths_read: set[str] = set()
        self._count = 0
        models.changed.connect(lambda: self.changed.emit(""))
        hub.known.connect(self.changed.emit)

    @property
    def found(self) -> tuple[FoundModel, ...]:
        """The models of this machine that can be used, as the last search found them."""
        return tuple(found for found in self._models.found if found.is_usable)

    @property
    def folder(self) -> Path:
        """Where people begin to look for another file."""
        return self._models.folder

    def get(self, path: str) -> PlannedFile | None:
        """Return what was read of a model; None while it is read for the first time."""
        if is_hub_path(path):
            read = self.hub.get(path)
            is_known = read.model is not None or read.problem is not None
            return PlannedFile(path, read.model, read.problem) if is_known else None
        known = self._known.get(path)
        if known is None:
            self.want(path)
        return known[1] if known is not None else None

    def want(self, path: str) -> None:
        """Have a model read, or read anew where its file is another one by now; `changed` follows if there is news."""
        if is_hub_path(path):
            return  # the network is asked when people say so alone
        if path in self._paths_read:
            return
        self._paths_read.add(path)
        self._count += 1
        known, made = self._known.get(path), list[tuple[_Stamp | None, PlannedFile]]()
        ready = LanesAnalysed(self._count, JOB)
        self._reading[self._count] = (path, made)

        def read() -> LanesAnalysed:
            stamp = _stamp(Path(path))
            made.append(known if known is not None and known[0] == stamp else (stamp, _read(path)))
            return ready

        self._jobs.submit(JOB, read, lambda: ready)

    def take(self, event: LanesAnalysed) -> None:
        """Take in what was read."""
        if event.job != JOB or event.request not in self._reading:
            return
        path, made = self._reading.pop(event.request)
        self._paths_read.discard(path)
        told = made[0] if made else (None, PlannedFile(path, problem=_broken(path)))
        if self._known.get(path) != told:
            self._known[path] = told
            self.changed.emit(path)


def read_planned(path: Path) -> PlannedModel:
    """Return a model from the headers of its files; `path` is its file, the first of several, or the folder of one model.

    Raises the sentence that says what is wrong. Takes milliseconds, longer where a vocabulary is large.
    """
    file = _only_model(path) if os.path.isdir(path) else path  # noqa: PTH112  Path.is_dir raises for some names
    try:
        with OpenFiles(file.parent) as files:
            headers = check_model_file(file.name, files.open)
            model = planned_model(headers, files.size)
    except OSError as error:
        raise UserError(lost(file, error)) from error
    return msgspec.structs.replace(model, name=model_name(file, model.name, model.quantisation))


def _read(path: str) -> PlannedFile:
    try:
        return PlannedFile(path, read_planned(Path(path)))
    except UserError as error:
        return PlannedFile(path, problem=error.sentence)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _only_model(folder: Path) -> Path:
    """Return the one model in a folder, or say what to name instead."""
    found = find_models([folder])
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError(
            translate(
                "Planner",
                "There is no model in {folder}: name a .gguf file, or a folder that holds one.",
                folder=readable(folder),
            ),
            ExitCode.WRONG_USE,
        )
    raise UserError(
        translate(
            "Planner",
            "There are {count} models in {folder}: name one of them, such as {names}.",
            count=len(found),
            folder=readable(folder),
            names=_names(found),
        ),
        ExitCode.WRONG_USE,
    )


def _names(found: Iterable[Path]) -> str:
    return ", ".join(short_name(path) for path in list(found)[:MOST_NAMED])


def _broken(path: str) -> Sentence:
    return translate(
        "EngineSession",
        "Looking at “{file}” failed in a way that nobody expected; the log has the details. Choose another file.",
        file=short_name(Path(path)),
    )
