"""Which models the command `plan` means by a word, each read from its headers: files, folders, or a repository of a hub.

Waits for disk and network. Must not know what is planned with them.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.hub_model import HubModel, ServerFailed, hub_reference
from app.core.ports import HubPort
from app.core.words import Sentence, translate
from app.planner.planned_model import PlannedModel, planned_model
from app.services.model_check import model_name
from app.services.models import Models
from app.services.planning_models import read_planned
from app.system.model_files import SUFFIX, readable, shown
from app.system.model_search import find_models

NEAR = 0.5
Told = Callable[[str, int, int], None]
"""Hears which model is read, and which one it is of how many."""


class ReadModel(msgspec.Struct, frozen=True):
    """A model that was read, or what is wrong with it."""

    path: str
    name: str
    model: PlannedModel | None = None
    size: int | None = None
    problem: Sentence | None = None
    is_local: bool = False
    exit_code: ExitCode = ExitCode.MODEL_UNUSABLE
    """What a command ends with that is about this model alone."""


def find_planned(word: str, models: Models, hub: HubPort, told: Told) -> tuple[ReadModel, ...]:
    """Return the models that are meant, at least one; raises the sentence that says why there is none."""
    if not word.strip():
        raise UserError(
            translate("Planner", "No model is named: name a .gguf file, a folder, or org/repo:file."),
            ExitCode.WRONG_USE,
        )
    reference = hub_reference(word)
    if os.path.isdir(word):  # noqa: PTH112  Path.is_dir raises for some names
        return tuple(_read_all(Path(word), told))
    if os.path.lexists(word):  # a link that leads nowhere is told by its file
        told(word, 1, 1)
        return (_read(Path(word)),)
    if known := _of_library(word, models):
        return tuple(_told(path, number, len(known), told) for number, path in enumerate(known, start=1))
    near = _near(word, models)
    if reference is None or near is not None:
        raise _missing(word, near)
    found = hub.models(reference)
    return tuple(_read_remote(model, hub, number, len(found), told) for number, model in enumerate(found, start=1))


def _read_all(folder: Path, told: Told) -> Iterator[ReadModel]:
    paths = find_models([folder])
    if not paths:
        raise UserError(
            translate(
                "Planner",
                "There is no model in {folder}: name a .gguf file, or a folder that holds one.",
                folder=readable(folder),
            ),
            ExitCode.WRONG_USE,
        )
    for number, path in enumerate(paths, start=1):
        yield _told(path, number, len(paths), told)


def _of_library(word: str, models: Models) -> list[Path]:
    """Return the files of the program's folders that are called so, as lists print them, in any case and spacing.

    A name alone means all its quantisations; where a file has the name, that one.
    """
    wanted = _letters(word)
    if not wanted or "/" in word or "\\" in word:
        return []
    paths = find_models(models.folders)
    called = [path for path in paths if wanted in (_letters(path.name), _letters(path.stem))]
    return called or [Path(found.path) for found in models.list_now() if _letters(found.name) == wanted]


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _told(path: Path, number: int, count: int, told: Told) -> ReadModel:
    told(path.name, number, count)
    return _read(path)


def _read(path: Path) -> ReadModel:
    try:
        model = read_planned(path)
    except UserError as error:
        return ReadModel(
            shown(path), shown(path.stem), problem=error.sentence, is_local=True, exit_code=error.exit_code
        )
    return ReadModel(str(path), model.name, model, model.file_bytes, is_local=True)


def _read_remote(found: HubModel, hub: HubPort, number: int, count: int, told: Told) -> ReadModel:
    told(found.path, number, count)
    path = Path(found.path)
    try:
        model = planned_model(hub.headers(found), found.size)
    except ServerFailed:
        raise  # the others would wait for the same
    except UserError as error:
        return ReadModel(found.path, path.stem, size=found.size, problem=error.sentence, exit_code=error.exit_code)
    return ReadModel(found.path, model_name(path, model.name, model.quantisation), model, found.size)


def _near(word: str, models: Models) -> Path | None:
    """Return the file beside the one that was named, or in the folders of the program, whose name is nearest."""
    wanted = Path(word)
    known = {path.name.lower(): path for path in find_models(models.folders)}
    try:
        beside = {each.name.lower(): each for each in wanted.parent.iterdir() if each.suffix.lower() == SUFFIX}
    except (OSError, ValueError):
        beside = {}  # where it should be is no folder
    if hub_reference(word) is not None:
        known = {}  # what is named like a repository is one, unless such a folder holds the like
    names = {**known, **beside}
    name = wanted.name.lower()
    near = difflib.get_close_matches(name, names, n=1, cutoff=NEAR)
    near = near or [each for each in names if name and each.startswith(name.removesuffix(SUFFIX))][:1]
    return names[near[0]] if near else None


def _missing(word: str, near: Path | None) -> UserError:
    if near is not None:
        return UserError(
            translate(
                "Planner",
                "There is no model at {path} (did you mean {near}?): name a .gguf file, a folder, or org/repo:file.",
                path=readable(word),
                near=readable(near),
            ),
            ExitCode.WRONG_USE,
        )
    return UserError(
        translate(
            "Planner",
            "There is no model at {path}: name a .gguf file, a folder, or org/repo:file.",
            path=readable(word),
        ),
        ExitCode.WRONG_USE,
    )
