"""Sentences about a number of something that is one: they are others than those about several."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.cli.plan_text import _lever
from app.core.words import counted, translate
from app.planner import diagnosis_evidence as evidence
from app.planner.answer_times import times_of
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory
from app.services.plan_answer import LeverValue, PlanValue
from app.services.plan_export import use_words
from app.services.plan_values import Chosen
from app.services.planning_words import answer_words
from tests.planner.made_answers import SPLIT, around, figures
from tests.planner.works import GIB, planned_8b


def test_one_of_something_has_a_sentence_of_its_own() -> None:
    one, several = translate("Test", "one"), translate("Test", "several")
    assert [counted(number, one, several) for number in (0, 1, 2, None)] == [several, one, several, several]


def test_evidence_of_one_token() -> None:
    one, two = (figures(prompt=12 + number, cached=12) for number in (1, 2))
    said = [reading.figure.english() for each in (one, two) if (reading := evidence.reading(each, times_of(each)))]
    assert said[0].startswith("1 token in ") and said[1].startswith("2 tokens in ")
    again = [
        row.figure.english() for number in (1, 2) if (row := evidence.read_again(around(SPLIT, read_again=number)))
    ]
    assert again == ["1 token", "2 tokens"]
    pages = [row.figure.english() for size in (None, 4096) if (row := evidence.from_disk(1, size))]
    assert pages[0] == "1 page fault" and pages[1].endswith(", 1 page fault")


@pytest.mark.parametrize(
    ("layers", "ends"),
    [(0, "with this one none does"), (1, "with this one only 1 of 33"), (2, "with this one only 2 of 33")],
)
def test_layers_that_a_shorter_context_would_bring_to_the_gpu(layers: int, ends: str) -> None:
    devices = (
        PlannedDevice("CUDA0", True, 24 * GIB, round(2.2 * GIB)),
        PlannedDevice("CPU", False, 64 * GIB, 60 * GIB),
    )
    plan = plan_memory(planned_8b(scale=0.1), PlanOptions(context=65_536), devices)
    assert plan.verdict == "less_context"
    assert answer_words(replace(plan, gpu_layers=layers), "", 33, 1).english().endswith(ends)


def test_layers_on_the_command_line() -> None:
    plan = PlanValue("l4", "L4", "partly", None, 1, 1, 1, False, 1, 1, None, None, None, None, (), ())
    said = [_lever(LeverValue("gpu_layers", 1, True, gpu_layers=number), plan) for number in (1, 2)]
    assert [each.partition(" on")[0] for each in said] == ["1 layer", "2 layers"]


def test_one_conversation_in_an_export() -> None:
    assert "one conversation" in use_words(Chosen()).english()
    assert "2 conversations at once" in use_words(Chosen(users=2)).english()
