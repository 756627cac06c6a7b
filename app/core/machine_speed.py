"""What is kept of this machine's speed in the settings: measured memories, and what answers showed. Plain numbers."""

from __future__ import annotations

import msgspec

LEAST_GB_PER_S, MOST_GB_PER_S = 0.1, 1e5
"""What no memory falls below, or gives."""
MOST_LAYERS = 10_000
MOST_BYTES = 1e15
"""Read for one token; a number beyond is none of a model."""
LEAST_SECONDS, MOST_SECONDS = 1e-6, 1e4
"""Of one token, and of what a first token takes beside reading."""
LEAST_TFLOPS, MOST_TFLOPS = 1e-9, 1e6
MOST_TOKENS = 1 << 31


class KnownMemory(msgspec.Struct, frozen=True):
    """The memory of one device as it was measured last."""

    gb_per_s: float
    """10^9 bytes/s."""
    threads: int = 0
    """That read main memory; 0 of a GPU, whose memory was copied."""
    description: str = ""
    """The maker's name of the device."""
    is_disturbed: bool = False
    """Whether other programs were busy meanwhile: it may give more."""

    @property
    def is_plausible(self) -> bool:
        """Whether a memory can be so fast: a file of settings may hold any number."""
        return LEAST_GB_PER_S <= self.gb_per_s <= MOST_GB_PER_S


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
    weak_decode: tuple[tuple[float, ...], ...] = ()
    """As above, of answers that something disturbed; kept until a better one comes."""
    weak_prefill: tuple[tuple[float, ...], ...] = ()


def is_plausible_decode(point: tuple[float, ...]) -> bool:
    """Return whether an answer can have shown this of writing, as `KeptAnswers` has it."""
    if len(point) not in (4, 5):
        return False
    layers, weights, cache, seconds, tokens = (*point, 0.0)[:5]
    return (
        1 <= layers <= MOST_LAYERS
        and 1 <= weights <= MOST_BYTES
        and 0 <= cache <= MOST_BYTES
        and LEAST_SECONDS <= seconds <= MOST_SECONDS
        and 0 <= tokens <= MOST_TOKENS
    )


def is_plausible_prefill(point: tuple[float, ...]) -> bool:
    """Return whether a prompt can have been read so, as `KeptAnswers` has it."""
    if len(point) not in (2, 5):
        return False
    tflops, tokens, depth, layers, weights = (*point, 0.0, 0.0, 0.0)[:5]
    return (
        LEAST_TFLOPS <= tflops <= MOST_TFLOPS
        and 1 <= tokens <= MOST_TOKENS
        and 0 <= depth <= MOST_TOKENS
        and 0 <= layers <= MOST_LAYERS
        and 0 <= weights <= MOST_BYTES
    )


def is_plausible_rest(seconds: float) -> bool:
    """Return whether a first token can have taken so long beside reading its prompt."""
    return 0 <= seconds <= MOST_SECONDS
