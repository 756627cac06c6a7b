"""How fast this machine's memories were, as the engine measured them on request."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence

BandwidthKind = Literal["read", "copy"]
"""Main memory is read as a decode reads it; what a GPU's memory gives shows in a copy, which reads and writes."""


class MemorySpeed(msgspec.Struct, frozen=True):
    """The memory of one device at its best."""

    device: str
    """ggml's name, such as “CPU” or “CUDA0”."""
    description: str
    kind: BandwidthKind
    gb_per_s: float | None
    """10^9 bytes/s, read and written ones counted; None where it could not be measured."""
    threads: int = 0
    """That read main memory; 0 of a GPU."""
    reason: Sentence | None = None
    """Why it could not be measured."""
    is_disturbed: bool = False
    """Whether other programs took much of the cores or of the memory meanwhile, so that it may give more."""
