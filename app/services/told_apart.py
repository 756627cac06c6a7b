"""Names of models of which no two that are the same to read are called alike. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from app.core.printable import printable
from app.services.file_names import short_path
from app.services.hub_models import is_hub_path, named
from app.services.plan_values import OfferedModel


def told_apart(models: Sequence[OfferedModel]) -> tuple[OfferedModel, ...]:
    """Return models with where they are behind their names, where another one of that name has the same quantisation.

    One that lies on this machine while its like does not keeps its name; two in folders of one name have their paths.
    """
    alike = Counter(map(_seen, models))
    here = Counter(_seen(model) for model in models if not is_hub_path(model.path))
    doubtful = [model for model in models if (alike if is_hub_path(model.path) else here)[_seen(model)] > 1]
    once = {model.path: f"{model.name} · {_place(model.path)}" for model in doubtful}
    still = Counter((name, model.quantisation) for model in doubtful if (name := once[model.path]))
    named_so = {
        model.path: once[model.path]
        if still[once[model.path], model.quantisation] == 1
        else f"{model.name} · {short_path(Path(model.path))}"
        for model in doubtful
    }
    return tuple(replace(model, name=named_so.get(model.path, model.name)) for model in models)


def _seen(model: OfferedModel) -> tuple[str, str | None]:
    return model.name, model.quantisation


def _place(path: str) -> str:
    return named(path) if is_hub_path(path) else printable(Path(path).parent.name)
