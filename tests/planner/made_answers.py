"""Figures of answers that never were, and what was around them: one value for each thing that can be slow."""

from __future__ import annotations

from typing import Any

import msgspec

from app.core.circumstances import Circumstances
from app.core.metrics import ItlQuantiles, KVUse, Metrics, TtftParts

WEIGHTS = 98_000_000
CPU = Circumstances(gpu_is_there=False, all_layers=31, weight_bytes_per_token=WEIGHTS, threads=4, cores=4)
GPU = msgspec.structs.replace(CPU, gpu_is_there=True, gpu_layers=31)
SPLIT = msgspec.structs.replace(CPU, gpu_is_there=True, gpu_layers=12)
IDLE = msgspec.structs.replace(CPU, gpu_is_there=True)


def figures(
    tokens: int = 201,
    rate: float | None = 20.0,
    prefill: float = 100.0,
    prompt: int = 40,
    cached: int = 12,
    queue: float = 0.1,
    **others: Any,
) -> Metrics:
    """Return the figures of an answer that decoded for 10 s at 20 tok/s, unless told otherwise."""
    known: dict[str, Any] = {
        "ttft_ms": 112.4,
        "ttft_parts_ms": TtftParts(queue, 0.8, prefill, 12.0, 0.0, save=0.4),
        "prompt_tokens": prompt,
        "prompt_tokens_from_cache": cached,
        "prefill_tokens_per_s": None,
        "decode_tokens_per_s": rate,
        "sampled_tokens": tokens,
        "itl_ms": ItlQuantiles(20.0, 22.0, 30.0),
        "kv": KVUse(241, 4096, 5_000_000),
        "memory": (),
        "traffic_gb_per_s": 5.0,
    }
    return Metrics(**{**known, **others})


def around(base: Circumstances = CPU, **others: Any) -> Circumstances:
    """Return circumstances with other values."""
    return msgspec.structs.replace(base, **others)
