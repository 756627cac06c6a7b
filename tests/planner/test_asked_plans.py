"""A dry run's figures in place of the formula's: judged alike, and against what was asked for."""

from __future__ import annotations

import itertools

import pytest

from app.core.layer_choice import MIB
from app.core.metrics import DeviceMemory
from app.planner.memory_plan import MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planning import is_as_asked, plan_memory, weights_alone, with_asked
from tests.planner.planned_models import planned

GIB = 1024 * MIB
NAMES = ("llama-3.1-8b", "gemma-3-12b", "qwen3-30b-a3b", "qwen3.5-27b")


def machines(kind: str) -> list[list[PlannedDevice]]:
    """Return machines of a kind, from ones that hold nothing to ones that hold all."""
    made = []
    for gib in (4, 8, 16, 24, 64):
        main = PlannedDevice("CPU", False, gib * GIB, int(gib * 0.6 * GIB))
        gpu = PlannedDevice("GPU0", True, int(gib * 0.75 * GIB), int(gib * 0.6 * GIB), kind == "shared")
        made.append([main] if kind == "none" else [gpu, main])
    return made


def told(plan: MemoryPlan, factor: float = 1.0) -> list[DeviceMemory]:
    """Return a plan's own figures as a dry run tells them; what no log tells is not among them."""
    return [
        DeviceMemory(
            row.name,
            round((row.weights.bytes or 0) * factor),
            row.kv.bytes,
            row.compute.bytes,
            state=row.state.bytes,
        )
        for row in plan.devices
    ]


@pytest.mark.parametrize("kind", ["own", "shared", "none"])
@pytest.mark.parametrize("layers", [None, -1, 7, 0])
def test_the_formula_s_own_figures_change_no_verdict(kind: str, layers: int | None) -> None:
    seen = set()
    for name, devices, context in itertools.product(NAMES, machines(kind), (2048, 16_384, 131_072)):
        plan = plan_memory(planned(name), PlanOptions(context, gpu_layers=layers), devices)
        asked = with_asked(plan, told(plan), planned(name), devices)
        same = (plan.verdict, plan.has_room, plan.largest_context, plan.gpu_layers)
        assert (asked.verdict, asked.has_room, asked.largest_context, asked.gpu_layers) == same
        assert plan.has_room is (
            plan.verdict in ("fits", "partly") or (plan.has_room and plan.verdict == "less_context")
        )
        seen.add(plan.verdict)
    assert len(seen) > 1


@pytest.mark.parametrize("kind", ["own", "shared", "none"])
@pytest.mark.parametrize("layers", [None, -1, 7])
def test_a_dry_run_s_verdict_holds_for_what_was_asked(kind: str, layers: int | None) -> None:
    for name, devices, context, factor in itertools.product(NAMES, machines(kind), (2048, 16_384), (0.8, 1.25)):
        plan = plan_memory(planned(name), PlanOptions(context, gpu_layers=layers), devices)
        asked = with_asked(plan, told(plan, factor), planned(name), devices)
        if asked.verdict in ("fits", "partly"):
            assert asked.has_room
        if asked.verdict == "too_large":
            assert not asked.has_room
        if asked.verdict == "less_context" and not asked.has_room:
            assert 0 < (asked.largest_context or 0) < context
        if asked.verdict == "fits" and kind != "none":
            main = asked.devices[-1]
            assert asked.gpu_layers == plan.gpu_layers and not main.kv.bytes and not asked.options.experts_on_cpu


def test_what_lies_in_main_memory_in_part_never_fits_as_a_whole() -> None:
    devices = [PlannedDevice("GPU0", True, 24 * GIB, 24 * GIB), PlannedDevice("CPU", False, 8 * GIB, 6 * GIB)]
    plan = plan_memory(planned("qwen3-30b-a3b"), PlanOptions(8192, gpu_layers=10), devices)
    assert plan.verdict == "too_large"
    small = [DeviceMemory("GPU0", 3 * GIB, GIB, MIB), DeviceMemory("CPU", GIB, GIB, MIB)]
    assert with_asked(plan, small, planned("qwen3-30b-a3b"), devices).verdict == "partly"


def test_a_shorter_context_is_no_way_out_where_the_one_asked_for_is_as_short() -> None:
    devices = [PlannedDevice("GPU0", True, 8 * GIB, 7 * GIB), PlannedDevice("CPU", False, 64 * GIB, 40 * GIB)]
    plan = plan_memory(planned("llama-3.1-8b"), PlanOptions(4096, gpu_layers=-1), devices)
    assert plan.verdict == "fits"
    more = [DeviceMemory("GPU0", 6 * GIB, GIB, 600 * MIB), DeviceMemory("CPU", GIB, None, MIB)]
    asked = with_asked(plan, more, planned("llama-3.1-8b"), devices)
    assert asked.verdict == "too_large" and (asked.largest_context or 0) < 4096


@pytest.mark.parametrize(
    ("name", "sequences", "is_whole"),
    [
        ("llama-3.1-8b", 8, True),
        ("llama-3.1-8b", 16, False),
        ("gemma-3-12b", 1, True),
        ("gemma-3-12b", 2, False),
        ("qwen3.5-27b", 2, False),
    ],
)
def test_of_several_sequences_is_asked_what_a_load_has_as_many_of(name: str, sequences: int, is_whole: bool) -> None:
    assert is_as_asked(planned(name), PlanOptions(8192 * sequences, sequences=sequences)) is is_whole


def test_what_is_told_of_weights_alone_leaves_the_rest_to_the_formula() -> None:
    devices = machines("own")[-1]
    plan = plan_memory(planned("gemma-3-12b"), PlanOptions(16_384, sequences=2), devices)
    asked = with_asked(plan, weights_alone(told(plan, 1.1)), planned("gemma-3-12b"), devices)
    for before, row in zip(plan.devices, asked.devices, strict=True):
        assert (row.weights.source, row.kv, row.state, row.compute) == (
            "asked",
            before.kv,
            before.state,
            before.compute,
        )
        assert row.weights.bytes == pytest.approx((before.weights.bytes or 0) * 1.1, abs=1)
