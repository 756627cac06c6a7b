"""A model whose header nobody has read, by the size of its file and its parameters: a guess, on the careful side. Pure.

Of models of one size those differ in layers, heads and tokens; what is taken here is more than most of them need.
"""

from __future__ import annotations

from app.planner.model_parts import LayerCache, LayerWeights, PlannedWeights, Widths
from app.planner.planned_model import PlannedModel

_REFERENCE = 8e9
"""Parameters of the model that the others are measured by: 36 layers, rows of 4,096 numbers, 8 heads of keys of 128."""
_LAYERS, _EMBEDDING, _HEADS, _HEAD_WIDTH = 36, 4096, 8, 128
_LAYERS_GROW, _EMBEDDING_GROWS = 0.37, 0.33
"""Powers of the parameters: a model of 70 billion has 80 layers of 8,192."""
_FEWEST_LAYERS = 28
_SMALL, _SMALL_HEADS = 300_000_000, 4
_VOCABULARY = 160_000
_NETWORK = 3.5
"""How many times as wide as its rows a feed-forward network is."""


def guessed_model(name: str, size: int, parameters: int, trained_context: int | None = None) -> PlannedModel:
    """Return a model of whose file only these are known: its bytes, and its numbers."""
    by = max(1, parameters) / _REFERENCE
    layers = max(_FEWEST_LAYERS, round(_LAYERS * by**_LAYERS_GROW))
    embedding = max(512, round(_EMBEDDING * by**_EMBEDDING_GROWS / 128) * 128)
    heads = _HEADS if parameters >= _SMALL else _SMALL_HEADS
    network = round(embedding * _NETWORK)
    table = min(size // 3, size * _VOCABULARY * embedding // max(1, parameters))
    each = (size - table) // layers
    weights = PlannedWeights(
        embedding=table,
        output=table,
        is_tied=True,
        layers=(LayerWeights(dense=each, largest_dense=each // 3),) * layers,
    )
    return PlannedModel(
        name=name,
        architecture="",
        kind="dense",
        layers=layers,
        trained_context=trained_context,
        embedding=embedding,
        vocabulary=_VOCABULARY,
        heads=max(heads, embedding // _HEAD_WIDTH),
        feed_forward=network,
        parameters=parameters,
        active_parameters=parameters,
        file_bytes=size,
        weights=weights,
        cache=(LayerCache(kv_heads=heads, key_width=_HEAD_WIDTH, value_width=_HEAD_WIDTH),) * layers,
        widths=Widths(network=3 * network, queries=embedding, kv=heads * _HEAD_WIDTH),
    )
