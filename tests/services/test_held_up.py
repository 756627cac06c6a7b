"""Where something held up all that answers here told, that is said wherever a figure is that rests on this machine."""

from __future__ import annotations

import csv
import io

import pytest
from msgspec.structs import replace

from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import HELD_UP_HERE, MEASURED_HERE, Gpu
from app.services.plan_export import caveats_of, plan_csv, plan_markdown
from app.services.plan_rows import Grounds, work_out
from app.services.plan_values import Chosen, ModelChoice
from app.services.planning_devices import KnownGpus
from app.services.planning_values import PlanChoice
from app.services.planning_view import place_of
from app.services.planning_words import limit_words, rests_on, time_with_band
from tests.planner.planned_models import planned
from tests.planner.works import LLAMA_8B, PROCESSOR, TABLE
from tests.services.planned_here import MAIN, here, view

HELD_UP = replace(PROCESSOR, is_held_up=True)
SLOWED = "Something slowed down every answer on this machine so far"


def test_a_comparison_and_its_files_say_it_of_each_gpu_whose_layers_the_processor_takes() -> None:
    chosen = Chosen((ModelChoice("a"),), ())
    grounds = Grounds(chosen, {"a": planned("qwen3-32b")}, (TABLE["rtx-4070"], TABLE["h200"]), HELD_UP)
    worked = work_out(grounds)
    partly, whole = worked.rows
    (said,) = partly.caveats
    assert said.english().startswith(SLOWED) and said in partly.how_sure and whole.caveats == ()
    assert caveats_of(worked) == (said,)
    text = plan_markdown(worked).decode()
    assert text.count(SLOWED) == 1
    first, second = csv.DictReader(io.StringIO(plan_csv(worked).decode("utf-8-sig")))
    assert first["caveats"] == said.english() and second["caveats"] == ""
    assert SLOWED not in plan_markdown(work_out(replace(grounds, host=PROCESSOR))).decode()


def test_a_reading_that_short_prompts_told_is_doubted_where_a_prompt_is_read() -> None:
    sources = {"prefill_tflops": HELD_UP_HERE}
    gpu = replace(TABLE["l4"], is_this_machine=True, sources={**TABLE["l4"].sources, **sources})
    (said,) = view("llama-3.1-8b", PlanChoice(), here(gpu)).speed.caveats
    assert "told by short prompts alone" in said.english()
    assert view("llama-3.1-8b", PlanChoice(prompt=9000), here(gpu)).speed.caveats == ()
    assert view("llama-3.1-8b", PlanChoice(), here()).speed.caveats == ()


def test_where_only_short_or_disturbed_prompts_told_a_first_token_comes_after_no_more_than_that() -> None:
    least = replace(PROCESSOR, is_prefill_least=True, sources={"prefill_tflops": HELD_UP_HERE})
    place = place_of("here", (MAIN,), KnownGpus(here={"CPU": least}))
    speed = view("llama-3.1-8b", PlanChoice(context=4096, prompt=1024), place).speed
    assert speed.first_token is not None and time_with_band(speed.first_token).startswith("≤\u00a0")
    chosen = Chosen((ModelChoice("a"),), ())
    worked = work_out(Grounds(chosen, {"a": planned("llama-3.1-8b")}, (least,)))
    assert "| ≤ " in plan_markdown(worked).decode()
    assert "≤" not in plan_markdown(work_out(Grounds(chosen, {"a": planned("llama-3.1-8b")}, (PROCESSOR,)))).decode()


@pytest.mark.parametrize("source", [MEASURED_HERE, HELD_UP_HERE])
def test_what_is_measured_far_below_its_memory_is_not_limited_by_it(source: str) -> None:
    def told(gpu: Gpu, efficiency: float) -> str:
        here = replace(gpu, efficiency=efficiency, is_this_machine=True, sources={"efficiency": source})
        speed = decode_speed([Part(LLAMA_8B, here)], 1000)
        assert speed is not None and speed.ceiling > speed.tokens_per_s
        return limit_words(speed).english() if speed.limited_by == "pace" else speed.limited_by

    assert "much slower than its memory allows" in told(PROCESSOR, 0.1)
    assert told(PROCESSOR, 0.6) == "bandwidth"
    assumed = decode_speed([Part(LLAMA_8B, replace(PROCESSOR, efficiency=0.1, sources={}))], 1000)
    assert assumed is not None and assumed.limited_by == "bandwidth", "nobody has measured it"


def test_a_gpu_of_the_table_in_this_machine_is_not_judged_by_answers_that_nobody_has_asked_for() -> None:
    gpu = replace(TABLE["rtx-4090"], is_this_machine=True)
    assert gpu.source_kind("efficiency") == "measured"
    assert rests_on(gpu).english().endswith("and published runs.")
    told = replace(gpu, sources={**gpu.sources, "efficiency": MEASURED_HERE})
    assert rests_on(told).english() == "Judged by answers on this machine."
    fastest = replace(gpu, sources={**gpu.sources, "efficiency": HELD_UP_HERE})
    assert rests_on(fastest).english() == "Judged by the fastest of the answers on this machine."
