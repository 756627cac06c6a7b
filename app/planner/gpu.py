"""What is known of a GPU, or of a processor that computes by itself: how much it holds, and how fast it works.

Two figures describe decode: the time that every layer costs whatever its size, and the share of the memory's bandwidth
that large matrices reach. One figure describes prefill: the floating-point operations that it really gets done.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

MemoryKind = Literal["own", "shared"]
"""Whether a GPU has memory of its own or shares the machine's."""
Family = Literal["data_centre", "workstation", "geforce", "radeon", "apple", "other"]
Limit = Literal["memory", "bandwidth", "layers", "compute", "processor", "pace"]
"""What limits a speed: space, reading memory, what each layer costs beside that, arithmetic, layers off the GPU, or a
machine that answers showed to be far slower than its memory."""

SourceKind = Literal["vendor", "measured", "extrapolated", "assumed", "entered", "told"]
"""The maker's figure; from runs, published or here; from those of a like GPU; experience; by people; by the machine."""

NOT_PUBLISHED = "not published"
"""Source of a figure that is None because nobody says it."""
MEASURED_HERE = "measured: answers on this machine"
"""Of one that answers here told."""
HELD_UP_HERE = "measured: answers on this machine that something held up"
"""And of one that only answers told which something held up, or a short prompt."""
CARRIED_OVER = "extrapolated: answers on a GPU of the same class in this machine"
"""And of one that they are carried over to."""
GB = 1e9
MICROSECOND = 1e-6
TERA = 1e12


class Gpu(msgspec.Struct, frozen=True):
    """One GPU with what it takes to plan for it; None is unknown."""

    id: str
    """What it is called in files and on the command line, such as “rtx-4090”."""
    name: str
    memory: int
    """Bytes as it is sold; of a machine that shares its memory, all of it."""
    usable: int
    """Bytes that llama.cpp can be given at most."""
    bandwidth: float
    """Of its memory at best, in 10^9 bytes/s."""
    tflops: float | None
    """Dense FP16 at best, in 10^12 operations/s."""
    layer_us: float
    """Microseconds of every layer beside reading its bytes: launches, synchronisation, small kernels."""
    efficiency: float
    """Share of the bandwidth that reading large matrices reaches, 0 to 1."""
    prefill_tflops: float | None
    """What prefill gets done, in 10^12 operations/s."""
    below: float
    """How far decode may be below what is predicted, as a share of it."""
    above: float
    """How far it may be above."""
    prefill_band: float
    """How far prefill may be off either way, as a share of it."""
    cache_cost: float = 1.0
    """How much longer a byte of the KV cache takes than one of the weights."""
    speed_class: str = ""
    """GPUs that behave alike beside their bandwidth: what was measured on one of them tells of the others."""
    family: Family = "other"
    memory_kind: MemoryKind = "own"
    is_processor: bool = False
    """Whether it is the processor with main memory."""
    is_this_machine: bool = False
    is_held_up: bool = False
    """Whether something held up every answer that told how fast it writes: meanwhile it is slower than its figures."""
    is_prefill_least: bool = False
    """Whether only short or disturbed prompts told what prefill gets done: at least so much, and nothing else is known."""
    is_memory_held_up: bool = False
    """Whether its memory was measured while other programs were busy: it gives at least its bandwidth, maybe more."""
    sources: dict[str, str] = {}
    """Where each figure comes from, by the name of its field."""

    def source_kind(self, figure: str) -> SourceKind | None:
        """Return what kind of source a figure has, by the name of its field; None where it has none."""
        source = self.sources.get(figure)
        if source is None or source == NOT_PUBLISHED:
            return None
        first = source.partition(":")[0].partition(",")[0].partition(" by ")[0]
        return next((kind for kind in get_args(SourceKind) if kind == first), "vendor")

    @property
    def shares_main_memory(self) -> bool:
        """Whether its memory is the machine's own."""
        return self.memory_kind == "shared"

    @property
    def effective_bandwidth(self) -> float:
        """Bytes/s that decode reads."""
        return self.bandwidth * GB * self.efficiency


class Speed(msgspec.Struct, frozen=True):
    """Tokens per second of decode for each of the sequences, with its band and the ceiling over it."""

    tokens_per_s: float
    low: float
    high: float
    ceiling: float
    """What bandwidth alone would allow: nothing but reading, at the memory's best."""
    limited_by: Limit
    sequences: int = 1
    """Decoded at once."""
    cache_share: float = 0.0
    """How much of the reading goes to the past: keys, values and states, not weights."""

    @property
    def together(self) -> float:
        """Tokens per second of all sequences."""
        return self.tokens_per_s * self.sequences


class PrefillTime(msgspec.Struct, frozen=True):
    """Seconds until a prompt is in the cache, which is nearly all of the time to the first token."""

    seconds: float
    low: float
    high: float
    tokens: int
    """What had to be evaluated: the prompt without what was in the cache."""
    limited_by: Limit
    is_most: bool = False
    """Whether it takes no longer, and how much less nobody knows; then the low end is what memory alone would allow."""

    @property
    def tokens_per_s(self) -> float | None:
        """Evaluated tokens per second; None where nothing had to be evaluated."""
        return self.tokens / self.seconds if self.seconds > 0 and self.tokens else None
