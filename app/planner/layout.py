"""Which layer lies on which device, and what each device holds of weights, cache, states and buffers. Pure.

Source: `llama_model::load_tensors` of llama.cpp as of llama-cpp-python 0.3.36: the last layers go to GPUs, the output layer
counted as one, shared out by what is free on each; the tables before the first layer stay in main memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY
from app.core.model import ALL_LAYERS
from app.planner.buffer_formula import buffers, uses_flash
from app.planner.cache_formula import cells_of, layer_bytes
from app.planner.memory_plan import PlannedDevice
from app.planner.model_parts import LayerCache, PlannedWeights
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel

MASK_COPIES = 3
"""Further copies of the masks where several GPUs work one behind the other (`GGML_SCHED_MAX_COPIES` is 4)."""
FIRST = 0
"""The GPU that computes large batches with matrices in main memory, whether a layer lies on it or not (`op_offload`)."""
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


class Placement(NamedTuple):
    """Which device holds what, whatever context there is; devices by number, main memory the last."""

    devices: int
    used: frozenset[int]
    """Devices that compute a layer."""
    weights: tuple[int, ...] | None
    layers: Mapping[tuple[int, LayerCache], int]
    """How many layers of each kind a device has."""
    copied: int
    """The largest matrix in main memory that the first GPU gets copies of."""

    @property
    def main(self) -> int:
        """The number of main memory."""
        return self.devices - 1


def placed(model: PlannedModel, options: PlanOptions, gpus: Sequence[PlannedDevice]) -> Placement | None:
    """Return where everything lies; None where it is unknown how many layers there are."""
    blocks = blocks_of(model)
    if blocks is None:
        return None
    main = len(gpus)
    layers = ALL_LAYERS if options.gpu_layers is None else options.gpu_layers
    where = tuple(main if at is None else at for at in places(blocks, layers, gpus))
    loaded = model.weights
    if loaded is not None:  # blocks that only predict further tokens are left out
        loaded = replace(loaded, layers=loaded.layers[: model.layers])
    return Placement(
        devices=main + 1,
        used=frozenset(where),
        weights=None if loaded is None else _weights(loaded, where, main, options),
        layers=Counter(zip(where, model.cache, strict=False)),
        copied=0 if loaded is None else _copied(loaded, where, main, options),
    )


def held(model: PlannedModel, options: PlanOptions, placement: Placement | None, devices: int) -> tuple[Holding, ...]:
    """Return what each GPU holds, in their order, and last what main memory does."""
    if placement is None:
        return tuple(Holding(None, None, None, None, None) for _ in range(devices))
    holdings = tuple(Holding() for _ in range(devices))
    for number, holding in enumerate(holdings):
        holding.weights = None if placement.weights is None else placement.weights[number]
    _add_cache(model, options, placement, holdings)
    _add_buffers(model, options, placement, holdings)
    return holdings


def device_names(gpus: Sequence[PlannedDevice], main: PlannedDevice | None) -> tuple[str, ...]:
    """Return the names of the holdings' devices, in their order."""
    return (*(gpu.name for gpu in gpus), MAIN_MEMORY if main is None else main.name)


def _weights(weights: PlannedWeights, where: Sequence[int], main: int, options: PlanOptions) -> tuple[int, ...]:
    sums = [0] * (main + 1)
    sums[main] += weights.embedding + weights.host
    for number, (layer, at) in enumerate(zip(weights.layers, where, strict=False)):
        sums[at] += layer.dense
        sums[main if options.moves_experts(number) else at] += layer.experts
    sums[where[-1]] += weights.rest
    if not (weights.is_tied and where[-1] == main):
        sums[where[-1]] += weights.output
    return tuple(sums)


def _copied(weights: PlannedWeights, where: Sequence[int], main: int, options: PlanOptions) -> int:
    """Return the largest matrix in main memory: a GPU gets a copy of each, one after the other, to compute a large batch."""
    largest = 0
    for number, (layer, at) in enumerate(zip(weights.layers, where, strict=False)):
        if at == main:
            largest = max(largest, layer.largest_dense, layer.largest_expert)
        elif options.moves_experts(number):
            largest = max(largest, layer.largest_expert)
    return largest


def _add_cache(model: PlannedModel, options: PlanOptions, placement: Placement, holdings: Sequence[Holding]) -> None:
    if model.kind == "unknown":
        for holding in holdings:
            holding.kv = holding.state = None
        return
    kept = layer_bytes(model, options)
    for (at, layer), count in placement.layers.items():
        size = kept(layer)
        holdings[at].kv = (holdings[at].kv or 0) + count * size.kv
        holdings[at].state = (holdings[at].state or 0) + count * size.state


def _add_buffers(
    model: PlannedModel, options: PlanOptions, placement: Placement, holdings: Sequence[Holding]
) -> None:
    sizes = buffers(model, options)
    if sizes is None:
        for holding in holdings:
            holding.compute = holding.scratch = None
        return
    main = placement.main
    gpus = placement.used - {main}
    several = len(gpus) > 1 and main not in placement.used and not options.experts_on_cpu
    copies = MASK_COPIES * (sizes.host - sizes.inputs) if several else 0
    for number in gpus:
        holdings[number].compute = sizes.device + copies
        holdings[number].scratch = _scratch(model, options, placement, number)
    if main > FIRST and placement.copied:
        holdings[FIRST].compute = sizes.device + placement.copied
    holdings[main].compute = sizes.output + (sizes.device if main in placement.used else sizes.host)


def _scratch(model: PlannedModel, options: PlanOptions, placement: Placement, number: int) -> int:
    """Return what unpacks a quantised cache to f16, the widest layer of it: cells x (keys + values) x 2 bytes.

    Source: `ggml/src/ggml-cuda/fattn.cu` of llama.cpp as of llama-cpp-python 0.3.36.
    """
    if not uses_flash(model, options) or (options.kv_type_k, options.kv_type_v) == ("f16", "f16"):
        return 0
    cells = cells_of(model, options)
    largest = 0
    for at, layer in placement.layers:
        if at == number and layer.attends:
            keys = layer.kv_heads * layer.key_width if options.kv_type_k != "f16" else 0
            values = layer.kv_heads * layer.value_width if options.kv_type_v != "f16" else 0
            seen = (cells.window if layer.is_window else cells.full) * cells.streams
            largest = max(largest, seen * (keys + values) * F16_BYTES)
    return largest
