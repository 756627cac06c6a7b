"""What a model, or some of its layers, gives a machine to do: bytes read for a token, and operations for a prompt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from app.core.model import KV_ELEMENT_BYTES
from app.planner.model_parts import LayerCache, LayerWeights, PlannedWeights
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel

ATTENTION_COST = 1.25
"""An operation of attention takes so much longer: with it the published prefill of an 8B falls as measured, to 128k."""
STATE_NUMBER_BYTES = 4
"""Recurrent states are kept as 32-bit numbers whatever the type of the cache."""


class ModelWork(msgspec.Struct, frozen=True):
    """The work of all layers that one device has; bytes as they lie in its memory."""

    layers: int
    dense_bytes: int
    """Weights that every step reads once, the output head counted and a token embedding of its own not."""
    full_bytes: float = 0.0
    """Cache bytes that one token adds in layers which keep every token."""
    window_bytes: float = 0.0
    """Cache bytes of one token in layers which keep a sliding window."""
    window: int = 0
    """Tokens of that window."""
    state_bytes: int = 0
    """Recurrent state of one sequence: read and written by every step."""
    expert_bytes: int = 0
    """All routed experts of a mixture together."""
    experts: int = 0
    experts_used: int = 0
    parameters: float = 0.0
    """Weights that one token is multiplied with, without its embedding and without the output head."""
    head_parameters: float = 0.0
    """Weights of the output head, which a prompt needs once."""
    full_width: float = 0.0
    """Sum over the layers that keep every token of heads times the mean width of a key and a value."""
    window_width: float = 0.0
    """The same of those with a window."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.dense_bytes + self.expert_bytes <= 0

    @property
    def is_mixture(self) -> bool:
        """Whether some of its experts work on each token."""
        return self.expert_bytes > 0 and self.experts > 0

    def expert_share(self, tokens: int = 1) -> float:
        """Return the share of the experts that a step with so many tokens reads, each choosing for itself.

        Distinct experts of n: n (1 - (1 - used / n)^tokens).
        """
        if not self.is_mixture:
            return 1.0
        idle = 1 - min(1.0, max(0, self.experts_used) / self.experts)
        return 1 - math.pow(idle, max(1, tokens))

    def weight_bytes(self, tokens: int = 1) -> float:
        """Return the bytes of weights that a step with so many tokens reads."""
        return self.dense_bytes + self.expert_bytes * self.expert_share(tokens)

    def cache_bytes(self, context: int) -> float:
        """Return the cache bytes that one step of one sequence reads, and writes of its state, with so many tokens."""
        tokens = max(0, context)
        windowed = min(tokens, self.window) if self.window > 0 else tokens
        return self.full_bytes * tokens + self.window_bytes * windowed + 2 * self.state_bytes

    def operations(self, tokens: int, depth: int) -> float:
        """Return the floating-point operations for so many new tokens behind `depth` others.

        2 P n + 4 (layers x heads x width) n (depth + n / 2), the latter times what attention is slower than matrices.
        """
        new, old = max(0, tokens), max(0, depth)
        behind = old + new / 2
        windowed = min(behind, float(self.window)) if self.window > 0 else behind
        attention = 4 * new * (self.full_width * behind + self.window_width * windowed)
        return 2 * (self.parameters * new + (self.head_parameters if new else 0)) + ATTENTION_COST * attention


class SplitWork(msgspec.Struct, frozen=True):
    """The work of a model by where its layers lie."""

    on_gpu: ModelWork
    on_processor: ModelWork


def split_work(model: PlannedModel, options: PlanOptions, gpu_layers: int = -1) -> SplitWork | None:
    """Return the work of a model with so many layers on GPUs, the output layer counted; -1 is all, None is unknown.

    llama.cpp gives a GPU the output layer first and then the last blocks.
    """
    everything = len(model.weights.layers) + 1 if model.weights is not None else 0
    on_gpu = everything if gpu_layers < 0 else min(gpu_layers, everything)
    works = work_by_place(model, options, (*(None,) * (everything - on_gpu), *(0,) * on_gpu))
    if works is None:
        return None
    return SplitWork(works[0] if on_gpu else _work(model, options, (), has_head=False), works[None])


def work_by_place(
    model: PlannedModel, options: PlanOptions, where: Sequence[int | None]
) -> Mapping[int | None, ModelWork] | None:
    """Return the work of each GPU that has something to do, by its number, and of the processor (None); None is unknown.

    `where` tells the place of each block, and last of the output layer, as `layout.places` does.
    """
    weights = model.weights
    if weights is None or not weights.layers or len(model.cache) != len(weights.layers):
        return None
    works: dict[int | None, ModelWork] = {}
    for at in (None, *sorted({gpu for gpu in where if gpu is not None})):
        blocks = [block for block in range(len(weights.layers)) if where[block] == at]
        has_head = where[-1] == at
        works[at] = _work(model, options, blocks, has_head=has_head)
        moved = [block for block in blocks if options.moves_experts(block)]
        if moved and at is not None:
            its_work = _work(model, options, moved, has_head=False)
            works[at], works[None] = _with_experts_moved(works[at], works[None], its_work)
    return works


def _with_experts_moved(gpu: ModelWork, processor: ModelWork, layers: ModelWork) -> tuple[ModelWork, ModelWork]:
    """Return the work where the experts of some of a GPU's layers stay in main memory and everything else is as it was."""
    read, all_read = layers.expert_bytes * layers.expert_share(), layers.weight_bytes()
    moved = layers.parameters * read / all_read if all_read else 0.0
    return (
        msgspec.structs.replace(
            gpu, expert_bytes=gpu.expert_bytes - layers.expert_bytes, parameters=gpu.parameters - moved
        ),
        msgspec.structs.replace(
            processor,
            layers=processor.layers + (layers.layers if layers.is_mixture else 0),
            expert_bytes=processor.expert_bytes + layers.expert_bytes,
            parameters=processor.parameters + moved,
        ),
    )


def _work(model: PlannedModel, options: PlanOptions, blocks: Sequence[int], has_head: bool) -> ModelWork:
    weights = model.weights or PlannedWeights()
    layers = [weights.layers[block] for block in blocks]
    caches = [model.cache[block] for block in blocks]
    full = [cache for cache in caches if not cache.is_window]
    windowed = [cache for cache in caches if cache.is_window]
    head_bytes = weights.output + weights.rest if has_head else 0
    states = sum(cache.is_recurrent for cache in caches)
    parameters, head = _parameters(model, weights, layers)
    return ModelWork(
        layers=len(layers),
        dense_bytes=head_bytes + sum(layer.dense for layer in layers),
        full_bytes=sum(_row_bytes(cache, options) for cache in full),
        window_bytes=sum(_row_bytes(cache, options) for cache in windowed),
        window=model.window,
        state_bytes=states * STATE_NUMBER_BYTES * (model.state.shift + model.state.memory),
        expert_bytes=sum(layer.experts for layer in layers),
        experts=weights.experts,
        experts_used=weights.experts_used,
        parameters=parameters,
        head_parameters=head if has_head else 0.0,
        full_width=sum(_width(cache, model) for cache in full),
        window_width=sum(_width(cache, model) for cache in windowed),
    )


def _parameters(model: PlannedModel, weights: PlannedWeights, layers: Sequence[LayerWeights]) -> tuple[float, float]:
    """Return the parameters of some layers, and of the output head: those of a token, by its share of the bytes.

    Where their number is not told, a weight counts as the 4.85 bits of Q4_K_M.
    """
    used = weights.experts_used / weights.experts if weights.experts else 1.0
    head = float((model.embedding or 0) * (model.vocabulary or 0))
    read_all = sum(layer.dense + layer.experts * used for layer in weights.layers)
    read = sum(layer.dense + layer.experts * used for layer in layers)
    outside = head if weights.is_tied else 2 * head
    active = model.active_parameters or model.parameters
    in_layers = max(0.0, active - outside) if active else read_all * 8 / 4.85
    file = read_all + weights.host
    return (in_layers * read / file if file else 0.0), head


def _row_bytes(cache: LayerCache, options: PlanOptions) -> float:
    """Return the bytes that one token has in a layer; one that looks at another layer's cache reads that, too."""
    keys = cache.kv_heads * cache.key_width * KV_ELEMENT_BYTES[options.kv_type_k]
    return keys + cache.kv_heads * cache.value_width * KV_ELEMENT_BYTES[options.kv_type_v]


def _width(cache: LayerCache, model: PlannedModel) -> float:
    if cache.kv_heads == 0:
        return 0.0
    value = cache.value_width or model.latent_width or cache.key_width
    return (model.heads or cache.kv_heads) * (cache.key_width + value) / 2
