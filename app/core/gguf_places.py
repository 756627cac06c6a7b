"""Where the size of a GGUF file goes: what each layer takes, of what kind and type, and what each type takes in all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from app.core.gguf_tensors import Tensor
from app.core.gguf_view import MOST_LAYERS, PartSize, Place, PlaceSize, TensorKind, TypeSize
from app.core.model_reads import EMBEDDING, INPUTS, OUTPUT, block_of

_Key = tuple[Place, int | None]
_BLOCK = re.compile(r"^(?:enc\.|dec\.)?blk\.\d+\.")
_KINDS: tuple[tuple[re.Pattern[str], TensorKind], ...] = (
    (re.compile(r"norm"), "other"),
    (re.compile(r"exps|shexp|gate_inp"), "experts"),
    (re.compile(r"^(cross_|self_)?attn"), "attention"),
    (re.compile(r"^ffn"), "feed_forward"),
    (re.compile(r"^(ssm|shortconv|time_mix|channel_mix)"), "state"),
)
"""The first that is found in a name without its layer counts."""


def tensor_kind(name: str) -> TensorKind:
    """Return what a tensor of this name is for."""
    if name in (EMBEDDING, OUTPUT) or name.startswith("per_layer_token_embd"):
        return "vocabulary"
    inside = _BLOCK.sub("", name, count=1)
    return next((kind for pattern, kind in _KINDS if pattern.search(inside)), "other")


def place_sizes(tensors: Sequence[Tensor]) -> tuple[PlaceSize, ...]:
    """Return what each layer takes, between what comes before and after them."""
    counts: Counter[_Key] = Counter()
    parts: dict[_Key, Counter[tuple[TensorKind, str]]] = {}
    unknown: set[_Key] = set()
    layers = sorted({layer for tensor in tensors if (layer := block_of(tensor.name)) is not None})[:MOST_LAYERS]
    shown = set(layers)
    for tensor in tensors:
        place, size = _place(tensor.name, shown), tensor.size
        counts[place] += 1
        if size is None:
            unknown.add(place)
        else:
            parts.setdefault(place, Counter())[tensor_kind(tensor.name), tensor.type_name] += size
    rows: list[_Key] = [
        ("input", None),
        *(("layer", layer) for layer in layers),
        ("further", None),
        ("output", None),
    ]
    made = []
    for row in rows:
        if counts[row]:
            found = parts.get(row, Counter())
            size = None if row in unknown else found.total()
            stacked = tuple(PartSize(*key, taken) for key, taken in found.most_common())
            made.append(PlaceSize(*row, counts[row], size, stacked))
    return tuple(made)


def type_sizes(tensors: Sequence[Tensor]) -> tuple[TypeSize, ...]:
    """Return what each type takes, the largest first."""
    by_type: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        by_type.setdefault(tensor.type_name, []).append(tensor)
    rows = []
    for name, those in by_type.items():
        sizes = [tensor.size for tensor in those if tensor.size is not None]
        size = sum(sizes) if len(sizes) == len(those) else None
        rows.append(TypeSize(name, len(those), sum(tensor.elements for tensor in those), size))
    return tuple(sorted(rows, key=lambda row: row.size or 0, reverse=True))


def _place(name: str, shown: set[int]) -> _Key:
    layer = block_of(name)
    if layer is not None:
        return ("layer", layer) if layer in shown else ("further", None)
    return ("input" if name.startswith(INPUTS) else "output"), None
