"""How a planned model would be loaded: what of the options makes a difference to memory. Plain values."""

from __future__ import annotations

import msgspec

from app.core.model import CONTEXT_STEP, KVType, LoadOptions


class PlanOptions(msgspec.Struct, frozen=True):
    """A configuration to plan."""

    context: int
    """Cells of the KV cache, for all sequences together; rounded up to 256."""
    kv_type_k: KVType = "f16"
    kv_type_v: KVType = "f16"
    sequences: int = 1
    """Conversations or lanes at once."""
    unified: bool = True
    """Whether all sequences share the cells; otherwise each has its equal part."""
    gpu_layers: int | None = None
    """Layers on GPUs, the output layer counted; None is as many as fit, -1 all of them."""
    experts_on_cpu: int = 0
    """Layers whose experts lie in main memory, the first ones; -1 is all."""
    micro_batch: int = 512
    flash_attention: bool = True

    @property
    def cells(self) -> int:
        """The context as llama.cpp rounds it."""
        return -(-max(1, self.context) // CONTEXT_STEP) * CONTEXT_STEP

    def moved(self, blocks: int) -> int:
        """Return of how many of so many layers the experts lie in main memory wherever the layers do."""
        return blocks if self.experts_on_cpu < 0 else min(self.experts_on_cpu, blocks)

    def moves_experts(self, layer: int) -> bool:
        """Whether the experts of a layer, counted from 0, lie in main memory wherever the layer does."""
        return self.experts_on_cpu < 0 or layer < self.experts_on_cpu


def plan_options(options: LoadOptions, trained_context: int | None, sequences: int = 1) -> PlanOptions:
    """Return the part of a load's options that a plan looks at; flash attention “auto” counts as on."""
    return PlanOptions(
        context=options.cells(trained_context),
        kv_type_k=options.kv_type_k,
        kv_type_v=options.kv_type_v,
        sequences=sequences,
        gpu_layers=options.gpu_layers,
        experts_on_cpu=options.experts_on_cpu,
        micro_batch=options.micro_batch,
        flash_attention=options.flash_attention != "off",
    )
