"""What is kept of this machine's speed in the settings: measured memories, and what answers showed. Plain numbers."""

from __future__ import annotations

import msgspec


class KnownMemory(msgspec.Struct, frozen=True):
    """The memory of one device as it was measured last."""

    gb_per_s: float
    """10^9 bytes/s."""
    threads: int = 0
    """That read main memory; 0 of a GPU, whose memory was copied."""
    description: str = ""
    """The maker's name of the device."""


class KeptAnswers(msgspec.Struct, frozen=True):
    """What answers on one device showed, as few numbers as tell it."""

    decode: tuple[tuple[float, ...], ...] = ()
    """Layers, bytes of weights and of the cache for a token, seconds of a token; and the tokens in the cache, if known."""
    prefill: tuple[tuple[float, ...], ...] = ()
    """10^12 operations/s, and tokens; and, if known, the tokens before them, and layers and bytes of the weights."""
    decode_answers: int = 0
    prefill_answers: int = 0
    rests: tuple[float, ...] = ()
    """Seconds that the first tokens of the newest answers took beside reading their prompts."""
