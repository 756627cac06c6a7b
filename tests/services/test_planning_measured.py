"""What answers here showed, beside what a plan expects."""

from __future__ import annotations

import msgspec
import pytest

from app.core.machine_speed import KeptAnswers
from app.gui.planner.plan_words import first_hint, first_words
from app.planner.calibration import calibrated
from app.planner.model_work import split_work
from app.planner.plan_options import PlanOptions
from app.services.calibrating import calibration_of
from app.services.planning_devices import KnownGpus
from app.services.planning_values import PlanChoice, SpeedRows
from app.services.planning_view import make_plan, place_of, view_of
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR, TABLE
from tests.services.planned_here import MAIN

GIB = 1 << 30


def test_what_answers_showed_stands_beside_what_is_expected() -> None:
    place = place_of("here", (MAIN,), KnownGpus(here={"CPU": PROCESSOR}))
    choice = PlanChoice()
    made = make_plan(planned("llama-3.1-8b"), choice, place)
    work = split_work(made.model, made.plan.options, 0)
    assert work is not None
    there = work.on_processor
    point = (there.layers, there.weight_bytes(), there.cache_bytes(600), 0.25, 600)

    def beside(*points: tuple[float, ...], on: str = "CPU", chosen: PlanChoice = choice) -> SpeedRows:
        gpus = KnownGpus(here={"CPU": PROCESSOR, "CUDA0": TABLE["l4"]}, answers={on: KeptAnswers(points, (), 2)})
        place = place_of("here", (MAIN,), gpus)
        return view_of(make_plan(made.model, chosen, place), chosen, place, None).speed

    speed = beside(point, point)
    assert speed.measured == pytest.approx(4.0) and speed.measured_at == 600 and speed.expected_there is not None
    assert beside((there.layers, 2 * there.weight_bytes(), 1.0, 0.25, 600)).measured is None
    assert beside(point, on="CUDA0").measured is None  # of another device
    assert beside(point, chosen=PlanChoice(kv_type="q8_0")).measured is None  # of a cache of another kind
    assert beside(point[:4]).measured is None  # kept without its tokens: nothing tells how the cache was kept


def test_answers_that_something_slowed_down_stand_beside_what_is_expected_without_it() -> None:
    unread = msgspec.structs.replace(PROCESSOR, prefill_tflops=None)
    work = split_work(planned("llama-3.1-8b"), PlanOptions(context=8192), 0)
    assert work is not None
    there = work.on_processor
    slow = (there.layers, there.weight_bytes(), there.cache_bytes(600), 0.5, 600)
    read = (there.operations(40, 0) / 2 / 1e12, 40, 0, there.layers, there.weight_bytes())
    answers = calibration_of(KeptAnswers(weak_decode=(slow,), weak_prefill=(read,)))
    place = place_of(
        "here",
        (MAIN,),
        KnownGpus(
            here={"CPU": calibrated(unread, answers).gpu},
            answers={"CPU": KeptAnswers(weak_decode=(slow,), weak_prefill=(read,))},
        ),
    )
    speed = view_of(make_plan(planned("llama-3.1-8b"), PlanChoice(), place), PlanChoice(), place, None).speed
    assert speed.measured == pytest.approx(2.0) and speed.read == pytest.approx(20.0)
    assert speed.first_token is not None and speed.decode is not None and speed.decode.value > 5
    assert speed.rests_on is not None and speed.rests_on.english().startswith("Judged by experience")
    writing, reading = (each.english() for each in speed.caveats)
    assert writing.startswith("Something slowed down every answer") and "short prompts alone" in reading


def test_how_fast_prompts_were_read_stands_beside_what_is_expected() -> None:
    reader = msgspec.structs.replace(PROCESSOR, prefill_tflops=0.5)
    work = split_work(planned("llama-3.1-8b"), PlanOptions(context=8192), 0)
    assert work is not None
    there = work.on_processor
    tflops = there.operations(1000, 24) / 10 / 1e12
    point = (tflops, 1000, 24, there.layers, there.weight_bytes())
    short, other = (tflops * 9, 70, 0, *point[3:]), (tflops * 9, 1000, 24, 7, 1e9)

    def beside(*points: tuple[float, ...]) -> SpeedRows:
        gpus = KnownGpus(here={"CPU": reader}, answers={"CPU": KeptAnswers((), points, 0, 3)})
        place, choice = place_of("here", (MAIN,), gpus), PlanChoice()
        return view_of(make_plan(planned("llama-3.1-8b"), choice, place), choice, place, None).speed

    speed = beside(short, point, other)
    assert speed.read == pytest.approx(100.0) and speed.read_tokens == 1000
    assert speed.expected_read is not None and speed.expected_read.low < speed.expected_read.value
    assert beside(other).read is None and beside(point[:2]).read is None and beside().read is None


def test_what_a_first_token_takes_beside_reading_is_added_where_answers_here_told_it() -> None:
    reader = msgspec.structs.replace(PROCESSOR, prefill_tflops=0.5)

    def speed(*rests: float) -> SpeedRows:
        gpus = KnownGpus(here={"CPU": reader}, answers={"CPU": KeptAnswers(rests=rests)})
        place, choice = place_of("here", (MAIN,), gpus), PlanChoice()
        return view_of(make_plan(planned("llama-3.1-8b"), choice, place), choice, place, None).speed

    alone, told = speed(), speed(0.5, 9.0, 0.25)
    assert alone.first_beside is None and told.first_beside == 0.5
    assert alone.first_token is not None and told.first_token is not None
    assert told.first_token.value == pytest.approx(alone.first_token.value + 0.5)
    assert told.first_token.low == pytest.approx(alone.first_token.low + 0.5)
    assert "prefill alone, nearly all of it" in first_words(alone.first_token, alone)
    assert first_words(told.first_token, told).endswith("; 500 ms of it are not prefill, as answers here took")
    assert "Prefill alone, nearly all" in first_hint(alone) and " 500 ms for all else" in first_hint(told)
