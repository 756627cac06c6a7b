"""Bytes of a model's weights by where llama.cpp puts them, out of its list of tensors. Pure.

The embedding table and other tables before the first layer stay in main memory; a tied output matrix is the embedding
table once more on a GPU (`src/llama-model.cpp`, `load_tensors`; `LLM_TENSOR_LAYER_INPUT` in `src/llama-arch.cpp`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.core.gguf_tensors import Tensor
from app.core.gguf_verdict import MAX_EXPERTS
from app.core.model_reads import EMBEDDING, INPUTS, MOVED_EXPERTS, OUTPUT, block_of
from app.planner.header_numbers import Numbers
from app.planner.model_parts import LayerWeights, PlannedWeights

_EXPERTS = re.compile(MOVED_EXPERTS)


class Experts(NamedTuple):
    """Of a mixture; both 0 where there is just the one network."""

    all: int
    used: int


def experts_of(numbers: Numbers) -> Experts:
    """Return the experts of a mixture, and how many of them work on a token at most."""
    count, used = numbers.one("expert_count") or 0, numbers.most("expert_used_count") or 0
    return Experts(count, used) if 1 < count <= MAX_EXPERTS and 0 < used <= count else Experts(0, 0)


def weights_of(tensors: Sequence[Tensor], blocks: int, experts: Experts) -> PlannedWeights | None:
    """Return the weights of a model of so many blocks; None where a tensor's size is unknown, or where there are none."""
    dense, mixed = [0] * blocks, [0] * blocks
    embedding = output = host = rest = 0
    is_tied = True
    for tensor in tensors:
        size, block = tensor.size, block_of(tensor.name)
        if size is None or (block is not None and block >= blocks):
            return None
        if block is not None:
            (mixed if _EXPERTS.search(tensor.name) else dense)[block] += size
        elif tensor.name == EMBEDDING:
            embedding = size
        elif tensor.name == OUTPUT:
            output, is_tied = size, False
        elif tensor.name.startswith(INPUTS):
            host += size
        else:
            rest += size
    if not tensors:
        return None
    return PlannedWeights(
        embedding=embedding,
        output=embedding if is_tied else output,
        is_tied=is_tied,
        host=host,
        rest=rest,
        layers=tuple(LayerWeights(*pair) for pair in zip(dense, mixed, strict=True)),
        experts=experts.all,
        experts_used=experts.used,
    )


def active_parameters(tensors: Sequence[Tensor], experts: Experts) -> int:
    """Return how many numbers work on one token: all but the experts that are not used."""
    active = sum(
        tensor.elements * (experts.used if _EXPERTS.search(tensor.name) and experts.all else max(1, experts.all))
        for tensor in tensors
    )
    return active // max(1, experts.all)
