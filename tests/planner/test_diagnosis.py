"""Where the time of an answer went, one sentence a case."""

from __future__ import annotations

import msgspec
import pytest

from app.core.metrics import ItlQuantiles, KVUse, Metrics, TtftParts
from app.planner.diagnosis import Circumstances, diagnose

CPU = Circumstances(gpu_is_there=False, all_layers=31, weight_bytes_per_token=98_000_000)
GPU = Circumstances(gpu_is_there=True, gpu_layers=31, all_layers=31, weight_bytes_per_token=98_000_000)
SPLIT = Circumstances(gpu_is_there=True, gpu_layers=12, all_layers=31, weight_bytes_per_token=98_000_000)
IDLE = Circumstances(gpu_is_there=True, all_layers=31, weight_bytes_per_token=98_000_000)


def figures(
    tokens: int = 201,
    rate: float | None = 50.0,
    prefill: float = 100.0,
    prompt: int = 40,
    cached: int = 12,
    queue: float = 0.1,
    traffic: float | None = 5.0,
) -> Metrics:
    """Return the figures of an answer that decoded for 4 s, unless told otherwise."""
    return Metrics(
        ttft_ms=112.4,
        ttft_parts_ms=TtftParts(queue, 0.8, prefill, 12.0, 0.0, save=0.4),
        prompt_tokens=prompt,
        prompt_tokens_from_cache=cached,
        prefill_tokens_per_s=None,
        decode_tokens_per_s=rate,
        sampled_tokens=tokens,
        itl_ms=ItlQuantiles(20.0, 22.0, 30.0),
        kv=KVUse(241, 4096, 5_000_000),
        memory=(),
        traffic_gb_per_s=traffic,
    )


LONG_PROMPT = figures(tokens=21, prefill=6000, prompt=2000, cached=100)

CASES = {
    "the first token never came": (
        figures(tokens=0, rate=None),
        CPU,
        "It ended before its first token: there is nothing to tell of its speed.",
    ),
    "an answer of a few tokens": (
        figures(tokens=3),
        CPU,
        "Too few tokens to tell where the time went: 3 in 0.2 s.",
    ),
    "one token has no rate": (
        figures(tokens=1, rate=None),
        CPU,
        "Too few tokens to tell where the time went: 1 in 0.1 s.",
    ),
    "it waited for another answer": (
        figures(queue=9000),
        CPU,
        "Waiting took 9.0 of 13.1 s: the engine was not free for this answer before.",
    ),
    "a cancelled answer that had waited": (
        figures(tokens=0, rate=None, queue=9000),
        CPU,
        "Waiting took 9.0 of 9.1 s: the engine was not free for this answer before.",
    ),
    "the first answer after a load": (
        LONG_PROMPT,
        msgspec.structs.replace(CPU, first_after_load=True),
        "Reading (prefill) took 6.0 of 6.4 s; the first answer after a load is often slower.",
    ),
    "a long prompt on the processor": (
        LONG_PROMPT,
        CPU,
        "Reading 1,900 tokens (prefill) took 6.0 of 6.4 s; a shorter chat or a GPU helps.",
    ),
    "a long prompt on the GPU": (
        LONG_PROMPT,
        GPU,
        "Reading 1,900 tokens (prefill) took 6.0 of 6.4 s; a shorter chat would help.",
    ),
    "a long prompt on half a GPU": (
        LONG_PROMPT,
        SPLIT,
        "Reading (prefill) took 6.0 of 6.4 s; more layers on the GPU would help most.",
    ),
    "a long prompt beside an idle GPU": (
        LONG_PROMPT,
        IDLE,
        "Reading (prefill) took 6.0 of 6.4 s; more layers on the GPU would help most.",
    ),
    "a long question in a chat that is cached": (
        figures(tokens=21, prefill=6000, prompt=2000, cached=1500),
        CPU,
        "Reading 500 new tokens (prefill) took 6.0 of 6.4 s; a shorter question helps.",
    ),
    "a slow prefill of next to nothing": (
        figures(tokens=21, prefill=6000, prompt=2000, cached=1999),
        CPU,
        "Reading (prefill) took 6.0 of 6.4 s for little text; the computer may be busy.",
    ),
    "few tokens after a long prefill": (
        figures(tokens=2, prefill=6000, prompt=2000, cached=0),
        GPU,
        "Reading 2,000 tokens (prefill) took 6.0 of 6.0 s; a shorter chat would help.",
    ),
    "decode on the processor, memory unknown": (
        figures(),
        CPU,
        "Writing (decode) took 4.0 of 4.1 s; a smaller model file or a GPU would be faster.",
    ),
    "decode on the GPU, memory unknown": (
        figures(),
        GPU,
        "Writing (decode) took 4.0 of 4.1 s; a smaller model file would be faster.",
    ),
    "decode that waits for memory": (
        figures(traffic=15.0),
        msgspec.structs.replace(CPU, memory_gb_per_s=20.0),
        "Writing (decode) took 4.0 of 4.1 s; memory is the limit: a smaller file or a GPU helps.",
    ),
    "decode that waits for the GPU's memory": (
        figures(traffic=150.0),
        msgspec.structs.replace(GPU, memory_gb_per_s=200.0),
        "Writing (decode) took 4.0 of 4.1 s; memory is the limit: a smaller file helps.",
    ),
    "decode that does not wait for memory": (
        figures(traffic=5.0),
        msgspec.structs.replace(CPU, memory_gb_per_s=20.0),
        "Writing (decode) took 4.0 of 4.1 s; memory was not the limit (5.0 of 20 GB/s).",
    ),
    "decode near neither end claims nothing": (
        figures(traffic=10.0),
        msgspec.structs.replace(GPU, memory_gb_per_s=20.0),
        "Writing (decode) took 4.0 of 4.1 s; a smaller model file would be faster.",
    ),
    "decode with few layers on the GPU": (
        figures(),
        SPLIT,
        "Writing (decode) took 4.0 of 4.1 s; 12 of 31 layers are on the GPU: more would help.",
    ),
    "decode beside an idle GPU": (
        figures(),
        IDLE,
        "Writing (decode) took 4.0 of 4.1 s; no layer is on the GPU: it would help most.",
    ),
    "decode of a model whose bytes are unknown": (
        figures(traffic=None),
        CPU,
        "Writing (decode) took 4.0 of 4.1 s; a smaller model file is usually faster.",
    ),
    "decode of a very long chat": (
        figures(),
        msgspec.structs.replace(CPU, weight_bytes_per_token=4_000_000),
        "Writing (decode) took 4.0 of 4.1 s, rereading a long chat: a shorter one is faster.",
    ),
}


@pytest.mark.parametrize(("metrics", "circumstances", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_case_has_its_sentence(metrics: Metrics, circumstances: Circumstances, sentence: str) -> None:
    assert diagnose(metrics, circumstances).english() == sentence


def test_template_and_tokens_can_take_the_most() -> None:
    metrics = figures(tokens=0)
    metrics = msgspec.structs.replace(metrics, sampled_tokens=21, ttft_parts_ms=TtftParts(0.0, 5000, 90.0, 1.0, 0.0))
    told = diagnose(metrics, CPU).english()
    assert told == "Preparing the prompt took 5.0 of 5.5 s; a shorter chat is prepared faster."


def test_no_sentence_is_longer_than_there_is_room_for() -> None:
    assert max(len(sentence) for _, _, sentence in CASES.values()) <= 90
