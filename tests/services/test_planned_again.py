"""A slider that is moved: what the plan before has worked out is taken over, and never what was true of another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from app.planner import fitting
from app.planner.fitting import Machine
from app.planner.layout import placed
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory
from app.services.planning_values import PlanChoice
from app.services.planning_view import make_plan
from tests.planner.planned_models import planned
from tests.services.planned_here import GIB, here

MODEL = planned("qwen3-30b-a3b")
CHOICE = PlanChoice(context=32_768)
MOVES = [
    replace(CHOICE, context=4096),
    replace(CHOICE, kv_type="q8_0"),
    replace(CHOICE, sequences=4),
    replace(CHOICE, gpu_layers=12),
    replace(CHOICE, micro_batch=2048),
    replace(CHOICE, flash_attention=False),
    replace(CHOICE, experts_on_cpu=5),
]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note what is worked out: whole plans, and where the layers of one lie."""
    done: list[str] = []

    def noting(name: str, was: Callable[..., object]) -> Callable[..., object]:
        def note(*values: object, **others: object) -> object:
            done.append(name)
            return was(*values, **others)

        return note

    monkeypatch.setattr("app.services.planning_view.plan_memory", noting("plan", plan_memory))
    monkeypatch.setattr("app.planner.fitting.placed", noting("placed", placed))
    return done


def test_a_prompt_plans_no_memory_again(counted: list[str]) -> None:
    place = here(free=12 * GIB)
    first = make_plan(MODEL, CHOICE, place)
    counted.clear()
    for choice in (replace(CHOICE, prompt=7), replace(CHOICE, cached=512)):
        assert make_plan(MODEL, choice, place, first) is first
    assert counted == []


def test_another_context_finds_the_layers_where_they_were(counted: list[str]) -> None:
    place = here(free=12 * GIB)
    first = make_plan(MODEL, CHOICE, place)
    again = make_plan(MODEL, replace(CHOICE, context=30_720), place)
    anew = counted.count("placed")
    counted.clear()
    after = make_plan(MODEL, replace(CHOICE, context=30_720), place, first)
    assert after.plan == again.plan and counted.count("placed") < anew / 4


@pytest.mark.parametrize("free", [2, 8, 12, 22])
def test_whatever_is_moved_the_plan_is_that_of_a_fresh_look(free: int) -> None:
    place = here(free=free * GIB)
    made = make_plan(MODEL, CHOICE, place)
    for choice in (*MOVES, *reversed(MOVES), CHOICE):
        made = make_plan(MODEL, choice, place, made)
        assert made.plan == make_plan(MODEL, choice, place).plan, choice


def test_other_devices_and_another_model_take_nothing_over() -> None:
    first = make_plan(MODEL, CHOICE, here(free=12 * GIB))
    for model, place in ((MODEL, here(free=8 * GIB)), (planned("llama-3.1-8b"), here(free=12 * GIB))):
        made = make_plan(model, CHOICE, place, first)
        assert made.machine is not first.machine and made.plan == make_plan(model, CHOICE, place).plan


def test_only_so_many_configurations_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "MOST_HELD", 10)
    machine = Machine(MODEL, here().devices)
    for context in range(256, 256 * 40, 256):
        machine.held(PlanOptions(context=context))
    assert len(machine._held) <= 10
