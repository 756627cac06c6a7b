"""What the engine tells of an answer that it writes once more: how far it is the same, and where it goes another way."""

from __future__ import annotations

import msgspec

from app.core.metrics import KVUse, StopReason


class Difference(msgspec.Struct, frozen=True):
    """Where an answer that is written once more goes another way; gaps are in natural logarithms."""

    token: int
    """Index in the answer."""
    stored: int
    """The token that is there."""
    drawn: int
    """The one that was drawn now."""
    gap: float
    """How far apart the two are now, before any stage of the chain."""
    stored_gap: float | None
    """How far apart they were then; None where that was not kept."""
    draw_distance: float | None
    """By how much the odds would have to shift for this draw to fall on the stored token; None where none was made,
    or where a stage of the chain cut that token."""


class Reproduced(msgspec.Struct, frozen=True, tag="reproduced"):
    """How far an answer that was written once more is the same."""

    request: int
    first: int
    """Index in the answer of the first token that was drawn; those before it were given."""
    compared: int
    """How many tokens of the answer are the same, the given ones included."""
    difference: Difference | None
    stop_reason: StopReason | None
    """How it ended, “length” where all tokens were compared and it would have gone on; None where nobody can say."""
    kv: KVUse
    """The cache now: it holds the prompt, and the answer as far as it was written."""
