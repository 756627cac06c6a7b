"""Bytes of the KV cache and of recurrent states, as llama.cpp lays them out. Pure.

Sources: `src/llama-kv-cache.cpp`, `llama-kv-cache-iswa.cpp`, `llama-memory-recurrent.cpp` and `llama-context.cpp` of
llama.cpp as of llama-cpp-python 0.3.36. Every figure is what is set aside at a load: nothing grows while answers are written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from app.core.model import CONTEXT_STEP, KVType
from app.planner.model_parts import LayerCache
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel

STATE_ELEMENT_BYTES = 4
"""States are kept in f32, whatever the type of keys and values."""
BLOCK = 32
"""Numbers that a quantised type packs together with their scale."""
BLOCK_BYTES: dict[KVType, int] = {"f16": 64, "q8_0": 34, "q4_0": 18}


class LayerBytes(msgspec.Struct, frozen=True):
    """What one layer keeps of the past."""

    kv: int = 0
    state: int = 0


class Cells(NamedTuple):
    """Cells of each stream, and how many streams there are."""

    full: int
    """Of layers that keep every token."""
    window: int
    """Of layers with a sliding window."""
    streams: int


def cells_of(model: PlannedModel, options: PlanOptions) -> Cells:
    """Return the cells of a context: all sequences share one stream, or each has its own part."""
    sequences = max(1, options.sequences)
    full = options.cells if options.unified else padded(options.cells // sequences)
    batch = min(max(1, options.micro_batch), options.cells)
    window = padded(min(full, model.window * (sequences if options.unified else 1) + batch))
    return Cells(full, window, 1 if options.unified else sequences)


def cache_by_layer(model: PlannedModel, options: PlanOptions) -> tuple[LayerBytes, ...] | None:
    """Return the bytes that each layer sets aside at a load; None where the cache is unknown."""
    if model.kind == "unknown":
        return None
    kept = layer_bytes(model, options)
    return tuple(kept(layer) for layer in model.cache)


def layer_bytes(model: PlannedModel, options: PlanOptions) -> Callable[[LayerCache], LayerBytes]:
    """Return what tells the bytes that a layer of a model sets aside at a load."""
    cells = cells_of(model, options)
    widest = _widest_value(model)
    state = STATE_ELEMENT_BYTES * max(1, options.sequences) * (model.state.shift + model.state.memory)

    def kept(layer: LayerCache) -> LayerBytes:
        seen = cells.window if layer.is_window else cells.full
        return LayerBytes(_cell(layer, options, widest) * seen * cells.streams, state if layer.is_recurrent else 0)

    return kept


def padded(cells: int) -> int:
    """Return a number of cells as llama.cpp rounds it."""
    return -(-max(1, cells) // CONTEXT_STEP) * CONTEXT_STEP


def row_bytes(kind: KVType, elements: int) -> int:
    """Return the bytes of so many numbers in one cell."""
    return elements * BLOCK_BYTES[kind] // BLOCK


def _cell(layer: LayerCache, options: PlanOptions, widest_value: int) -> int:
    """Return the bytes of one cell of one layer."""
    if not layer.owns_cache or not layer.attends:
        return 0
    values = layer.value_elements
    if not options.flash_attention and layer.value_width:
        values = widest_value  # stored turned, one width for all layers
    return row_bytes(options.kv_type_k, layer.key_elements) + row_bytes(options.kv_type_v, values)


def _widest_value(model: PlannedModel) -> int:
    return max((layer.kv_heads * layer.value_width for layer in model.cache), default=0)
