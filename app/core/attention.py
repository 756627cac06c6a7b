"""What the engine tells of a pass that reads attention: which earlier tokens the last one looked at, in each layer and head."""

from __future__ import annotations

from typing import Literal

import msgspec

NoAttention = Literal["recurrent", "not_told"]
"""Why a layer has no row: it keeps a running state in place of the tokens, or its attention is no node of the graph."""
MOST_ROW_BYTES = 32 << 20
"""Rows of every head are sent up to this size; of more, the averages over the heads of each layer."""


class AttentionProgress(msgspec.Struct, frozen=True, tag="attention_progress"):
    """How many of the tokens were read."""

    request: int
    done: int
    total: int


class LayerAttention(msgspec.Struct, frozen=True):
    """What there is of one layer."""

    heads: int = 0
    """Heads that it has a row of; 0 where it has none, and `lacks` says why."""
    rows: int = 0
    """Rows that are sent of it: the average over its heads, and behind it one a head where that is not too much."""
    lacks: NoAttention | None = None


class AttentionRead(msgspec.Struct, frozen=True, tag="attention_read"):
    """The attention of the last of n tokens."""

    request: int
    layers: tuple[LayerAttention, ...]
    rows: bytes
    """float32, little endian: for each layer, for each of its rows, n values; a row sums to 1, or to less where a part
    of the attention goes to no token at all (an attention sink that the model learned)."""
    strongest: bytes
    """int32, little endian: of each of those rows, the token that it looked at most."""
    mean: bytes
    """float32, little endian, n values: the average over all layers that have rows; empty where none has."""
    embedding: bytes = b""
    """float32, little endian: the token's row of the embedding matrix; empty where llama.cpp does not look one up."""


AttentionEvent = AttentionProgress | AttentionRead
"""What is told of such a pass; `Failed` ends one, too."""
