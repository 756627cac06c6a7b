"""Of which type each tensor of a model is in a file of another quantisation, and what the weights take then. Pure.

llama.cpp mixes types by what a tensor is for and where its layer lies, and takes another one where rows do not divide into
blocks (`src/llama-quant.cpp`). Files of less than four bits are taken to be made with an importance matrix, as most are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from app.core.gguf_tensors import Tensor
from app.core.gguf_types import TENSOR_TYPES, TensorType
from app.core.model_reads import EMBEDDING, OUTPUT, block_of
from app.planner.model_parts import PlannedWeights
from app.planner.weights import Experts, slots_of, weights_in

BASES: dict[str, str] = {
    "F16": "F16",
    "Q8_0": "Q8_0",
    "Q6_K": "Q6_K",
    "Q5_K_M": "Q5_K",
    "Q4_K_M": "Q4_K",
    "IQ4_XS": "IQ4_XS",
    "Q3_K_M": "Q3_K",
    "IQ3_XXS": "IQ3_XXS",
    "Q2_K": "Q2_K",
    "IQ2_XS": "IQ2_XS",
}
"""The type of most tensors, by the name of a quantisation."""
_TYPES = {known.name: known for known in TENSOR_TYPES.values()}
_INSTEAD = {
    "Q6_K": "Q8_0",
    "Q5_K": "Q5_1",
    "Q4_K": "Q5_0",
    "Q3_K": "Q4_0",
    "Q2_K": "Q4_0",
    **dict.fromkeys(("IQ4_XS", "IQ3_S", "IQ3_XXS", "IQ2_S", "IQ2_XS"), "IQ4_NL"),
}
"""What is taken where rows do not divide into blocks of 256."""
_KEPT = re.compile(
    r"_norm\.weight|ffn_gate_inp\.weight|ffn_gate_tid2eid\.weight|altup|laurel|per_layer_model_proj|position_embd|token_types"
    r"|ssm_conv1d|shortconv\.conv\.weight|indexer\.[kq]_proj\.weight|time_mix_(?:first|w\d|v\d|a\d|g\d|decay_w\d|lerp_fused)\.weight"
    r"|attn_rel_b\.weight"
)
"""Small matrices that stay as they are."""
_SHARED_KEYS = 4
"""From so many heads to a key on, the few values are worth more bits; of a mixture from so many experts on."""
_TWINS = 8
"""A mixture of so many experts has its attention in more bits."""
_LARGE_LAYERS = 80
_Use = Literal["head", "embedding", "value", "key", "query", "down", "output", "other"]
_USES: tuple[tuple[str, _Use], ...] = (
    ("attn_qkv.weight", "value"),
    ("attn_kv_b.weight", "value"),
    ("attn_v.weight", "value"),
    ("attn_k.weight", "key"),
    ("attn_q.weight", "query"),
    ("attn_output.weight", "output"),
    ("ffn_down", "down"),
)
_TABLES = frozenset({EMBEDDING, "per_layer_token_embd.weight"})


class Shape(NamedTuple):
    """What of a model decides on types."""

    architecture: str
    blocks: int
    experts: Experts
    heads_to_a_key: int


class _Matrix(NamedTuple):
    """What of a tensor decides on its type and size."""

    use: _Use
    columns: int
    elements: int
    block: int
    kept: int | None
    """Bytes of one that stays as it is."""


def estimates(tensors: Sequence[Tensor], shape: Shape) -> tuple[tuple[str, PlannedWeights], ...]:
    """Return the weights of a model by the name of each quantisation; empty where sizes are unknown."""
    is_tied = all(tensor.name != OUTPUT for tensor in tensors)
    slots = slots_of(tensors, shape.blocks)
    matrices = [_matrix(tensor, is_tied=is_tied) for tensor in tensors]
    known = [matrix for matrix in matrices if matrix is not None]
    if slots is None or len(known) != len(matrices):
        return ()
    values = tuple(sorted(matrix.block for matrix in known if matrix.use == "value"))
    found = []
    for name in BASES:
        choice = _Choice(name, shape, values)
        weights = weights_in(slots, [choice.size(matrix) for matrix in known], shape.blocks, shape.experts)
        if weights is not None:
            found.append((name, weights))
    return tuple(found)


def _matrix(tensor: Tensor, *, is_tied: bool) -> _Matrix | None:
    """Return what decides on a tensor; None where its size is unknown."""
    name, size = tensor.name, tensor.size
    if size is None:
        return None
    is_matrix = any(rows > 1 for rows in tensor.dimensions[1:])
    stays = not is_matrix or not name.endswith("weight") or _KEPT.search(name) is not None
    columns, block = tensor.dimensions[0], block_of(name) or 0
    return _Matrix(_use(name, is_tied=is_tied), columns, tensor.elements, block, size if stays else None)


class _Choice:
    """One quantisation of one model."""

    def __init__(self, name: str, shape: Shape, values: Sequence[int]) -> None:
        """`values` are the blocks that have values, in order."""
        self.name = name
        self.shape = shape
        self.values = values
        self._types: dict[tuple[_Use, int, int], TensorType] = {}

    def size(self, matrix: _Matrix) -> int:
        """Return the bytes of a tensor in that file."""
        if matrix.kept is not None:
            return matrix.kept
        key = (matrix.use, matrix.columns, matrix.block if matrix.use in ("value", "down") else 0)
        kind = self._types.get(key)
        if kind is None:
            kind = self._types[key] = _TYPES[_fitting(self._wanted(matrix), matrix.columns)]
        return matrix.elements // kind.block_elements * kind.block_bytes

    def _wanted(self, matrix: _Matrix) -> str:
        base, use = BASES[self.name], matrix.use
        if base == "F16":
            return base
        if use == "head":
            return self._head(base, matrix.columns)
        if use == "embedding":
            return {"IQ2_XS": "Q2_K", "IQ3_XXS": "IQ3_S"}.get(self.name, base)
        if use == "value":
            return self._value(base, self.values.index(matrix.block))
        if use == "down":
            return self._down(base, matrix.block)
        if use == "output":
            return self._output(base)
        if use in ("key", "query") and self.name == "IQ3_XXS" and not (self._has_twins and use == "key"):
            return "IQ2_S"
        if use == "key" and self._has_twins:
            return "Q4_K" if self.name == "IQ2_XS" else "Q8_0"
        return base

    @property
    def _has_twins(self) -> bool:
        return self.shape.experts.all == _TWINS

    def _head(self, base: str, columns: int) -> str:
        if self.shape.architecture == "falcon" or columns % _TYPES[base].block_elements:
            return "Q8_0"
        if self.name in ("IQ2_XS", "IQ3_XXS"):
            return "Q5_K"
        return base if base == "Q8_0" else "Q6_K"

    def _value(self, base: str, place: int) -> str:
        shares = self.shape.heads_to_a_key >= _SHARED_KEYS
        if self.name == "IQ2_XS":
            return "Q4_K" if shares or self.shape.experts.all >= _SHARED_KEYS else "Q2_K"
        if self._has_twins:
            return "Q8_0"
        kind = {
            "Q2_K": "Q4_K" if shares else "Q3_K",
            "IQ3_XXS": "Q4_K" if shares else base,
            "Q3_K_M": "Q5_K" if place < 2 else "Q4_K",
            "IQ4_XS": "Q5_K" if shares else base,
            **dict.fromkeys(("Q4_K_M", "Q5_K_M"), "Q6_K" if _has_more(place, len(self.values)) else base),
        }.get(self.name, base)
        is_large = self.shape.architecture == "llama" and self.shape.blocks == _LARGE_LAYERS
        return "Q5_K" if is_large and kind in ("Q3_K", "Q4_K") else kind

    def _down(self, base: str, block: int) -> str:
        blocks = self.shape.blocks
        return {
            "Q2_K": "Q3_K",
            "Q3_K_M": "Q5_K" if block < blocks // 16 else "Q4_K",
            "IQ2_XS": "Q2_K" if block < blocks // 8 else base,
            "IQ4_XS": "Q5_K" if block < blocks // 8 else base,
            **dict.fromkeys(("Q4_K_M", "Q5_K_M"), "Q6_K" if _has_more(block, blocks) else base),
        }.get(self.name, base)

    def _output(self, base: str) -> str:
        if self._has_twins:
            return base if self.name in ("Q8_0", "Q6_K", "Q5_K_M") else "Q5_K"
        return {"Q2_K": "Q3_K", "IQ3_XXS": "IQ3_S", "Q3_K_M": "Q4_K"}.get(self.name, base)


def _fitting(kind: str, columns: int) -> str:
    """Return a type, or the one that is taken instead where rows do not divide into its blocks."""
    if columns % _TYPES[kind].block_elements == 0:
        return kind
    instead = _INSTEAD.get(kind, "F16")
    return "F16" if columns % _TYPES[instead].block_elements else instead


def _use(name: str, *, is_tied: bool) -> _Use:
    """Return what a tensor is for; a table that is the output matrix, too, is quantised as that."""
    if name == OUTPUT or (is_tied and name in _TABLES):
        return "head"
    if name in _TABLES:
        return "embedding"
    return next((use for part, use in _USES if part in name), "other")


def _has_more(place: int, count: int) -> bool:
    """Return whether a layer is one of those with more bits: the first and last eighth, and every third between."""
    return place < count // 8 or place >= 7 * count // 8 or (place - count // 8) % 3 == 2
