"""The figures of one answer, defined once; unknown is None, never NaN and never infinity."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.circumstances import Circumstances

MIN_PREFILL_TOKENS = 16
"""Below so many evaluated tokens a prefill speed says nothing."""
StopReason = Literal["end", "length", "stop_string", "cancelled", "context_full"]
OPEN_ENDS: frozenset[StopReason] = frozenset({"length", "cancelled", "context_full"})
"""Ends that something other than the model brought about: nothing in the text leads to them."""


class TtftParts(msgspec.Struct, frozen=True, gc=False):
    """Parts of the time to the first token, in ms; `save` and `paint` are added by who saves and shows."""

    queue: float
    tokens: float
    """Template and tokenise."""
    prefill: float
    first_sample: float | None
    held_back: float | None
    """First sampled token to the first visible character."""
    save: float | None = None
    paint: float | None = None
    template: float | None = None
    """What of `tokens` went into the chat template; None where there was none, or nobody took the time."""


class ItlQuantiles(msgspec.Struct, frozen=True, gc=False):
    """Inter-token latency in ms: gaps between neighbouring tokens."""

    p50: float
    p95: float
    p99: float


class KVUse(msgspec.Struct, frozen=True, gc=False):
    """The KV cache after the answer; bytes are those of the cells in use."""

    cells_used: int
    cells: int
    bytes: int | None
    window_cells_used: int | None = None
    """Cells in use of the layers with a sliding window; None where there are none."""
    window_cells: int | None = None
    checkpoints: int = 0
    """Saved states to rewind to."""
    checkpoint_bytes: int = 0


class ItlDrift(msgspec.Struct, frozen=True, gc=False):
    """Median gap between neighbouring tokens in ms, of the first and of the last quarter of an answer."""

    begin: float
    end: float


class PageIns(msgspec.Struct, frozen=True, gc=False):
    """What the engine waited for from the disk during one answer; bytes are None where the system does not tell."""

    prefill_faults: int
    """Page faults that had to read."""
    decode_faults: int
    prefill_bytes: int | None = None
    decode_bytes: int | None = None


class CacheReuse(msgspec.Struct, frozen=True, gc=False):
    """What the cells held when a prompt came, in tokens."""

    held: int
    shared: int
    """How many of them the prompt begins with; fewer can be kept where a cache cannot rewind."""
    from_disk: int = 0
    """How many of these came back from disk, where the chat was kept."""


class Loading(msgspec.Struct, frozen=True, gc=False):
    """How the model was loaded that wrote an answer: what its figures do not say by themselves."""

    gpu_layers: int
    """Layers on the GPU, the output layer counted."""
    all_layers: int
    """All of them, the output layer counted."""
    threads: int
    weight_bytes_per_token: int | None = None
    is_first: bool = False
    """Whether the answer was the first one after the load."""


class DeviceMemory(msgspec.Struct, frozen=True, gc=False):
    """The engine's own buffers on one device, in bytes, as llama.cpp reported them when it made them; None is none, or unknown."""

    device: str
    weights: int | None
    kv: int | None
    compute: int | None
    state: int | None = None
    """State of recurrent layers, beside `kv`."""
    output: int | None = None
    complete: bool = True
    """Whether every part is known: then one that is None is not there."""

    @property
    def total(self) -> int | None:
        """All of it together; None where a part is unknown."""
        if not self.complete:
            return None
        known = [size for size in (self.weights, self.kv, self.compute, self.state, self.output) if size is not None]
        return sum(known) if known else None


class Metrics(msgspec.Struct, frozen=True, gc=False):
    """Every figure of one answer; the clocks are the engine's, taken after synchronising."""

    ttft_ms: float | None
    """Request to the first visible character; None when nothing became visible."""
    ttft_parts_ms: TtftParts
    prompt_tokens: int
    prompt_tokens_from_cache: int
    prefill_tokens_per_s: float | None
    """Evaluated prompt tokens / prefill time; None below 16 evaluated tokens."""
    decode_tokens_per_s: float | None
    """(n - 1) / (time of last token - time of first); None for answers of one token."""
    sampled_tokens: int
    """Sampled tokens, the end token included."""
    itl_ms: ItlQuantiles | None
    kv: KVUse
    memory: tuple[DeviceMemory, ...]
    traffic_gb_per_s: float | None
    """(bytes of weights read for a token + KV bytes in use) x decode tok/s, in 10^9 bytes/s."""
    sampling_ms: float | None = None
    """What all draws took together, from a row of logits to its token; None where nobody took the time."""
    drift: ItlDrift | None = None
    """None where an answer has too few tokens to tell, or nobody took their times."""
    decode_cpu_s: float | None = None
    """Time of cores that the engine's process got while the answer was written; its threads never rest by themselves."""
    page_ins: PageIns | None = None
    """None where the system does not tell, or nobody asked it."""
    reuse: CacheReuse | None = None
    loading: Loading | None = None
    parts: int = 1
    """In so many parts it was drawn: before the first token of each there is no gap."""
    held_ms: float | None = None
    """For how long it waited for somebody, or for its pace, which no other figure counts; None where nobody took the time."""
    circumstances: Circumstances | None = None
    """What was around it, as whoever saw it written kept it."""

    @property
    def gaps(self) -> int:
        """How many gaps between neighbouring tokens the decode has."""
        return max(0, self.sampled_tokens - max(1, self.parts))

    @property
    def decode_s(self) -> float | None:
        """How long the decode took; None where its speed is unknown."""
        return self.gaps / self.decode_tokens_per_s if self.decode_tokens_per_s else None
