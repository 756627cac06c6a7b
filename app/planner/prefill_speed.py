"""Seconds of prefill by the operations of a prompt and what a GPU gets done of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from app.planner.decode_speed import Part
from app.planner.gpu import GB, MICROSECOND, TERA, Gpu, Limit, PrefillTime

LINK_GB_PER_S = 20.0
"""What weights in main memory reach a GPU with, over PCIe 4.0 x16 as it is used; 31.5 GB/s at best."""
OFFLOADED = 32
"""From so many tokens at once on llama.cpp has the GPU compute layers that lie in main memory (ggml-cuda)."""
SPLIT_BAND = 0.2
"""What that adds to a band: the link is not known."""
MOST_BAND = 0.9


class _Way(NamedTuple):
    """How one device's layers can be computed."""

    seconds: float
    limit: Limit
    band: float
    is_most: bool = False


def prefill_time(parts: Sequence[Part], prompt: int, cached: int = 0, micro_batch: int = 512) -> PrefillTime | None:
    """Return the time to the first token of a prompt, of which so many tokens are in the cache; None is unknown.

    At least one token of a prompt is evaluated, whatever is in the cache; few are read like a step of decode. Of a device
    whose arithmetic only short or disturbed prompts told, it is the most that it takes.
    """
    busy = [part for part in parts if not part.work.is_empty]
    length = max(0, prompt)
    tokens = max(min(1, length), length - max(0, cached))
    if not busy:
        return None
    helper = next((part.gpu for part in busy if not part.gpu.is_processor and part.gpu.prefill_tflops), None)
    taken = [_part(part, tokens, length - tokens, max(1, micro_batch), helper) for part in busy]
    known = [each for each in taken if each is not None]
    if len(known) != len(busy):
        return None
    seconds = sum(way.seconds for way in known)
    limit: Limit = max(known, key=attrgetter("seconds")).limit
    low = sum(way.seconds * (1 - way.band) for way in known)
    if any(way.is_most for way in known):
        high = sum(way.seconds if way.is_most else way.seconds / (1 - min(MOST_BAND, way.band)) for way in known)
        return PrefillTime(seconds, low, high, tokens, limit, is_most=True)
    band = min(MOST_BAND, 1 - low / seconds) if seconds else 0.0
    return PrefillTime(seconds, seconds * (1 - band), seconds / (1 - band), tokens, limit)


def _part(part: Part, tokens: int, depth: int, batch: int, helper: Gpu | None) -> _Way | None:
    """Return the seconds of one device's layers, what limits them, and the band; None where its speed is not known."""
    work, gpu = part.work, part.gpu
    if tokens == 0:
        return _Way(0.0, "compute", 0.0)
    if gpu.effective_bandwidth <= 0:
        return None
    rounds = math.ceil(tokens / batch)
    operations = work.operations(tokens, depth)
    weights = work.weight_bytes(min(tokens, batch))
    reading = rounds * (work.layers * gpu.layer_us * MICROSECOND + weights / gpu.effective_bandwidth)
    reading += rounds * work.cache_bytes(depth) * gpu.cache_cost / gpu.effective_bandwidth
    ways: list[_Way] = []
    if gpu.prefill_tflops:
        computing = operations / (gpu.prefill_tflops * TERA)
        limit: Limit = (
            "processor" if helper and gpu.is_processor else "compute" if computing > reading else "bandwidth"
        )
        seconds, is_most = max(computing, reading), gpu.is_prefill_least and computing > reading
        band = 1 - reading * (1 - gpu.below) / seconds if is_most else gpu.prefill_band
        ways.append(_Way(seconds, limit, band, is_most))
    elif tokens == 1:
        ways.append(_Way(reading, "bandwidth", max(gpu.prefill_band, gpu.below)))
    fetched = _fetched(part, max(tokens, OFFLOADED), depth, batch, helper)
    if fetched is None or (not ways and tokens < OFFLOADED):
        return min(ways) if ways else None
    fastest = min(*ways, fetched, key=attrgetter("seconds")) if ways else fetched
    if tokens < OFFLOADED and fastest is fetched:
        # so few are computed where they lie; that is the slow end, as a longer prompt is never promised sooner
        return fetched._replace(band=max(fetched.band, 1 - fetched.seconds / min(ways).seconds))
    return fastest


def _fetched(part: Part, tokens: int, depth: int, batch: int, helper: Gpu | None) -> _Way | None:
    """Return the same where a GPU fetches the layers of main memory and computes them; None where it does not."""
    if not part.gpu.is_processor or helper is None or not helper.prefill_tflops or batch < OFFLOADED:
        return None
    weights = part.work.weight_bytes(min(tokens, batch))
    copying = math.ceil(tokens / batch) * weights / (LINK_GB_PER_S * GB)
    seconds = copying + part.work.operations(tokens, depth) / (helper.prefill_tflops * TERA)
    return _Way(seconds, "processor", helper.prefill_band + SPLIT_BAND)
