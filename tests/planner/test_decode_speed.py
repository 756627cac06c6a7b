"""Decode against published runs of llama.cpp, and what becomes of it with context, sequences and split layers."""

from __future__ import annotations

import statistics
from pathlib import Path

import msgspec
import pytest

from app.planner.decode_speed import MIXTURE_COST, Part, decode_speed, step_cost
from app.planner.gpu import Speed
from app.planner.model_work import ModelWork, split_work
from app.planner.plan_options import PlanOptions
from tests.bench import published_runs
from tests.bench.published_runs import HBM_RUNS, HELD_OUT, RUNS, Run, depth_errors, predicted
from tests.bench.setting import Setting
from tests.planner.works import LLAMA_8B, PROCESSOR, TABLE, mixture, plain, planned_8b

HELD_OUT_SPEEDS = (218, 143, 264, 140, 119, 218, 109, 68, 149, 140, 48, 122, 42, 15, 110, 13, 134, 18)
"""What two parameters from two other cards say of the eighteen runs, in tokens/s."""


def speed_of(work: ModelWork, gpu: str, context: int = 0, sequences: int = 1) -> Speed:
    speed = decode_speed([Part(work, TABLE[gpu])], context, sequences)
    assert speed is not None
    return speed


@pytest.mark.parametrize(
    ("run", "expected"), list(zip(RUNS, HELD_OUT_SPEEDS, strict=True)), ids=lambda value: str(value)[:40]
)
def test_runs_that_had_no_part_in_the_parameters(run: Run, expected: int) -> None:
    assert predicted(run, TABLE, **HELD_OUT) == pytest.approx(expected, abs=0.7)


def test_the_median_of_the_held_out_runs_is_seven_percent() -> None:
    errors = [abs(predicted(run, TABLE, **HELD_OUT) / run.tokens_per_s - 1) for run in RUNS]
    assert statistics.median(errors) == pytest.approx(0.069, abs=0.001)


@pytest.mark.parametrize("run", [*RUNS, *HBM_RUNS], ids=lambda run: run.name)
def test_every_published_run_lies_in_the_band_of_its_gpu(run: Run) -> None:
    speed = decode_speed([Part(run.work, TABLE[run.gpu])], 0)
    assert speed is not None
    assert speed.low <= run.tokens_per_s * 1.005 and run.tokens_per_s <= speed.high * 1.01, speed
    assert run.tokens_per_s < speed.ceiling


def test_decode_falls_with_the_depth_as_measured() -> None:
    assert max(depth_errors(TABLE)) <= 0.4


@pytest.mark.parametrize(
    ("gpu", "expected", "low", "high", "ceiling"),
    [
        ("l4", 44, 37, 51, 60),
        ("l40s", 116, 100, 135, 174),
        ("a100-80-sxm", 126, 100, 150, 411),
        ("h100-sxm", 194, 136, 220, 675),
        ("h200", 196, 137, 225, 968),
        ("rtx-4090", 133, 115, 155, 203),
    ],
)
def test_ready_answers_for_an_8b_with_2048_tokens(gpu: str, expected: int, low: int, high: int, ceiling: int) -> None:
    speed = speed_of(LLAMA_8B, gpu, 2048)
    assert speed.tokens_per_s == pytest.approx(expected, rel=0.01)
    assert speed.low == pytest.approx(low, rel=0.03)
    assert speed.high == pytest.approx(high, rel=0.03)
    assert speed.ceiling == pytest.approx(ceiling, rel=0.015)


@pytest.mark.parametrize(
    ("changed", "holds"), [({}, True), ({"efficiency": 0.55}, False), ({"layer_us": 90.0}, False)]
)
def test_the_bench_judges_the_table_that_ships(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, float], holds: bool
) -> None:
    gddr = {key: gpu for key, gpu in TABLE.items() if gpu.speed_class == "gddr"}
    table = {**TABLE, **{key: msgspec.structs.replace(gpu, **changed) for key, gpu in gddr.items()}}
    monkeypatch.setattr(published_runs, "table", lambda: table)
    setting = Setting(Path(), 1.0)
    found = published_runs.published_runs_error(setting)
    assert (found.value <= 8.0 and found.holds) is holds
    assert (found.value <= 8.0) is holds and found.more["median_percent"] == round(found.value, 2)


def test_an_h200_is_hardly_faster_than_an_h100_at_one_sequence() -> None:
    h100, h200 = speed_of(LLAMA_8B, "h100-sxm", 2048), speed_of(LLAMA_8B, "h200", 2048)
    assert 1.0 < h200.tokens_per_s / h100.tokens_per_s < 1.06
    assert h200.ceiling / h100.ceiling == pytest.approx(4800 / 3350)


def test_what_limits_is_what_takes_most_of_the_time() -> None:
    small = ModelWork(layers=28, dense_bytes=400_000_000)
    assert speed_of(LLAMA_8B, "l4").limited_by == "bandwidth"
    assert speed_of(small, "h200").limited_by == "layers"
    assert speed_of(small, "l4").limited_by == "bandwidth"


PUBLISHED_STEPS = (
    ("rtx-3090", 2, 279.9 / 156.6),
    ("rtx-3090", 4, 470.5 / 156.6),
    ("rtx-3090", 8, 583.8 / 156.6),
    ("rtx-4090", 16, 1930 / 146),
    ("m2-ultra-64", 2, 136 / 79),
    ("m2-ultra-64", 4, 224.5 / 79),
)
"""How much more comes out of so many sequences together than of one (pull requests 15802, 15131)."""


@pytest.mark.parametrize(("gpu", "sequences", "published"), PUBLISHED_STEPS)
def test_several_sequences_together_come_near_what_was_published(gpu: str, sequences: int, published: float) -> None:
    work = ModelWork(32, 4_370_000_000, parameters=6.98e9, head_parameters=0.525e9)
    alone, many = speed_of(work, gpu), speed_of(work, gpu, 0, sequences)
    assert many.low * sequences <= published * alone.tokens_per_s <= many.high * sequences
    assert sequences > 4 or many.together / alone.tokens_per_s == pytest.approx(published, rel=0.08)
    assert many.sequences == sequences and many.together == pytest.approx(many.tokens_per_s * sequences)
    assert many.low < many.tokens_per_s < many.high <= many.ceiling


@pytest.mark.parametrize(("sequences", "cost"), [(1, 1.0), (2, 1.95), (3, 2.5), (4, 2.5), (8, 4.2)])
def test_a_processor_gains_nothing_from_two_or_three_at_once(sequences: int, cost: float) -> None:
    assert step_cost(sequences, is_processor=True) == pytest.approx(cost)


def test_each_sequence_reads_its_own_cache() -> None:
    one, four = speed_of(LLAMA_8B, "rtx-4090", 32_768), speed_of(LLAMA_8B, "rtx-4090", 32_768, 4)
    effective = TABLE["rtx-4090"].effective_bandwidth
    more = 1 / four.tokens_per_s - 1 / one.tokens_per_s
    cache, weights = 3 * 131_072 * 32_768 / effective, 0.35 * LLAMA_8B.dense_bytes / effective
    assert more == pytest.approx(cache + weights, rel=1e-6)


def test_a_mixture_reads_the_experts_used_and_takes_longer_than_its_bytes() -> None:
    work = split_work(mixture(), PlanOptions(context=8192))
    assert work is not None and work.on_gpu.is_mixture
    read = 600e6 + 24 * (30e6 + 424e6 * 4 / 32)
    assert work.on_gpu.weight_bytes() == pytest.approx(read)
    bare = msgspec.structs.replace(work.on_gpu, dense_bytes=round(read), expert_bytes=0)
    ratio = speed_of(bare, "rtx-4090").tokens_per_s / speed_of(work.on_gpu, "rtx-4090").tokens_per_s
    assert ratio == pytest.approx(MIXTURE_COST)


def test_several_sequences_of_a_mixture_read_more_experts() -> None:
    work = ModelWork(24, 700_000_000, expert_bytes=10_000_000_000, experts=32, experts_used=4)
    shares = [work.expert_share(count) for count in (1, 2, 4, 8)]
    assert shares == [pytest.approx(share, abs=0.001) for share in (0.125, 0.234, 0.414, 0.656)]
    one, four = speed_of(work, "rtx-4090"), speed_of(work, "rtx-4090", 0, 4)
    assert 1.9 < one.tokens_per_s / four.tokens_per_s < 2.6  # published mixtures: 2.05 and 2.45


def test_a_few_layers_on_the_processor_take_most_of_the_time() -> None:
    split = split_work(planned_8b(), PlanOptions(context=8192), 25)
    assert split is not None and (split.on_gpu.layers, split.on_processor.layers) == (24, 8)
    whole = speed_of(LLAMA_8B, "rtx-4090", 2048)
    parts = [Part(split.on_gpu, TABLE["rtx-4090"]), Part(split.on_processor, PROCESSOR)]
    partly = decode_speed(parts, 2048)
    assert partly is not None and partly.limited_by == "processor"
    assert 1 / partly.tokens_per_s > 3 / whole.tokens_per_s
    assert partly.low / partly.tokens_per_s < whole.low / whole.tokens_per_s, "a wider band"
    assert partly.ceiling < whole.ceiling


def test_window_layers_read_their_window_and_states_are_read_and_written() -> None:
    windowed = ModelWork(32, 10**9, full_bytes=1000, window_bytes=5000, window=1024)
    assert windowed.cache_bytes(100) == 100 * 6000
    assert windowed.cache_bytes(32_768) == 32_768 * 1000 + 1024 * 5000
    planned, options = mixture(), PlanOptions(context=8192, kv_type_k="q8_0")
    work = split_work(planned, options)
    assert work is not None and work.on_gpu.cache_bytes(5000) == (5000 + 128) * 18_816
    recurrent = ModelWork(32, 10**9, state_bytes=150_000_000)
    assert recurrent.cache_bytes(0) == recurrent.cache_bytes(100_000) == 300_000_000
    assert speed_of(recurrent, "l4", 100_000).tokens_per_s == speed_of(recurrent, "l4").tokens_per_s


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert decode_speed([], 0) is None
    assert decode_speed([Part(ModelWork(0, 0), TABLE["l4"])], 0) is None
    assert decode_speed([Part(LLAMA_8B, plain(efficiency=0.0))], 0) is None
