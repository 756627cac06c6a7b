"""What the figures of an answer do not say: the machine and the load that it was written with, and what was before it."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.devices import GpuLimit

UnusedCache = Literal[
    "edited", "other_chat", "system_prompt", "cut_turns", "cannot_rewind", "reloaded", "comparison", "reproduction"
]
"""Why tokens that had been read before were read again."""


LAST_TOKEN = 1
"""The last token of a prompt is evaluated in any case: only a decode gives logits."""


class Circumstances(msgspec.Struct, frozen=True, omit_defaults=True):
    """None is unknown; kept with the figures of an answer, so that it is seen the same whenever it is looked at."""

    gpu_is_there: bool | None = None
    """Whether the machine has a GPU that this build can use."""
    gpu_layers: int = 0
    """Layers on the GPU, the output layer counted."""
    all_layers: int = 0
    """All of them, the output layer counted."""
    weight_bytes_per_token: int | None = None
    first_after_load: bool = False
    """Whether it was the first answer since the model was loaded."""
    memory_gb_per_s: float | None = None
    """The most that the memory which holds the weights gives, where it was measured."""
    threads: int | None = None
    cores: int | None = None
    """Cores that are worth a thread."""
    micro_batch: int | None = None
    kv_is_f16: bool | None = None
    """Whether keys and values are kept unquantised."""
    locks_memory: bool = False
    """Whether the weights are held in main memory."""
    checkpoints: int | None = None
    """How many states a cache that cannot rewind may save; None for one that can."""
    unused_cache: UnusedCache | None = None
    read_again: int = 0
    """Tokens that the cache had held and that were evaluated once more."""
    window_busy_s: float | None = None
    """Time of a core that the window took while the answer was written."""
    gpu_limits: frozenset[GpuLimit] = frozenset()
    """What held the GPU's clock down in most of the samples meanwhile."""
    gpu_used_bytes: int | None = None
    """What all programs held on the GPUs that have a part of the model."""
    gpu_buffer_bytes: int | None = None
    """What the engine set aside on these."""
    expected: tuple[float, float, float] | None = None
    """Decode in tokens/s as earlier answers on this machine let one expect, and the band around it."""
    expected_prefill_s: tuple[float, float, float] | None = None
    """Seconds that the prompt should have taken to be read, by the same, and the band around them."""
    top_k_is_off: bool = False
    has_grammar: bool = False

    @property
    def is_split(self) -> bool:
        """Whether some layers are on the GPU and some are not."""
        return 0 < self.gpu_layers < self.all_layers

    @property
    def leaves_gpu_idle(self) -> bool:
        """Whether there is a GPU and the model uses none of it."""
        return self.gpu_is_there is True and self.gpu_layers == 0

    @property
    def has_too_many_threads(self) -> bool:
        """Whether there are more threads than cores for them, where the processor computes at all."""
        computes = self.gpu_layers < self.all_layers or not self.all_layers
        return computes and self.threads is not None and self.cores is not None and self.threads > self.cores
