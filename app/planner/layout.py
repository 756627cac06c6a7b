"""Which layer lies on which device, and what each device holds of weights, cache, states and buffers. Pure.

Source: `llama_model::load_tensors` of llama.cpp as of llama-cpp-python 0.3.36: the last layers go to GPUs, the output layer
counted as one, shared out by what is free on each; the tables before the first layer stay in main memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from app.core.devices import MAIN_MEMORY
from app.core.model import ALL_LAYERS
from app.planner.buffer_formula import Buffers, buffers, uses_flash
from app.planner.cache_formula import LayerBytes, cache_by_layer, cells_of
from app.planner.memory_plan import PlannedDevice
from app.planner.model_parts import PlannedWeights
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel

MASK_COPIES = 3
"""Further copies of the masks where several GPUs work one behind the other (`GGML_SCHED_MAX_COPIES` is 4)."""
F16_BYTES = 2


class Holding(msgspec.Struct):
    """Bytes that one device holds; None is unknown."""

    weights: int | None = 0
    kv: int | None = 0
    state: int | None = 0
    compute: int | None = 0
    scratch: int | None = 0
    """To unpack a quantised cache for attention, one layer at a time: no log tells it."""


def blocks_of(model: PlannedModel) -> int | None:
    """Return how many blocks the file has, predicting ones too; None where unknown."""
    return len(model.weights.layers) if model.weights is not None else model.layers


def all_layers(model: PlannedModel) -> int | None:
    """Return how many layers can go to GPUs, the output layer counted; None where unknown."""
    blocks = blocks_of(model)
    return None if blocks is None else blocks + 1


def places(blocks: int, gpu_layers: int, gpus: Sequence[PlannedDevice]) -> tuple[int | None, ...]:
    """Return the GPU, by its number, of each block and last of the output layer; None is main memory."""
    everything = blocks + 1
    count = everything if gpu_layers == ALL_LAYERS else max(0, min(gpu_layers, everything))
    if not gpus or not count:
        return (None,) * everything
    room = [float(gpu.free if gpu.free is not None else gpu.total or 0) for gpu in gpus]
    whole = sum(room)
    shares = [size / whole for size in room] if whole > 0 else [1 / len(gpus)] * len(gpus)
    ends = [math.fsum(shares[: number + 1]) for number in range(len(gpus))]
    start = everything - count
    found: list[int | None] = [None] * start
    for layer in range(count):
        at = layer / count
        found.append(next((number for number, end in enumerate(ends) if end > at), len(gpus) - 1))
    return tuple(found)


def held(model: PlannedModel, options: PlanOptions, gpus: Sequence[PlannedDevice]) -> tuple[Holding, ...]:
    """Return what each GPU holds, in their order, and last what main memory does."""
    holdings = tuple(Holding() for _ in range(len(gpus) + 1))
    blocks = blocks_of(model)
    if blocks is None:
        return tuple(Holding(None, None, None, None, None) for _ in holdings)
    where = places(blocks, ALL_LAYERS if options.gpu_layers is None else options.gpu_layers, gpus)
    _add_weights(model.weights, options, where, holdings)
    _add_cache(cache_by_layer(model, options), where, holdings)
    _add_buffers(model, options, where, holdings)
    return holdings


def device_names(gpus: Sequence[PlannedDevice], main: PlannedDevice | None) -> tuple[str, ...]:
    """Return the names of the holdings' devices, in their order."""
    return (*(gpu.name for gpu in gpus), MAIN_MEMORY if main is None else main.name)


def _add_weights(
    weights: PlannedWeights | None,
    options: PlanOptions,
    where: tuple[int | None, ...],
    holdings: Sequence[Holding],
) -> None:
    if weights is None:
        for holding in holdings:
            holding.weights = None
        return
    sums = [0] * len(holdings)
    main = len(holdings) - 1
    sums[main] += weights.embedding + weights.host
    for layer, place in zip(weights.layers, where, strict=False):
        at = main if place is None else place
        sums[at] += layer.dense
        sums[main if options.experts_on_cpu else at] += layer.experts
    output = main if where[-1] is None else where[-1]
    sums[output] += weights.rest
    if not (weights.is_tied and output == main):
        sums[output] += weights.output
    for holding, size in zip(holdings, sums, strict=True):
        holding.weights = size


def _add_cache(
    layers: tuple[LayerBytes, ...] | None, where: tuple[int | None, ...], holdings: Sequence[Holding]
) -> None:
    if layers is None:
        for holding in holdings:
            holding.kv = holding.state = None
        return
    main = len(holdings) - 1
    for layer, place in zip(layers, where, strict=False):
        holding = holdings[main if place is None else place]
        holding.kv = (holding.kv or 0) + layer.kv
        holding.state = (holding.state or 0) + layer.state


def _add_buffers(
    model: PlannedModel, options: PlanOptions, where: tuple[int | None, ...], holdings: Sequence[Holding]
) -> None:
    sizes = buffers(model, options)
    main = len(holdings) - 1
    used = {main if place is None else place for place in where}
    if sizes is None:
        for holding in holdings:
            holding.compute = holding.scratch = None
        return
    copied = _copied(model.weights, options, where)
    several = len(used - {main}) > 1 and main not in used and not options.experts_on_cpu
    for number in used - {main}:
        extra = copied + (MASK_COPIES * (sizes.host - sizes.inputs) if several else 0)
        holdings[number].compute = sizes.device + extra
        holdings[number].scratch = _scratch(model, options, {at for at, place in enumerate(where) if place == number})
    holdings[main].compute = _in_main_memory(sizes, main in used) + sizes.output


def _in_main_memory(sizes: Buffers, computes: bool) -> int:
    return sizes.device if computes else sizes.host


def _copied(weights: PlannedWeights | None, options: PlanOptions, where: tuple[int | None, ...]) -> int:
    """Return the largest matrix in main memory: a GPU gets a copy of each, one after the other, to compute a large batch."""
    if weights is None:
        return 0
    largest = 0
    for layer, place in zip(weights.layers, where, strict=False):
        if place is None:
            largest = max(largest, layer.largest_dense, layer.largest_expert)
        elif options.experts_on_cpu:
            largest = max(largest, layer.largest_expert)
    return largest


def _scratch(model: PlannedModel, options: PlanOptions, layers: set[int]) -> int:
    """Return what unpacks a quantised cache to f16, the widest layer of it: cells x (keys + values) x 2 bytes.

    Source: `ggml/src/ggml-cuda/fattn.cu` of llama.cpp as of llama-cpp-python 0.3.36.
    """
    if not uses_flash(model, options):
        return 0
    cells = cells_of(model, options)
    largest = 0
    for number, layer in enumerate(model.cache):
        if number in layers and layer.attends:
            keys = layer.kv_heads * layer.key_width if options.kv_type_k != "f16" else 0
            values = layer.kv_heads * layer.value_width if options.kv_type_v != "f16" else 0
            seen = (cells.window if layer.is_window else cells.full) * cells.streams
            largest = max(largest, seen * (keys + values) * F16_BYTES)
    return largest
