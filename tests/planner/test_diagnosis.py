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
        "The answer ended before its first token: there is nothing to tell of its speed.",
    ),
    "an answer of a few tokens": (
        figures(tokens=3),
        CPU,
        "Too few tokens to tell where the time goes: 3 in 0.2 s.",
    ),
    "one token has no rate": (
        figures(tokens=1, rate=None),
        CPU,
        "Too few tokens to tell where the time goes: 1 in 0.1 s.",
    ),
    "it waited for another answer": (
        figures(queue=9000),
        CPU,
        "Time went to waiting: 9.0 of 13.1 s passed before the engine was free for this answer.",
    ),
    "a cancelled answer that had waited": (
        figures(tokens=0, rate=None, queue=9000),
        CPU,
        "Time went to waiting: 9.0 of 9.1 s passed before the engine was free for this answer.",
    ),
    "the first answer after a load": (
        LONG_PROMPT,
        msgspec.structs.replace(CPU, first_after_load=True),
        (
            "Time went to prefill: 6.0 of 6.4 s. The first answer after a load usually starts slower; the next one tells "
            "more."
        ),
    ),
    "a long prompt on the processor": (
        LONG_PROMPT,
        CPU,
        (
            "Time went to prefill: 1,900 of 2,000 tokens were not in the cache, 6.0 of 6.4 s. An unchanged beginning is "
            "reused; a shorter prompt or a GPU would help."
        ),
    ),
    "a long prompt on the GPU": (
        LONG_PROMPT,
        GPU,
        (
            "Time went to prefill: 1,900 of 2,000 tokens were not in the cache, 6.0 of 6.4 s. An unchanged beginning is "
            "reused; a shorter prompt would help."
        ),
    ),
    "a long prompt on half a GPU": (
        LONG_PROMPT,
        SPLIT,
        "Time went to prefill: 6.0 of 6.4 s for 1,900 of 2,000 tokens. More layers on the GPU would help most.",
    ),
    "a long prompt beside an idle GPU": (
        LONG_PROMPT,
        IDLE,
        "Time went to prefill: 6.0 of 6.4 s for 1,900 of 2,000 tokens. More layers on the GPU would help most.",
    ),
    "a long question in a chat that is cached": (
        figures(tokens=21, prefill=6000, prompt=2000, cached=1500),
        CPU,
        "Time went to prefill: 6.0 of 6.4 s for 500 new tokens. A shorter question would help.",
    ),
    "a slow prefill of next to nothing": (
        figures(tokens=21, prefill=6000, prompt=2000, cached=1999),
        CPU,
        (
            "Time went to prefill: 6.0 of 6.4 s, unusually long for so few new tokens (1). Other programs may "
            "have used the machine."
        ),
    ),
    "few tokens after a long prefill": (
        figures(tokens=2, prefill=6000, prompt=2000, cached=0),
        GPU,
        (
            "Time went to prefill: 2,000 of 2,000 tokens were not in the cache, 6.0 of 6.0 s. An unchanged beginning is "
            "reused; a shorter prompt would help."
        ),
    ),
    "decode on the processor, memory unknown": (
        figures(),
        CPU,
        (
            "Time went to decode: 4.0 of 4.1 s, reading 5.0 GB/s. A smaller quantisation reads less for each token; a GPU "
            "reads faster."
        ),
    ),
    "decode on the GPU, memory unknown": (
        figures(),
        GPU,
        "Time went to decode: 4.0 of 4.1 s, reading 5.0 GB/s. A smaller quantisation reads less for each token.",
    ),
    "decode that waits for memory": (
        figures(traffic=15.0),
        msgspec.structs.replace(CPU, memory_gb_per_s=20.0),
        (
            "Time went to decode: 4.0 of 4.1 s. It read 15.0 of the 20 GB/s that memory gives: a smaller quantisation or a "
            "GPU would help."
        ),
    ),
    "decode that waits for the GPU's memory": (
        figures(traffic=150.0),
        msgspec.structs.replace(GPU, memory_gb_per_s=200.0),
        (
            "Time went to decode: 4.0 of 4.1 s. It read 150.0 of the 200 GB/s that memory gives: a smaller quantisation "
            "would help."
        ),
    ),
    "decode that does not wait for memory": (
        figures(traffic=5.0),
        msgspec.structs.replace(CPU, memory_gb_per_s=20.0),
        "Time went to decode: 4.0 of 4.1 s. It read 5.0 of the 20 GB/s that memory gives, so memory was not the limit.",
    ),
    "decode near neither end claims nothing": (
        figures(traffic=10.0),
        msgspec.structs.replace(GPU, memory_gb_per_s=20.0),
        "Time went to decode: 4.0 of 4.1 s, reading 10.0 GB/s. A smaller quantisation reads less for each token.",
    ),
    "decode with few layers on the GPU": (
        figures(),
        SPLIT,
        (
            "Time went to decode: 4.0 of 4.1 s. Only 12 of 31 layers are on the GPU: a smaller context or quantisation "
            "makes room for more."
        ),
    ),
    "decode beside an idle GPU": (
        figures(),
        IDLE,
        "Time went to decode: 4.0 of 4.1 s. No layer is on the GPU: it would help most.",
    ),
    "decode of a model whose bytes are unknown": (
        figures(traffic=None),
        CPU,
        "Time went to decode: 4.0 of 4.1 s, at 50.0 tok/s. A smaller model or quantisation is usually faster.",
    ),
    "decode of a very long chat": (
        figures(),
        msgspec.structs.replace(CPU, weight_bytes_per_token=4_000_000),
        (
            "Time went to decode: 4.0 of 4.1 s. Each token reads more of the cache than of the weights: a shorter chat or "
            "a quantised cache would help."
        ),
    ),
}


@pytest.mark.parametrize(("metrics", "circumstances", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_case_has_its_sentence(metrics: Metrics, circumstances: Circumstances, sentence: str) -> None:
    assert diagnose(metrics, circumstances).english() == sentence


def test_template_and_tokens_can_take_the_most() -> None:
    metrics = figures(tokens=0)
    metrics = msgspec.structs.replace(metrics, sampled_tokens=21, ttft_parts_ms=TtftParts(0.0, 5000, 90.0, 1.0, 0.0))
    told = diagnose(metrics, CPU).english()
    assert told == "Time went to preparing the prompt: 5.0 of 5.5 s. A shorter chat is prepared faster."


def test_no_sentence_is_longer_than_there_is_room_for() -> None:
    assert max(len(sentence) for _, _, sentence in CASES.values()) <= 175
