"""What answers show of a machine: its parameters are found again, whatever disturbs single answers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest

from app.planner.calibration import (
    MOST_ALIKE,
    MOST_POINTS,
    AnswerFigures,
    Calibration,
    calibrated,
    carried_over,
    decode_beside,
    prefill_beside,
    with_answer,
)
from app.planner.decode_fit import DecodePoint, fit_decode
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import CARRIED_OVER, HELD_UP_HERE, MEASURED_HERE, Gpu, PrefillTime, Speed
from app.planner.model_work import ModelWork
from app.planner.prefill_speed import prefill_time
from app.planner.weak_answers import WEAK_ABOVE
from tests.planner.works import LLAMA_8B, PROCESSOR, TABLE

SMALL = ModelWork(
    layers=30, dense_bytes=90_000_000, full_bytes=23_040, parameters=106e6, head_parameters=28e6, full_width=30 * 576
)
TRUTHS: list[dict[str, float]] = [
    {"bandwidth": 50.0, "efficiency": 0.8, "layer_us": 120.0, "cache_cost": 3.0},
    {"bandwidth": 50.0, "efficiency": 0.15, "layer_us": 5.0, "cache_cost": 1.0},
    {"bandwidth": 200.0, "efficiency": 0.9, "layer_us": 60.0, "cache_cost": 8.0},
]


def speed_on(gpu: Gpu, context: int, work: ModelWork = SMALL) -> Speed:
    speed = decode_speed([Part(work, gpu)], context)
    assert speed is not None
    return speed


def seen(
    gpu: Gpu, contexts: Sequence[int], noise: float = 0.0, seed: int = 0, work: ModelWork = SMALL
) -> Calibration:
    """Return what is known after answers at these contexts on a machine that really is like this."""
    chance, calibration = random.Random(seed), Calibration()
    for context in contexts:
        rate = speed_on(gpu, context, work).tokens_per_s * (1 + chance.uniform(-noise, noise))
        calibration = with_answer(calibration, AnswerFigures(100, rate, context), work)
    return calibration


def off(found: Gpu, truth: Gpu, contexts: Sequence[int], work: ModelWork = SMALL) -> float:
    pairs = [(speed_on(found, context, work), speed_on(truth, context, work)) for context in contexts]
    return max(abs(here.tokens_per_s / there.tokens_per_s - 1) for here, there in pairs)


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_three_answers_tell_the_speed_at_their_contexts(truth: dict[str, float]) -> None:
    machine = msgspec.structs.replace(PROCESSOR, **truth)
    contexts = (256, 2048, 6000)
    for seed in range(5):
        found = calibrated(PROCESSOR, seen(machine, contexts, 0.03, seed))
        assert off(found.gpu, machine, contexts) < 0.06
        assert (found.decode_answers, found.prefill_answers, found.prefill_error) == (3, 0, None)
        assert found.gpu.below <= 0.15 and found.gpu.sources["efficiency"] == MEASURED_HERE
        assert found.gpu.prefill_tflops == PROCESSOR.prefill_tflops


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
def test_a_long_chat_is_found_behind_many_short_ones(truth: dict[str, float]) -> None:
    machine = msgspec.structs.replace(PROCESSOR, **truth)
    found = calibrated(PROCESSOR, seen(machine, (400,) * 6 + (3000,), 0.02))
    assert off(found.gpu, machine, (400, 3000)) < 0.06


def test_one_answer_moves_the_whole_machine() -> None:
    machine = msgspec.structs.replace(PROCESSOR, efficiency=0.25, layer_us=56.0)
    found = calibrated(PROCESSOR, seen(machine, (500,)))
    assert off(found.gpu, machine, (500, 4000)) < 0.02
    assert 0.2 < found.gpu.below < PROCESSOR.below, "one answer makes a band narrower, not narrow"


def test_an_answer_that_something_held_up_pulls_little() -> None:
    calibration = seen(PROCESSOR, (300, 400, 1500, 2000, 4000), 0.01)
    for context, slower in ((350, 0.3), (1800, 0.5)):
        rate = speed_on(PROCESSOR, context).tokens_per_s * slower
        calibration = with_answer(calibration, AnswerFigures(100, rate, context), SMALL)
    found = calibrated(PROCESSOR, calibration)
    assert off(found.gpu, PROCESSOR, (300, 2000, 4000)) < 0.04
    assert found.decode_answers == 7 and found.decode_error is not None and found.decode_error < 0.05


def test_two_models_tell_layers_from_bytes() -> None:
    machine = msgspec.structs.replace(PROCESSOR, efficiency=0.5, layer_us=300.0)
    calibration = seen(machine, (200, 800))
    for context in (200, 800):
        rate = speed_on(machine, context, LLAMA_8B).tokens_per_s
        calibration = with_answer(calibration, AnswerFigures(100, rate, context), LLAMA_8B)
    found = calibrated(PROCESSOR, calibration).gpu
    assert found.layer_us == pytest.approx(300, rel=0.1)
    assert found.effective_bandwidth == pytest.approx(25e9, rel=0.05)


@pytest.mark.parametrize(
    "answer",
    [
        AnswerFigures(15, 50.0, 100),
        AnswerFigures(100, None, 100),
        AnswerFigures(100, 0.0, 100),
        AnswerFigures(100, -1.0, 100),
        AnswerFigures(100, float("inf"), 100),
        AnswerFigures(100, float("nan"), 100),
        AnswerFigures(100, 50.0, 100, paced=True),
        AnswerFigures(0, None, 0, prefilled=15, prefill_s=1.0),
        AnswerFigures(0, None, 0, prefilled=500, prefill_s=0.0),
    ],
    ids=str,
)
def test_what_says_nothing_changes_nothing(answer: AnswerFigures) -> None:
    assert with_answer(Calibration(), answer, SMALL) == Calibration()
    assert calibrated(PROCESSOR, Calibration()).gpu == PROCESSOR


def disturbed(known: Calibration, machine: Gpu, *contexts: int) -> Calibration:
    for context in contexts:
        rate = speed_on(machine, context).tokens_per_s
        known = with_answer(known, AnswerFigures(100, rate, context, disturbed=True), SMALL)
    return known


def test_answers_that_all_were_disturbed_make_no_machine_slower_until_one_comes_that_was_not() -> None:
    slow = msgspec.structs.replace(PROCESSOR, efficiency=0.1, layer_us=140.0)
    known = disturbed(Calibration(), slow, 300, 900, 2000)
    weak = calibrated(PROCESSOR, known)
    assert weak.gpu == msgspec.structs.replace(PROCESSOR, is_held_up=True)
    assert (weak.decode_answers, weak.decode_error) == (0, None), "they are no figure to expect the next one by"
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=Calibration)
    assert again == known
    known = with_answer(known, AnswerFigures(100, speed_on(PROCESSOR, 500).tokens_per_s, 500), SMALL)
    known = with_answer(known, AnswerFigures(100, 1.0, 500, disturbed=True), SMALL)
    sure = calibrated(PROCESSOR, known)
    assert off(sure.gpu, PROCESSOR, (300, 2000)) < 0.02 and not sure.gpu.is_held_up
    assert known.weak_decode == () and sure.decode_answers == 1
    bounded = Calibration()
    for _ in range(20):
        bounded = with_answer(bounded, AnswerFigures(100, 20.0, 300, disturbed=True), SMALL)
    assert len(bounded.weak_decode) == MOST_ALIKE


@pytest.mark.parametrize(
    "faster",
    [
        {"efficiency": 0.9, "layer_us": 8.0},
        {"bandwidth": 100.0},
        {"efficiency": 0.95, "layer_us": 30.0, "cache_cost": 0.3},
        {"efficiency": 0.68, "layer_us": 1.0, "cache_cost": 0.5},
    ],
    ids=str,
)
def test_disturbed_answers_that_were_faster_than_expected_make_a_machine_faster_and_no_part_of_it_slower(
    faster: dict[str, float],
) -> None:
    fast, slow = (msgspec.structs.replace(PROCESSOR, **each) for each in (faster, {"efficiency": 0.1}))
    known = disturbed(Calibration(), fast, 300, 2000)
    alone, among = (calibrated(PROCESSOR, each) for each in (known, disturbed(known, slow, 350, 900, 2100)))
    for found in (alone, among):
        assert found.gpu.is_held_up and found.gpu.sources["efficiency"] == HELD_UP_HERE
        assert found.gpu.above >= WEAK_ABOVE and found.gpu.below >= PROCESSOR.below, "how much was taken nobody knows"
        for context in (1, 300, 2000, 60_000, 1_000_000):
            for work in (SMALL, LLAMA_8B):
                here, before = speed_on(found.gpu, context, work), speed_on(PROCESSOR, context, work)
                assert here.tokens_per_s >= before.tokens_per_s * (1 - 1e-9)
    assert off(alone.gpu, among.gpu, (300, 2000)) < 1e-9, "what is slower than expected tells nothing"
    assert speed_on(alone.gpu, 300).tokens_per_s > 1.01 * speed_on(PROCESSOR, 300).tokens_per_s


@pytest.mark.parametrize(
    "answer",
    [
        AnswerFigures(0, None, 0, prefilled=40, prefill_s=0.2),
        AnswerFigures(0, None, 0, prefilled=800, prefill_s=4.0, prefill_disturbed=True),
    ],
    ids=["short", "disturbed"],
)
def test_a_weak_prefill_tells_of_a_device_of_which_nothing_is_known_and_only_makes_others_faster(
    answer: AnswerFigures,
) -> None:
    unknown = msgspec.structs.replace(PROCESSOR, prefill_tflops=None)
    known = with_answer(Calibration(), answer, SMALL)
    found = calibrated(unknown, known).gpu
    time = prefill_time([Part(SMALL, found)], answer.prefilled)
    assert time is not None and answer.prefilled / time.seconds == pytest.approx(200, rel=0.1)
    assert time.is_most and time.high == time.seconds
    alone = prefill_time([Part(SMALL, msgspec.structs.replace(found, prefill_tflops=1e9))], answer.prefilled)
    assert alone is not None and time.low == pytest.approx(alone.seconds * (1 - found.below)), "what memory allows"
    assert found.prefill_band >= 0.6 and found.sources["prefill_tflops"] == HELD_UP_HERE
    assert calibrated(PROCESSOR, known).gpu == PROCESSOR, "it is no slower than it was believed to be"
    slower = msgspec.structs.replace(PROCESSOR, prefill_tflops=1e-4)
    assert calibrated(slower, known).gpu.prefill_tflops == found.prefill_tflops
    for count in (1, 2, 4, 8):
        assert decode_speed([Part(SMALL, found)], 500, count) == decode_speed([Part(SMALL, unknown)], 500, count)
    better = with_answer(known, AnswerFigures(0, None, 0, 700, 0.35), SMALL)
    sure = prefill_time([Part(SMALL, calibrated(unknown, better).gpu)], answer.prefilled)
    assert sure is not None and not sure.is_most and sure.low < sure.seconds < sure.high
    assert better.weak_prefill == () and with_answer(better, answer, SMALL) == better


def test_a_prefill_counts_though_its_decode_was_disturbed() -> None:
    known = with_answer(Calibration(), AnswerFigures(100, 5.0, 300, 500, 0.5, disturbed=True, rest_s=0.1), SMALL)
    assert (known.decode_answers, known.prefill_answers, len(known.weak_decode)) == (0, 1, 1)
    assert known.rests == (0.1,)


def test_prefill_is_kept_apart_from_decode() -> None:
    calibration = Calibration()
    for tokens, rate in ((600, 2000.0), (800, 2050.0), (900, 400.0), (2000, 1950.0)):
        answer = AnswerFigures(5, None, 0, tokens, tokens / rate)
        calibration = with_answer(calibration, answer, SMALL)
    found = calibrated(PROCESSOR, calibration)
    assert (found.decode_answers, found.prefill_answers, found.decode_error) == (0, 4, None)
    assert (found.gpu.efficiency, found.gpu.below) == (PROCESSOR.efficiency, PROCESSOR.below)
    time = prefill_time([Part(SMALL, found.gpu)], 1500)
    assert time is not None and 1500 / time.seconds == pytest.approx(2000, rel=0.1)
    assert found.gpu.prefill_band < PROCESSOR.prefill_band


def test_long_prompts_tell_more_than_short_ones() -> None:
    calibration = Calibration()
    for tokens, rate in ((70, 500.0), (80, 520.0), (4000, 2000.0), (90, 5000.0)):
        calibration = with_answer(calibration, AnswerFigures(5, None, 0, tokens, tokens / rate), SMALL)
    time = prefill_time([Part(SMALL, calibrated(PROCESSOR, calibration).gpu)], 4000)
    assert time is not None and 4000 / time.seconds == pytest.approx(2000, rel=0.02)


def test_a_cache_that_is_read_faster_than_weights_says_that_memory_gives_more() -> None:
    machine = msgspec.structs.replace(PROCESSOR, efficiency=0.9, cache_cost=0.4)
    found = calibrated(PROCESSOR, seen(machine, (300, 20_000, 60_000))).gpu
    assert found.cache_cost < 0.7 and off(found, machine, (300, 20_000, 60_000)) < 0.05
    long = speed_on(found, 200_000)
    assert long.low < long.tokens_per_s <= long.high <= long.ceiling


def test_times_that_no_machine_can_have_leave_every_parameter_possible() -> None:
    points = (DecodePoint(100, 1e9, 0, 0.2), *(DecodePoint(1, 1e9, 0, 1.0 + step / 100) for step in range(3)))
    fit = fit_decode(points, PROCESSOR)
    assert fit.layer_s > 0 and fit.bytes_per_s > 0 and fit.cache_cost > 0


def test_only_so_many_points_are_kept_and_those_that_differ_stay() -> None:
    machine = PROCESSOR
    calibration = seen(machine, (6000,) + (300,) * 200)
    assert len(calibration.decode) == MOST_ALIKE + 1 and calibration.decode_answers == 201
    assert max(point.cache_bytes for point in calibration.decode) == SMALL.cache_bytes(6000)
    many = Calibration()
    for size in range(1, 200):
        work = msgspec.structs.replace(SMALL, dense_bytes=size * 50_000_000)
        many = with_answer(many, AnswerFigures(100, speed_on(machine, 300, work).tokens_per_s, 300), work)
    assert len(many.decode) == MOST_POINTS
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(many), type=Calibration)
    assert again == many


def test_a_machine_that_is_faster_than_its_memory_was_measured_has_a_faster_memory() -> None:
    machine = msgspec.structs.replace(PROCESSOR, bandwidth=500.0, efficiency=0.9)
    found = calibrated(PROCESSOR, seen(machine, (300, 2000, 5000))).gpu
    assert found.bandwidth > 2 * PROCESSOR.bandwidth
    assert off(found, machine, (300, 2000, 5000)) < 0.05
    assert speed_on(found, 300).tokens_per_s <= speed_on(found, 300).ceiling


def test_what_was_measured_on_one_gpu_tells_of_its_class_alone() -> None:
    here = TABLE["rtx-4090"]
    known = {"layer_us": MEASURED_HERE, "efficiency": MEASURED_HERE}
    measured = msgspec.structs.replace(here, layer_us=64.0, efficiency=0.38, sources={**here.sources, **known})
    other = carried_over(here, measured, TABLE["rtx-3090"])
    assert other.layer_us == 64 and other.efficiency == pytest.approx(0.38)
    assert other.prefill_tflops == TABLE["rtx-3090"].prefill_tflops  # nothing was measured of it
    assert other.source_kind("efficiency") == "extrapolated" and other.sources["layer_us"].startswith(CARRIED_OVER)
    known["prefill_tflops"] = MEASURED_HERE
    read = msgspec.structs.replace(measured, prefill_tflops=(here.prefill_tflops or 0) / 2, sources=known)
    assert carried_over(here, read, other).prefill_tflops == pytest.approx((other.prefill_tflops or 0) / 2)
    assert (other.below, other.above) == (TABLE["rtx-3090"].below, TABLE["rtx-3090"].above)
    assert carried_over(here, measured, TABLE["h200"]) == TABLE["h200"]


def test_predicted_stands_beside_measured() -> None:
    speed = Speed(110.0, 95.0, 125.0, 200.0, "bandwidth")
    beside = decode_beside(speed, AnswerFigures(100, 100.0, 0))
    assert beside is not None and beside.error == pytest.approx(0.1) and beside.is_within
    assert decode_beside(speed, AnswerFigures(5, 100.0, 0)) is None
    time = PrefillTime(1.0, 0.8, 1.2, 1000, "compute")
    late = prefill_beside(time, AnswerFigures(5, None, 0, 1000, 2.0))
    assert late is not None and late.error == -0.5 and not late.is_within
    assert prefill_beside(time, AnswerFigures(5, None, 0, 10, 2.0)) is None
