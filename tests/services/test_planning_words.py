"""What is said beside the speed of a plan: of whom it is, and what it is judged by."""

from __future__ import annotations

from app.services.planning_devices import KnownGpus
from app.services.planning_values import PlanChoice
from app.services.planning_view import place_of
from tests.planner.works import PROCESSOR, TABLE
from tests.services.planned_here import MAIN, here, view

GPUS = KnownGpus(table=tuple(TABLE.values()), here={"CPU": PROCESSOR})


def test_layers_beside_another_gpu_are_said_to_be_judged_by_the_processor_of_this_machine() -> None:
    place = place_of("rtx-4090", (MAIN,), GPUS)
    partly = view("llama-3.1-8b", PlanChoice(where="rtx-4090", gpu_layers=20), place).speed.rests_on
    assert partly is not None
    assert f"of {TABLE['rtx-4090'].name} and published runs, and for the layers in main memory" in partly.english()
    assert f"({PROCESSOR.name})" in partly.english()
    whole = view("llama-3.1-8b", PlanChoice(where="rtx-4090"), place).speed.rests_on
    assert whole is not None and "main memory" not in whole.english()


def test_speed_of_several_conversations_is_said_to_be_that_of_each() -> None:
    both, alone = (view("llama-3.1-8b", PlanChoice(sequences=number), here()).pace for number in (2, 1))
    assert both is not None and "tok/s each (" in both.english()
    assert alone is not None and "each" not in alone.english()


def test_what_limits_is_the_reading_that_takes_longer() -> None:
    long = PlanChoice(context=131_072, prompt=131_000, sequences=1)
    cache = view("llama-3.1-8b", long, place_of("h100-sxm", (MAIN,), GPUS)).speed.limit
    assert cache is not None and "keys and values of all that is in the cache" in cache.english()
    weights = view("llama-3.1-8b", PlanChoice(), here()).speed.limit
    assert weights is not None and "every token reads the weights that work on it" in weights.english()


def test_a_prompt_that_is_longer_than_the_context_has_no_first_token_and_says_what_to_do() -> None:
    shown = view("llama-3.1-8b", PlanChoice(context=4096, prompt=5000), here())
    assert shown.speed.decode is not None and shown.speed.first_token is None
    assert shown.prompt_remark is not None
    assert shown.prompt_remark.english().startswith(
        "A prompt of 5,000 tokens does not fit into a context of 4,096. Make "
    )
    assert view("llama-3.1-8b", PlanChoice(context=4096, prompt=4096), here()).prompt_remark is None
