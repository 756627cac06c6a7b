"""What one cell of a cache takes, and what decoding reads of the past, by what the planner works out of a whole model."""

from __future__ import annotations

from app.planner.cache_formula import cache_by_layer, cells_of
from app.planner.model_work import split_work
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel


def cell_bytes(model: PlannedModel, options: PlanOptions) -> int | None:
    """Return the bytes that one more token takes once all windows are full; None where unknown."""
    layers = cache_by_layer(model, options)
    if layers is None:
        return None
    cells = cells_of(model, options)
    kept = sum(each.kv for layer, each in zip(model.cache, layers, strict=True) if not layer.is_window)
    return kept // (cells.full * cells.streams)


def read_bytes(model: PlannedModel, options: PlanOptions, tokens: int) -> float | None:
    """Return the bytes of the past that decoding one token reads after so many of one sequence; None where unknown."""
    work = split_work(model, options)
    return None if work is None else work.on_gpu.cache_bytes(tokens)
