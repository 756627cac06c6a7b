"""The time to the first token against published prefill, and how it falls with what lies before a prompt."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import PrefillTime
from app.planner.model_work import ModelWork, split_work
from app.planner.plan_options import PlanOptions
from app.planner.prefill_speed import prefill_time
from tests.planner.works import LLAMA_8B, PROCESSOR, TABLE, plain, planned_8b


def time_of(gpu: str, prompt: int, cached: int = 0) -> PrefillTime:
    time = prefill_time([Part(LLAMA_8B, TABLE[gpu])], prompt, cached)
    assert time is not None
    return time


@pytest.mark.parametrize(
    ("gpu", "least", "most"),
    [
        ("l4", 1.1, 1.3),
        ("l40s", 0.34, 0.38),
        ("a100-80-sxm", 0.29, 0.37),
        ("h100-sxm", 0.18, 0.21),
        ("h200", 0.18, 0.21),
        ("rtx-4090", 0.21, 0.31),
    ],
)
def test_ready_answers_for_an_8b_and_a_prompt_of_2048(gpu: str, least: float, most: float) -> None:
    time = time_of(gpu, 2048)
    assert least <= time.seconds <= most
    assert time.low < time.seconds < time.high and time.limited_by == "compute"
    assert time.tokens == 2048 and time.tokens_per_s == pytest.approx(2048 / time.seconds)


@pytest.mark.parametrize(
    ("gpu", "prompt", "published", "tolerance"),
    [
        ("rtx-3090", 1024, 3865, 0.03),
        ("l40s", 1024, 5909, 0.03),
        ("a100-80-pcie", 1024, 5800, 0.2),
        ("h100-pcie", 1024, 7760, 0.2),
        ("m2-ultra-64", 1024, 1024, 0.03),
        ("m4-16", 512, 225, 0.03),
        ("rtx-4090", 1024, 6899, 0.25),
        ("rtx-4090", 2048, 10359, 0.25),
    ],
)
def test_published_prefill_of_an_8b(gpu: str, prompt: int, published: int, tolerance: float) -> None:
    assert prompt / time_of(gpu, prompt).seconds == pytest.approx(published, rel=tolerance)


DEPTHS = ((0, 18788), (32768, 7925), (65536, 4996), (131072, 2868))
"""Published prefill of 2,048 tokens of an 8B behind so many, in tokens/s (pull request 19378)."""


@pytest.mark.parametrize(("depth", "published"), DEPTHS)
def test_prefill_falls_with_the_depth_as_published(depth: int, published: int) -> None:
    first, here = time_of("rtx-5090", 2048), time_of("rtx-5090", depth + 2048, depth)
    assert here.tokens == 2048
    assert first.seconds / here.seconds == pytest.approx(published / 18788, rel=0.05)


def test_operations_are_those_of_the_formula() -> None:
    counted = msgspec.structs.replace(LLAMA_8B, parameters=7.505e9, head_parameters=0.0)
    assert counted.operations(2048, 0) == pytest.approx(31.8e12, rel=0.02)
    assert LLAMA_8B.operations(0, 100) == 0
    windowed = ModelWork(32, 1, window=1024, window_width=1000.0)
    assert windowed.operations(1, 1 << 17) == windowed.operations(1, 1024)


def test_what_is_in_the_cache_is_not_read_again_but_one_token() -> None:
    whole, rest, nothing = time_of("l4", 8192), time_of("l4", 8192, 8000), time_of("l4", 8192, 8192)
    assert (rest.tokens, nothing.tokens) == (192, 1)
    assert nothing.seconds < rest.seconds < whole.seconds / 10
    beyond = time_of("l4", 100, 1000)
    assert beyond.tokens == 1
    assert time_of("l4", 0).seconds == 0 and time_of("l4", 0).tokens_per_s is None


def test_few_tokens_take_about_a_step_of_decode() -> None:
    speed = decode_speed([Part(LLAMA_8B, TABLE["rtx-4090"])], 0)
    assert speed is not None
    for tokens in (1, 8, 32):
        assert time_of("rtx-4090", tokens).seconds == pytest.approx(1 / speed.tokens_per_s, rel=0.01)
        assert time_of("rtx-4090", tokens).limited_by == "bandwidth"


def test_layers_off_the_gpu_are_fetched_or_computed_where_they_lie() -> None:
    split = split_work(planned_8b(), PlanOptions(context=8192), 17)
    assert split is not None
    on_gpu, rest = Part(split.on_gpu, TABLE["rtx-4090"]), Part(split.on_processor, PROCESSOR)
    whole, partly = time_of("rtx-4090", 2048), prefill_time([on_gpu, rest], 2048)
    assert partly is not None and partly.limited_by == "processor"
    bytes_fetched = 4 * split.on_processor.dense_bytes / 20e9
    assert partly.seconds == pytest.approx(whole.seconds + bytes_fetched, rel=0.1)
    few = prefill_time([on_gpu, rest], 16)
    assert few is not None and few.seconds < partly.seconds
    slow = msgspec.structs.replace(rest, gpu=msgspec.structs.replace(PROCESSOR, prefill_tflops=0.001))
    there, fetched = (prefill_time([on_gpu, slow], tokens) for tokens in (31, 32))
    assert there is not None and fetched is not None and there.high > 5 * fetched.high
    assert there.seconds <= fetched.seconds, "a longer prompt is not promised sooner"


@given(
    layers=st.integers(0, 33),
    batch=st.sampled_from([16, 64, 512]),
    cached=st.sampled_from([0, 100]),
    prompt=st.integers(1, 1200),
    more=st.integers(1, 600),
    gpu=st.sampled_from(["l4", "rtx-4090", "h100-sxm"]),
)
@example(layers=10, batch=512, cached=0, prompt=31, more=1, gpu="rtx-4090")
def test_a_longer_prompt_is_never_promised_a_sooner_first_token(
    layers: int, batch: int, cached: int, prompt: int, more: int, gpu: str
) -> None:
    work = split_work(planned_8b(), PlanOptions(8192), layers)
    assert work is not None
    parts = [Part(work.on_gpu, TABLE[gpu]), Part(work.on_processor, PROCESSOR)]
    short, long = (prefill_time(parts, tokens, cached, batch) for tokens in (prompt, prompt + more))
    assert short is not None and long is not None
    assert short.seconds <= long.seconds * (1 + 1e-9)


def test_unknown_arithmetic_says_nothing_of_a_prompt_but_of_one_token() -> None:
    part = Part(LLAMA_8B, plain(prefill_tflops=None))
    assert prefill_time([part], 512) is None
    assert prefill_time([part], 1) is not None
    assert prefill_time([], 512) is None
