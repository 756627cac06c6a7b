"""Tokens per second of decode by two parameters: t = layers x tau + bytes / (bandwidth x efficiency).

Measured on 18 published runs of llama.cpp that had no part in it, the median error is 7 %; bandwidth alone promises half
as much again as comes out, on GPUs with fast memory many times as much.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from app.planner.gpu import GB, HELD_UP_HERE, MEASURED_HERE, MICROSECOND, TERA, Gpu, Limit, Speed
from app.planner.model_work import ModelWork

MIXTURE_COST = 1.3
"""Choosing and gathering experts: published mixtures take 1.2 to 1.4 times as long as their bytes."""
MIXTURE_BAND = 0.08
"""What that adds to a band."""
SEQUENCES_BAND = 0.15
"""What several sequences at once add to it: kernels for few rows differ from GPU to GPU."""
FAR_SLOWER = 0.5
"""Reading that takes more than twice as long as the memory would is not held up by the memory."""
MANY = 4
"""From more sequences than this on, that counts twice upwards."""
GPU_STEP = ((1, 1.0), (2, 1.12), (3, 1.22), (4, 1.35), (8, 1.7))
"""What reading the weights costs with so many sequences, beside one: published dense models, from 1.2 to 2.1 at eight."""
PROCESSOR_STEP = ((1, 1.0), (2, 1.95), (3, 2.5), (4, 2.5), (8, 4.2))
"""The same on a processor, where from four rows on matrices are multiplied as such."""
PROCESSOR_ROW = 0.45
"""And what each sequence adds there behind the last of them."""


class Part(msgspec.Struct, frozen=True):
    """Some layers of a model and the device that has them."""

    work: ModelWork
    gpu: Gpu


class _Step(msgspec.Struct, frozen=True):
    """Seconds of one step on one device, by what they go into; the smallest that reading alone would take beside."""

    layers: float
    reading: float
    cache: float
    """Of reading, what goes to the past."""
    compute: float
    ceiling: float
    cost: float
    """What multiplies all of it."""

    @property
    def seconds(self) -> float:
        return (self.layers + self.reading + self.compute) * self.cost


def decode_speed(parts: Sequence[Part], context: int, sequences: int = 1) -> Speed | None:
    """Return how fast a token follows another with so many tokens in the cache of each sequence; None is unknown.

    `parts` work one after another, as llama.cpp splits by layers. The band is that of the devices, by the time of each.
    """
    count = max(1, sequences)
    busy = [part for part in parts if not part.work.is_empty]
    if not busy or any(part.gpu.effective_bandwidth <= 0 for part in busy):
        return None
    steps = [_step(part, max(0, context), count) for part in busy]
    seconds = sum(step.seconds for step in steps)
    if seconds <= 0:
        return None
    each, ceiling = 1 / seconds, 1 / sum(step.ceiling for step in steps)
    shares = [step.seconds / seconds for step in steps]
    below = sum(share * part.gpu.below for share, part in zip(shares, busy, strict=True))
    above = sum(share * part.gpu.above for share, part in zip(shares, busy, strict=True))
    wider = MIXTURE_BAND if any(part.work.is_mixture for part in busy) else 0.0
    more = 0.0 if count == 1 else SEQUENCES_BAND
    return Speed(
        tokens_per_s=each,
        low=each * max(0.1, 1 - below - wider - more),
        high=min(each * (1 + above + wider + (2 * more if count > MANY else more)), ceiling),
        ceiling=ceiling,
        limited_by=_limit(busy, steps, shares),
        sequences=count,
        cache_share=_cache_share(steps),
    )


def _cache_share(steps: Sequence[_Step]) -> float:
    reading = sum(step.reading for step in steps)
    return sum(step.cache for step in steps) / reading if reading > 0 else 0.0


def step_cost(sequences: int, is_processor: bool = False) -> float:
    """Return what reading the weights costs with so many sequences at once, beside one."""
    known = PROCESSOR_STEP if is_processor else GPU_STEP
    for (low, cost), (high, next_cost) in itertools.pairwise(known):
        if sequences <= high:
            return cost + (next_cost - cost) * max(0, sequences - low) / (high - low)
    most, cost = known[-1]
    return cost + (sequences - most) * (PROCESSOR_ROW if is_processor else 0.0)


def _step(part: Part, context: int, sequences: int) -> _Step:
    work, gpu = part.work, part.gpu
    cost = step_cost(sequences, gpu.is_processor)
    experts = work.expert_bytes * work.expert_share(sequences)
    cache = sequences * work.cache_bytes(context)
    weights = (work.dense_bytes * cost + experts) / gpu.effective_bandwidth
    past = cache * gpu.cache_cost / gpu.effective_bandwidth
    arithmetic = _arithmetic(work, gpu, sequences)
    return _Step(
        layers=work.layers * gpu.layer_us * MICROSECOND,
        reading=weights + past,
        cache=past,
        compute=max(0.0, arithmetic - weights),
        ceiling=(work.dense_bytes + experts + cache) / (gpu.bandwidth * GB),
        cost=MIXTURE_COST if work.is_mixture else 1.0,
    )


def _arithmetic(work: ModelWork, gpu: Gpu, sequences: int) -> float:
    """Return the seconds of the operations; one sequence never waits for them, and a lower bound limits nothing."""
    if sequences == 1 or not gpu.prefill_tflops or gpu.is_prefill_least:
        return 0.0
    return 2 * sequences * (work.parameters + work.head_parameters) / (gpu.prefill_tflops * TERA)


def _limit(parts: Sequence[Part], steps: Sequence[_Step], shares: Sequence[float]) -> Limit:
    """Return what takes the most of the time; a processor that holds a GPU up is named as such."""
    on_processor = sum(share for share, part in zip(shares, parts, strict=True) if part.gpu.is_processor)
    if on_processor > 0.5 and any(not part.gpu.is_processor for part in parts):
        return "processor"
    layers = sum(step.layers + step.seconds * (1 - 1 / step.cost) for step in steps)
    reading = sum(step.reading for step in steps)
    compute = sum(step.compute for step in steps)
    if compute > max(layers, reading):
        return "compute"
    if layers > reading:
        return "layers"
    slow = sum(step.reading for step, part in zip(steps, parts, strict=True) if _is_far_slower(step, part))
    return "pace" if slow > reading / 2 else "bandwidth"


def _is_far_slower(step: _Step, part: Part) -> bool:
    """Return whether answers here showed a device to read far less than its memory gives: then that does not limit it."""
    is_told = part.gpu.is_this_machine and part.gpu.sources.get("efficiency") in (MEASURED_HERE, HELD_UP_HERE)
    return is_told and step.ceiling < step.reading * FAR_SLOWER
