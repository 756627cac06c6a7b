"""What models a repository of the hub holds, as its listing tells, and which of them somebody means."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from app.core.errors import ExitCode, UserError
from app.core.file_name import model_stem
from app.core.gguf_cursor import shown_name
from app.core.hub_files import by_model, goes_along, quantisation_name, quantisation_typed
from app.core.hub_model import HubModel, HubReference
from app.core.words import counted, translate
from app.hub.limits import Limits
from app.hub.tree import files_of
from app.hub.web import Web

MOST_NAMED = 5


def models_of(web: Web, endpoint: str, repository: str, limits: Limits) -> tuple[HubModel, ...]:
    """Return the models of a repository by name, the parts of one together; empty where it holds no GGUF file."""
    files, revision, _ = files_of(web, endpoint, repository, limits)
    groups = (group for group in by_model(files) if not goes_along(group[0].path))
    return tuple(HubModel(repository, group, revision) for group in groups)


def address_of(endpoint: str, repository: str, revision: str, path: str) -> str:
    """Return where a file can be read."""
    return f"{endpoint}/{repository}/resolve/{quote(revision, safe='')}/{quote(path)}"


def chosen(models: Iterable[HubModel], wanted: HubReference) -> tuple[HubModel, ...]:
    """Return the models that somebody means: all, or those whose file, or whose quantisation, was named."""
    models = tuple(models)
    if not models:
        raise UserError(
            translate(
                "Hub",
                "{repository} holds no GGUF file: look for the same model with “GGUF” in its name.",
                repository=wanted.repository,
            )
        )
    if not wanted.file:
        return models
    name = wanted.file.lower()
    exact = [model for model in models if name in (model.path.lower(), _last(model), _last(model)[: -len(".gguf")])]
    kind = quantisation_typed(wanted.file)
    same = [model for model in models if kind and quantisation_name(model.path) == kind]
    found = exact or same or [model for model in models if _is_quantisation(_stem(model), name)]
    if found:
        return tuple(found)
    names = ", ".join(shown_name(model.path) for model in models[:MOST_NAMED])
    said: dict[str, str] = {"repository": wanted.repository, "file": shown_name(wanted.file), "names": names}
    raise UserError(
        counted(
            len(models),
            translate("Hub", "{repository} holds no “{file}”: its only model is {names}.", **said),
            translate(
                "Hub",
                "{repository} holds no “{file}”: name one of its {count} models, such as {names}.",
                count=len(models),
                **said,
            ),
        ),
        ExitCode.WRONG_USE,
    )


def _last(model: HubModel) -> str:
    return model.path.rpartition("/")[2].lower()


def _stem(model: HubModel) -> str:
    return model_stem(_last(model))


def _is_quantisation(stem: str, name: str) -> bool:
    return stem.endswith(name) and (len(stem) == len(name) or stem[-len(name) - 1] in "-._")
