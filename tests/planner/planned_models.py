"""Planned models by name, made of the headers of `tests.sparse_models` once each."""

from __future__ import annotations

from functools import cache

from app.planner.planned_model import PlannedModel, planned_model
from tests.sparse_models import ALL


@cache
def planned(name: str) -> PlannedModel:
    """Return a model of `tests.sparse_models.ALL`."""
    return planned_model([ALL[name]().header()])
