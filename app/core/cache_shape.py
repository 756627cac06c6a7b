"""How one token's keys and values are laid out in the KV cache: layers, heads, widths, types. Plain values.

What llama.cpp set aside is the engine's to read; what the file says of its heads comes out of the header.
"""

from __future__ import annotations

import msgspec

from app.core.gguf_header import Header
from app.core.model_facts import PerLayer


class CacheClass(msgspec.Struct, frozen=True):
    """Layers whose keys and values lie in cells of one kind, as llama.cpp's log tells it; bytes are rounded to 0.01 MiB."""

    cells: int
    layers: int
    key_type: str
    """Of its elements, as llama.cpp calls it: f16, q8_0."""
    key_bytes: int
    """Of all cells and layers together."""
    value_type: str
    value_bytes: int
    """0 where no values are kept."""
    is_window: bool = False
    """Its cells hold the last tokens alone."""


class AttentionShape(msgspec.Struct, frozen=True):
    """What a header says of the heads whose keys and values are kept; None is unknown."""

    kv_heads: PerLayer | None = None
    key_width: int | None = None
    """Numbers of one head's key."""
    value_width: int | None = None
    window_key_width: int | None = None
    """The same in layers with a sliding window."""
    window_value_width: int | None = None
    is_latent: bool = False
    """All heads share one compressed row a token (MLA), from which keys and values are made anew."""


def attention_shape(header: Header) -> AttentionShape:
    """Return what a model's first header says of its heads: widths that are absent are embedding / heads."""
    prefix = f"{header.text('general.architecture')}.attention."
    heads, embedding = header.integers(f"{prefix}head_count"), header.integer(_embedding_key(header))
    most = max(heads, default=0) if isinstance(heads, tuple) else heads
    usual = embedding // most if embedding is not None and most else None
    kv_heads = header.integers(f"{prefix}head_count_kv")
    key, value = (_first(header.integer(f"{prefix}{name}_length"), usual) for name in ("key", "value"))
    return AttentionShape(
        kv_heads=heads if kv_heads is None else kv_heads,
        key_width=key,
        value_width=value,
        window_key_width=_first(header.integer(f"{prefix}key_length_swa"), key),
        window_value_width=_first(header.integer(f"{prefix}value_length_swa"), value),
        is_latent=header.integer(f"{prefix}key_length_mla") is not None,
    )


def _embedding_key(header: Header) -> str:
    return f"{header.text('general.architecture')}.embedding_length"


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one
