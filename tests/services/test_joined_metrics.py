"""The figures of an answer in parts: each is the sum of both, or of the part that it belongs to, or unknown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.core.circumstances import Circumstances
from app.core.metrics import (
    CacheReuse,
    DeviceMemory,
    ItlDrift,
    ItlQuantiles,
    KVUse,
    Loading,
    Metrics,
    PageIns,
    TtftParts,
)
from app.planner.diagnosis import diagnose
from app.services.joined_metrics import joined_metrics, without_beginning
from tests.planner.made_answers import CPU, GPU, around, figures

AROUND = Circumstances(
    gpu_is_there=True,
    gpu_layers=31,
    all_layers=31,
    weight_bytes_per_token=98_000_000,
    first_after_load=True,
    memory_gb_per_s=20.0,
    threads=4,
    cores=4,
    micro_batch=512,
    kv_is_f16=True,
    locks_memory=True,
    checkpoints=3,
    unused_cache="edited",
    read_again=900,
    window_busy_s=1.5,
    gpu_limits=frozenset({"power", "heat"}),
    gpu_used_bytes=5,
    gpu_buffer_bytes=4,
    expected=(20.0, 10.0, 40.0),
    top_k_is_off=True,
    has_grammar=False,
)
FIRST = figures(
    tokens=101,
    rate=10.0,
    prefill_tokens_per_s=300.0,
    sampling_ms=1000.0,
    drift=ItlDrift(90.0, 110.0),
    decode_cpu_s=40.0,
    page_ins=PageIns(7, 500, 7000, 500_000),
    reuse=CacheReuse(50, 30),
    loading=Loading(31, 31, 4, 98_000_000, is_first=True),
    held_ms=250.0,
    circumstances=AROUND,
    memory=(DeviceMemory("CUDA0", 1, 1, 1),),
)
REST_AROUND = msgspec.structs.replace(
    AROUND,
    first_after_load=False,
    memory_gb_per_s=None,
    unused_cache="comparison",
    read_again=20,
    window_busy_s=0.5,
    gpu_limits=frozenset({"power"}),
    gpu_used_bytes=7,
    gpu_buffer_bytes=6,
    expected=(40.0, 20.0, 80.0),
)
REST = Metrics(
    ttft_ms=900.0,
    ttft_parts_ms=TtftParts(1.0, 2.0, 3.0, 4.0, 5.0),
    prompt_tokens=300,
    prompt_tokens_from_cache=290,
    prefill_tokens_per_s=50.0,
    decode_tokens_per_s=5.0,
    sampled_tokens=51,
    itl_ms=ItlQuantiles(1.0, 2.0, 3.0),
    kv=KVUse(500, 4096, 9_000_000),
    memory=(DeviceMemory("CUDA0", 2, 2, 2),),
    traffic_gb_per_s=2.0,
    sampling_ms=300.0,
    drift=ItlDrift(190.0, 210.0),
    decode_cpu_s=30.0,
    page_ins=PageIns(70, 30, 70_000, 40_000),
    reuse=CacheReuse(400, 295),
    loading=Loading(31, 31, 4, 98_000_000),
    held_ms=50.0,
    circumstances=REST_AROUND,
)
JOINED = Metrics(
    ttft_ms=FIRST.ttft_ms,
    ttft_parts_ms=FIRST.ttft_parts_ms,
    prompt_tokens=FIRST.prompt_tokens,
    prompt_tokens_from_cache=FIRST.prompt_tokens_from_cache,
    prefill_tokens_per_s=300.0,
    decode_tokens_per_s=150 / 20,
    sampled_tokens=152,
    itl_ms=None,
    kv=REST.kv,
    memory=REST.memory,
    traffic_gb_per_s=2.0 * 7.5 / 5.0,
    sampling_ms=1300.0,
    drift=None,
    decode_cpu_s=70.0,
    page_ins=PageIns(7, 530, 7000, 540_000),
    reuse=FIRST.reuse,
    loading=FIRST.loading,
    parts=2,
    held_ms=300.0,
    circumstances=msgspec.structs.replace(
        AROUND,
        window_busy_s=2.0,
        gpu_limits=frozenset({"power"}),
        gpu_used_bytes=7,
        gpu_buffer_bytes=6,
        expected=(24.0, 12.0, 48.0),  # 100 in 5 s and 50 in 1.25 s
    ),
)


def plain(metrics: Metrics) -> dict[str, Any]:
    return msgspec.structs.asdict(metrics)


def test_every_figure_is_that_of_both_parts() -> None:
    """A figure that is added to the metrics has to find its place here, too."""
    made, expected = plain(joined_metrics(FIRST, REST)), plain(JOINED)
    assert all(plain(FIRST)[name] is not None and plain(REST)[name] is not None for name in expected)
    assert made == expected


OF_THE_DECODE = ("sampling_ms", "decode_cpu_s", "page_ins", "held_ms", "decode_tokens_per_s")


@pytest.mark.parametrize("name", OF_THE_DECODE)
@pytest.mark.parametrize("unknown_part", [0, 1])
def test_what_one_part_does_not_know_is_unknown_of_both(name: str, unknown_part: int) -> None:
    parts = [FIRST, REST]
    parts[unknown_part] = msgspec.structs.replace(parts[unknown_part], **{name: None})
    assert getattr(joined_metrics(*parts), name) is None


def test_another_load_for_each_part_is_told_of_neither() -> None:
    other = msgspec.structs.replace(REST_AROUND, threads=2, gpu_layers=0)
    joined = joined_metrics(FIRST, msgspec.structs.replace(REST, circumstances=other, loading=None))
    around_both = joined.circumstances
    assert around_both is not None
    assert (around_both.threads, around_both.cores, around_both.all_layers) == (None, None, 0)
    assert (around_both.memory_gb_per_s, around_both.window_busy_s) == (None, 2.0)
    assert (joined.traffic_gb_per_s, joined.loading, joined.decode_cpu_s) == (None, None, 70.0)
    assert diagnose(joined, around_both).cause not in ("busy", "threads", "gpu_layers")


def test_a_part_in_which_no_token_came_takes_nothing_away() -> None:
    nothing = msgspec.structs.replace(
        REST, sampled_tokens=0, decode_tokens_per_s=None, sampling_ms=None, itl_ms=None, drift=None
    )
    joined = joined_metrics(FIRST, nothing)
    assert joined == msgspec.structs.replace(FIRST, kv=REST.kv, memory=REST.memory, held_ms=300.0)


def test_three_parts_have_three_tokens_without_a_gap() -> None:
    one = msgspec.structs.replace(REST, sampled_tokens=1, decode_tokens_per_s=None)
    joined = joined_metrics(joined_metrics(FIRST, REST), one)
    assert (joined.parts, joined.sampled_tokens, joined.gaps) == (3, 153, 150)
    assert joined.decode_s == pytest.approx(20.0)


def test_of_a_beginning_without_figures_nothing_of_the_decode_is_known() -> None:
    whole = without_beginning(REST, 80)
    unknown = (whole.decode_tokens_per_s, whole.decode_cpu_s, whole.page_ins, whole.drift, whole.sampling_ms)
    assert unknown == (None,) * 5
    assert (whole.circumstances, whole.held_ms, whole.traffic_gb_per_s) == (None, None, None)
    again = joined_metrics(whole, REST)
    assert (again.decode_tokens_per_s, again.sampled_tokens) == (None, 131)


@pytest.mark.parametrize(
    ("figures_of_one", "where"),
    [
        ({"decode_cpu_s": 40.0}, CPU),
        ({"decode_cpu_s": 12.0}, CPU),
        ({"sampling_ms": 6000.0}, CPU),
        ({"page_ins": PageIns(0, 5000, 0, 2_000_000_000)}, CPU),
        ({"traffic_gb_per_s": 15.0}, around(memory_gb_per_s=20.0)),
        ({}, around(window_busy_s=9.0)),
        ({}, around(GPU, gpu_limits=frozenset({"heat"}))),
        ({}, around(threads=8)),
    ],
)
def test_two_parts_that_are_alike_have_the_cause_of_each(
    figures_of_one: dict[str, Any], where: Circumstances
) -> None:
    def told(metrics: Metrics) -> str:
        return diagnose(metrics, metrics.circumstances or Circumstances()).cause

    each = figures(circumstances=where, **figures_of_one)
    short = msgspec.structs.replace(figures(tokens=3), circumstances=where, page_ins=PageIns(0, 0, 0, 0))
    short = msgspec.structs.replace(short, decode_cpu_s=0.4, sampling_ms=0.0)
    if "decode_cpu_s" not in figures_of_one:
        short = msgspec.structs.replace(short, decode_cpu_s=None)
    short = msgspec.structs.replace(
        short, circumstances=msgspec.structs.replace(where, window_busy_s=where.window_busy_s and 0.1)
    )
    assert told(joined_metrics(each, each)) == told(each)
    if "traffic_gb_per_s" not in figures_of_one:
        assert told(joined_metrics(each, short)) == told(each)
