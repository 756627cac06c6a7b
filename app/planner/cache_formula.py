"""Bytes of the KV cache and of recurrent states, as llama.cpp lays them out. Pure."""

from __future__ import annotations

import msgspec

from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel


class LayerBytes(msgspec.Struct, frozen=True):
    """What one layer keeps of the past."""

    kv: int = 0
    state: int = 0


def cache_by_layer(model: PlannedModel, options: PlanOptions) -> tuple[LayerBytes, ...] | None:
    """Return the bytes that each layer sets aside at a load; None where the cache is unknown."""
    raise NotImplementedError


def cell_bytes(model: PlannedModel, options: PlanOptions) -> int | None:
    """Return the bytes that one more token takes once all windows are full; None where unknown."""
    raise NotImplementedError


def read_bytes(model: PlannedModel, options: PlanOptions, tokens: int) -> int | None:
    """Return the bytes of the past that decoding one token reads after `tokens` tokens of one sequence.

    A layer with a window reads at most its window; a state is read and written once. None where unknown.
    """
    raise NotImplementedError
