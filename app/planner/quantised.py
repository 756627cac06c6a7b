"""A model as it would be with another quantisation: an estimate, where that file is not at hand."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from app.planner.model_parts import LayerWeights, PlannedWeights
from app.planner.planned_model import PlannedModel

BITS_PER_WEIGHT: dict[str, float] = {
    "Q8_0": 8.5008,
    "Q6_K": 6.5633,
    "Q5_K_M": 5.7036,
    "Q4_K_M": 4.8944,
    "IQ4_XS": 4.4597,
    "Q3_K_M": 3.9960,
    "IQ3_XXS": 3.2548,
    "Q2_K": 3.1593,
    "IQ2_XS": 2.5882,
}
"""Of Llama 3.1 8B (`tools/quantize/README.md` of llama.cpp); other models differ by some per cent."""
ALL_BITS: dict[str, float] = {"F16": 16.0, **BITS_PER_WEIGHT}
"""Bits per weight by the name of a quantisation, most first."""


class OtherFile(NamedTuple):
    """Another file of the same model, of which no more than its size is known."""

    name: str
    """Its quantisation."""
    path: str
    size: int
    """Bytes."""


def quantised(model: PlannedModel, name: str) -> PlannedModel | None:
    """Return a model as a file of a quantisation has it; None where its sizes, or that name, are unknown.

    Each tensor is of the type that llama.cpp gives it, where the header tells of them; else all are at the bits per weight.
    The numbers stay: what the cache takes does not depend on it.
    """
    bits, weights = ALL_BITS.get(name), model.weights
    if bits is None or weights is None or not model.parameters or weights.total <= 0:
        return None
    exact = dict(model.estimates).get(name)
    if exact is None:
        return _as(model, weights, bits * model.parameters / 8 / weights.total, name)
    beside = max(0, (model.file_bytes or weights.total) - weights.total)
    return replace(model, quantisation=name, weights=exact, file_bytes=exact.total + beside)


def share_of(model: PlannedModel, name: str) -> float | None:
    """Return how large the weights would be in a quantisation, beside what they are; None where that is unknown."""
    other = quantised(model, name)
    if other is None or other.weights is None or model.weights is None:
        return None
    return other.weights.total / model.weights.total


def of_size(model: PlannedModel, name: str, size: int) -> PlannedModel | None:
    """Return a model as it is in another file of it, of which no more than its size is known; None where that is."""
    weights = model.weights
    if weights is None or weights.total <= 0 or size <= 0:
        return None
    scaled = _scaled(weights, size / (model.file_bytes or weights.total))
    return replace(model, quantisation=name, weights=scaled, file_bytes=size)


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
