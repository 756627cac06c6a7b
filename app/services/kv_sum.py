"""How many bytes one token takes in the KV cache, and how that follows: layers x heads x width x bytes of a number.

The formula (keys and values of every layer that keeps them) counts only where it gives what llama.cpp set aside; where it
does not, there is a reason in its place. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.cache_shape import AttentionShape, CacheClass
from app.core.model import KV_ELEMENT_BYTES, ModelInfo
from app.core.words import Sentence, translate

_ROUNDED_BYTES = 0.005 * 1024 * 1024 + 1
"""The log tells bytes to 0.01 MiB."""
_OTHER_BYTES = {"f32": 4.0, "bf16": 2.0}
_ELEMENT_BYTES = {**dict[str, float](**KV_ELEMENT_BYTES), **_OTHER_BYTES}


class Row(msgspec.Struct, frozen=True):
    """What one token adds for the keys, or for the values, of all layers of a class."""

    width: int
    """Numbers of one head."""
    type: str
    number_bytes: float
    bytes: int


class ClassSum(msgspec.Struct, frozen=True):
    """One token in the layers of one class."""

    cells: int
    layers: int
    bytes: int
    """Of one token: by the formula where it holds, else what llama.cpp set aside for a cell."""
    is_window: bool = False
    heads: int | None = None
    """Of each layer, which keep keys and values; None where the formula does not hold."""
    keys: Row | None = None
    values: Row | None = None
    reason: Sentence | None = None
    """Why the formula is not written out."""


def class_sums(model: ModelInfo) -> tuple[ClassSum, ...]:
    """Return the sum of each class that keeps something by the token."""
    return tuple(_sum(each, model.attention) for each in model.cache_classes if each.layers and each.cells)


def keeps_all(sums: Sequence[ClassSum]) -> bool:
    """Return whether some layers keep every token; so it is taken to be where nobody knows the classes."""
    return not sums or any(not each.is_window for each in sums)


def window_alone(model: ModelInfo) -> int | None:
    """Return the cells of the layers where each that keeps tokens has a sliding window; None where some keep all."""
    return None if keeps_all(class_sums(model)) else model.cache.window_cells


def _sum(kept: CacheClass, shape: AttentionShape) -> ClassSum:
    measured = round((kept.key_bytes + kept.value_bytes) / kept.cells)
    heads = _heads(shape, kept.layers)
    key_width = shape.window_key_width if kept.is_window else shape.key_width
    value_width = shape.window_value_width if kept.is_window else shape.value_width
    reason: Sentence | None = None
    if shape.is_latent or not kept.value_bytes:
        reason = _LATENT
    elif heads is None or key_width is None or value_width is None:
        reason = _VARIES
    else:
        keys = _row(kept, heads, key_width, kept.key_type, kept.key_bytes)
        values = _row(kept, heads, value_width, kept.value_type, kept.value_bytes)
        if keys is not None and values is not None:
            return ClassSum(
                kept.cells, kept.layers, keys.bytes + values.bytes, kept.is_window, heads, keys, values, None
            )
        reason = _OTHERWISE
    return ClassSum(kept.cells, kept.layers, measured, kept.is_window, reason=reason)


def _heads(shape: AttentionShape, layers: int) -> int | None:
    """Return the heads of each of so many layers; None where they differ."""
    heads = shape.kv_heads
    if not isinstance(heads, tuple):
        return heads
    with_some = [each for each in heads if each]
    return with_some[0] if len(set(with_some)) == 1 and len(with_some) >= layers else None


def _row(kept: CacheClass, heads: int, width: int, kind: str, measured: int) -> Row | None:
    """Return the keys or the values of one token; None where the formula does not give what was set aside."""
    number = _ELEMENT_BYTES.get(kind)
    if number is None:
        return None
    one = kept.layers * heads * width * number
    is_so = abs(one * kept.cells - measured) <= _ROUNDED_BYTES
    return Row(width, kind, number, round(one)) if is_so else None


_LATENT = translate(
    "KvSum",
    "This model keeps one compressed row a token for all of its heads and makes keys and values from it anew (multi-head "
    "latent attention), so that its heads do not multiply what is kept.",
)
_VARIES = translate(
    "KvSum",
    "The layers of this model have different numbers of heads, or its file does not tell them, so that no single "
    "product gives the bytes.",
)
_OTHERWISE = translate(
    "KvSum",
    "Layers, heads and width do not give what llama.cpp set aside for this model, which keeps its keys and values in "
    "another way.",
)
