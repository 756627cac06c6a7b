"""Bytes of a model's weights by where llama.cpp puts them, out of its list of tensors. Pure.

The embedding table and other tables before the first layer stay in main memory; a tied output matrix is the embedding
table once more on a GPU (`src/llama-model.cpp`, `load_tensors`; `LLM_TENSOR_LAYER_INPUT` in `src/llama-arch.cpp`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from app.core.gguf_tensors import Tensor
from app.core.gguf_verdict import MAX_EXPERTS
from app.core.model_reads import EMBEDDING, INPUTS, MOVED_EXPERTS, OUTPUT, block_of
from app.planner.header_numbers import Numbers
from app.planner.model_parts import LayerWeights, PlannedWeights

_EXPERTS = re.compile(MOVED_EXPERTS)
_NETWORK = re.compile(r"\.ffn_(?P<part>up|down|gate|gate_up)(?P<kind>_(?:ch|)exps|_shexp)?\.weight$")


class Experts(NamedTuple):
    """Of a mixture; both 0 where there is just the one network."""

    all: int
    used: int


def experts_of(numbers: Numbers) -> Experts:
    """Return the experts of a mixture, and how many of them work on a token at most."""
    count, used = numbers.one("expert_count") or 0, numbers.most("expert_used_count") or 0
    return Experts(count, used) if 1 < count <= MAX_EXPERTS and 0 < used <= count else Experts(0, 0)


_Part = Literal["embedding", "output", "host", "rest", "dense", "experts"]


class Slot(NamedTuple):
    """Where llama.cpp puts a tensor; the block counts of layers alone."""

    part: _Part
    block: int = 0


def slots_of(tensors: Sequence[Tensor], blocks: int) -> tuple[Slot, ...] | None:
    """Return where each tensor of a model of so many blocks goes; None where one is of a block that there is not."""
    found = []
    for tensor in tensors:
        block = block_of(tensor.name)
        if block is not None:
            if block >= blocks:
                return None
            found.append(Slot("experts" if _EXPERTS.search(tensor.name) else "dense", block))
        elif tensor.name == EMBEDDING:
            found.append(Slot("embedding"))
        elif tensor.name == OUTPUT:
            found.append(Slot("output"))
        else:
            found.append(Slot("host" if tensor.name.startswith(INPUTS) else "rest"))
    return tuple(found)


def weights_of(tensors: Sequence[Tensor], blocks: int, experts: Experts) -> PlannedWeights | None:
    """Return the weights of a model of so many blocks; None where a tensor's size is unknown, or where there are none."""
    sizes = [tensor.size for tensor in tensors]
    known = [size for size in sizes if size is not None]
    slots = slots_of(tensors, blocks)
    return None if slots is None or len(known) != len(sizes) else weights_in(slots, known, blocks, experts)


def weights_in(slots: Sequence[Slot], sizes: Sequence[int], blocks: int, experts: Experts) -> PlannedWeights | None:
    """Return the weights of tensors of these sizes, each in its place; None where there are none."""
    if not slots:
        return None
    layers = [[0, 0, 0, 0] for _ in range(blocks)]
    around = {"embedding": 0, "output": 0, "host": 0, "rest": 0}
    is_tied = True
    for (part, block), size in zip(slots, sizes, strict=True):
        if part in around:
            around[part] += size
            is_tied = is_tied and part != "output"
            continue
        kind, layer = 1 if part == "experts" else 0, layers[block]
        layer[kind] += size
        layer[kind + 2] = max(layer[kind + 2], size)
    alike = {tuple(layer): LayerWeights(*layer) for layer in layers}  # most layers are, and there are many estimates
    return PlannedWeights(
        embedding=around["embedding"],
        output=around["embedding"] if is_tied else around["output"],
        is_tied=is_tied,
        host=around["host"],
        rest=around["rest"],
        layers=tuple(alike[tuple(layer)] for layer in layers),
        experts=experts.all,
        experts_used=experts.used,
    )


_Parts = dict[int, dict[str, int]]
"""Widths of gate, up and down by layer."""


class Networks(NamedTuple):
    """Numbers that one token takes inside the widest feed-forward networks."""

    dense: int
    experts: int
    """Inside all experts that work on it."""
    shared: int
    """Inside the experts that work on every token."""
    is_fused: bool
    """Whether gate and up are one matrix."""


def network_widths(tensors: Sequence[Tensor], experts: Experts) -> Networks:
    """Return the widths of the networks: what gate and up give and what down takes; without a gate that is one and the same."""
    dense: _Parts = {}
    mixed: _Parts = {}
    shared: _Parts = {}
    for tensor in tensors:
        block, part = block_of(tensor.name), _NETWORK.search(tensor.name)
        if block is None or part is None or len(tensor.dimensions) < 2:
            continue
        width = tensor.dimensions[0 if part["part"] == "down" else 1]
        kinds = shared if part["kind"] == "_shexp" else mixed if part["kind"] else dense
        kinds.setdefault(block, {})[part["part"]] = width
    return Networks(
        dense=max(map(_network, dense.values()), default=0),
        experts=experts.used * max(map(_network, mixed.values()), default=0),
        shared=max(map(_network, shared.values()), default=0),
        is_fused=any("gate" not in parts and _is_gated(parts) for parts in dense.values()),
    )


def _network(parts: Mapping[str, int]) -> int:
    return sum(parts.values()) if _is_gated(parts) else max(parts.values())


def _is_gated(parts: Mapping[str, int]) -> bool:
    up, down = parts.get("up", 0), parts.get("down", 0)
    return "gate" in parts or "gate_up" in parts or up > down


def active_parameters(tensors: Sequence[Tensor], experts: Experts) -> int:
    """Return how many numbers work on one token: all but the experts that are not used."""
    active = sum(
        tensor.elements * (experts.used if _EXPERTS.search(tensor.name) and experts.all else max(1, experts.all))
        for tensor in tensors
    )
    return active // max(1, experts.all)
