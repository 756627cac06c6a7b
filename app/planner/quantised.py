"""A model as it would be with another quantisation: an estimate by bits per weight, where that file is not at hand."""

from __future__ import annotations

from msgspec.structs import replace

from app.planner.levers import BITS_PER_WEIGHT
from app.planner.model_parts import LayerWeights, PlannedWeights
from app.planner.planned_model import PlannedModel

ALL_BITS: dict[str, float] = {"F16": 16.0, **BITS_PER_WEIGHT}
"""Bits per weight by the name of a quantisation, most first."""


def quantised(model: PlannedModel, name: str) -> PlannedModel | None:
    """Return a model with all weights at the bits of a quantisation; None where its sizes, or that name, are unknown.

    The numbers stay: what the cache takes does not depend on it. Real files differ by some per cent.
    """
    bits, weights = ALL_BITS.get(name), model.weights
    if bits is None or weights is None or not model.parameters or weights.total <= 0:
        return None
    return _as(model, weights, bits * model.parameters / 8 / weights.total, name)


def of_size(model: PlannedModel, name: str, size: int) -> PlannedModel | None:
    """Return a model as it is in another file of it, of which no more than its size is known; None where that is."""
    weights = model.weights
    if weights is None or weights.total <= 0 or not model.file_bytes or size <= 0:
        return None
    return _as(model, weights, size / model.file_bytes, name)


def _as(model: PlannedModel, weights: PlannedWeights, share: float, name: str) -> PlannedModel:
    scaled = _scaled(weights, share)
    return replace(model, quantisation=name, weights=scaled, file_bytes=scaled.total)


def _scaled(weights: PlannedWeights, share: float) -> PlannedWeights:
    return replace(
        weights,
        embedding=round(weights.embedding * share),
        output=round(weights.output * share),
        host=round(weights.host * share),
        rest=round(weights.rest * share),
        layers=tuple(
            LayerWeights(
                round(layer.dense * share),
                round(layer.experts * share),
                round(layer.largest_dense * share),
                round(layer.largest_expert * share),
            )
            for layer in weights.layers
        ),
    )
