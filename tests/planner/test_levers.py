"""Changes that need less memory: what each saves of what is shown, and whether that is enough."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.core.model import ALL_LAYERS
from app.planner.fitting import Machine
from app.planner.levers import NOTICEABLE
from app.planner.memory_plan import MemoryPlan, PlannedDevice, rooms_left
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory
from app.planner.quantised import OtherFile
from tests.planner.planned_models import planned

GIB = 1 << 30


def machine(gib: float, main: float) -> list[PlannedDevice]:
    size = int(gib * GIB)
    gpus = [PlannedDevice("GPU0", True, size, size)] if gib else []
    return [*gpus, PlannedDevice("CPU", False, 64 * GIB, int(main * GIB))]


def missing(plan: MemoryPlan) -> list[int]:
    return [max(0, -(room or 0)) for room in rooms_left([row.load for row in plan.devices])]


def taken(plan: MemoryPlan, counted: list[int]) -> int:
    return sum(plan.devices[number].load.size or 0 for number in counted)


def counted(plan: MemoryPlan) -> list[int]:
    """Return the devices whose bytes count: those that lack some, else the GPU, or all where nothing is on it."""
    lacking = [number for number, lack in enumerate(missing(plan)) if lack]
    on_gpu = [number for number, row in enumerate(plan.devices) if row.is_gpu and row.load.size]
    return lacking or on_gpu or list(range(len(plan.devices)))


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b"])
@pytest.mark.parametrize("gib", [0, 0.75, 6, 12])
@pytest.mark.parametrize("main", [4, 40])
@pytest.mark.parametrize("layers", [None, ALL_LAYERS, 10])
def test_a_lever_saves_of_what_is_shown_and_says_whether_that_is_enough(
    name: str, gib: float, main: float, layers: int | None
) -> None:
    devices, model, options = machine(gib, main), planned(name), PlanOptions(8192, gpu_layers=layers)
    shown = plan_memory(model, options, devices)
    where, before = counted(shown), missing(shown)
    for each in shown.levers:
        assert each.saves > 0
        if each.options is None:
            continue
        wants = each.options
        lies = wants if each.kind in ("gpu_layers", "experts_on_cpu") else shown.options
        places = {"gpu_layers": lies.gpu_layers, "experts_on_cpu": lies.experts_on_cpu}
        after = plan_memory(model, replace(wants, **places), devices)
        used = layers if layers is None and wants.gpu_layers == ALL_LAYERS else wants.gpu_layers
        then = plan_memory(model, replace(wants, gpu_layers=used), devices)
        if layers is None and shown.verdict == "too_large":
            after = then  # what is on which device is decided anew
        assert taken(shown, where) - taken(after, where) == each.saves
        assert all(late <= lack for late, lack in zip(missing(after), before, strict=True)), "it makes nothing worse"
        assert not any(before) or sum(missing(after)) <= NOTICEABLE * sum(before), "and what is missing smaller"
        if shown.verdict in ("fits", "too_large") or layers is not None:
            assert each.fits is (then.has_room is True), each
        else:
            assert each.fits is (then.verdict == "fits"), each


def test_where_main_memory_is_short_there_are_levers_that_relieve_it() -> None:
    shown = plan_memory(planned("qwen3-32b"), PlanOptions(8192), machine(6, 13))
    assert shown.verdict == "too_large"
    kinds = {each.kind: each for each in shown.levers}
    assert {"context", "kv_type", "quantisation"} <= set(kinds)
    assert kinds["quantisation"].fits, "a smaller file is enough with layers in main memory"
    nothing = plan_memory(planned("llama-3.1-8b"), PlanOptions(8192, gpu_layers=0), machine(6, 3))
    assert any(each.kind == "kv_type" for each in nothing.levers)


def test_layers_that_give_way_by_themselves_are_no_lever() -> None:
    shown = plan_memory(planned("llama-3.1-8b"), PlanOptions(8192), machine(6, 40))
    assert [each.kind for each in shown.levers] == ["context", "kv_type", "kv_type", "quantisation"]
    chosen = plan_memory(planned("llama-3.1-8b"), PlanOptions(8192, gpu_layers=ALL_LAYERS), machine(6, 40))
    (layers,) = (each for each in chosen.levers if each.kind == "gpu_layers")
    assert layers.fits and layers.options is not None and layers.options.gpu_layers == shown.gpu_layers


def test_what_would_make_main_memory_too_small_is_no_lever() -> None:
    """Mixtral on an L4 beside 24 GiB: its experts of a few layers lie in main memory, of all they would not fit."""
    model, devices = planned("mixtral-8x7b"), machine(22.5, 24)
    for options in (PlanOptions(16384), PlanOptions(16384, gpu_layers=26)):
        shown = plan_memory(model, options, devices)
        assert shown.verdict == "partly"
        assert not [each for each in shown.levers if each.kind == "experts_on_cpu"]


def test_where_moved_experts_are_too_much_for_main_memory_undoing_that_is_the_lever() -> None:
    model, devices = planned("mixtral-8x7b"), machine(22.5, 24)
    shown = plan_memory(model, PlanOptions(16384, experts_on_cpu=ALL_LAYERS), devices)
    assert shown.verdict == "too_large" and missing(shown)[0] == 0 < missing(shown)[1]
    kinds = {each.kind: each for each in shown.levers}
    assert set(kinds) == {"experts_on_cpu", "quantisation"}, "a shorter context would only relieve the GPU"
    undone = kinds["experts_on_cpu"]
    assert undone.fits and undone.options is not None and undone.options.experts_on_cpu == 0
    assert undone.saves > missing(shown)[1]


def test_where_layers_are_too_much_for_main_memory_more_on_the_gpu_are_the_lever() -> None:
    shown = plan_memory(planned("qwen3-32b"), PlanOptions(8192, gpu_layers=2), machine(22.5, 12))
    assert shown.verdict == "too_large" and missing(shown)[0] == 0 < missing(shown)[1]
    (layers,) = (each for each in shown.levers if each.kind == "gpu_layers")
    assert layers.fits and layers.options is not None and (layers.options.gpu_layers or 0) > 2


def test_layers_that_are_chosen_keep_the_experts_for_which_there_is_room() -> None:
    model, devices = planned("gpt-oss-20b"), machine(12, 40)
    shown = plan_memory(model, PlanOptions(8192, gpu_layers=ALL_LAYERS), devices)
    (experts,) = (each for each in shown.levers if each.kind == "experts_on_cpu")
    assert experts.fits and experts.options is not None
    by_itself = plan_memory(model, PlanOptions(8192), devices).options
    assert experts.options.experts_on_cpu == by_itself.experts_on_cpu > 0


def test_a_smaller_file_is_one_that_there_is_where_that_is_known() -> None:
    model, options = planned("qwen3-32b"), PlanOptions(8192)
    assert model.weights is not None
    whole = model.file_bytes or model.weights.total
    sizes = {"Q6_K": 1.2, "Q4_K_S": 0.9, "Q3_K_M": 0.4, "Q2_K": 0.3}
    files = tuple(OtherFile(name, f"hub:a/b:{name}", round(whole * share)) for name, share in sizes.items())

    def smaller(files: tuple[OtherFile, ...] | None, gib: float) -> list[tuple[str, str, bool, bool]]:
        devices = machine(gib, 40)
        plan = plan_memory(model, options, devices, machine=Machine(model, devices, files=files))
        found = [each for each in plan.levers if each.kind == "quantisation"]
        return [(each.name, each.path, each.fits, each.is_estimate) for each in found]

    assert smaller(files, 12) == [("Q3_K_M", "hub:a/b:Q3_K_M", True, False)], "the largest that fits"
    assert smaller(files, 3) == [("Q2_K", "hub:a/b:Q2_K", False, False)], "else the smallest"
    assert smaller(files[:1], 12) == smaller((), 10) == []
    (estimate,) = smaller(None, 12)
    assert estimate[1] == "" and estimate[3]
