"""Changes that need less memory: what each saves of what is shown, and whether that is enough."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.core.model import ALL_LAYERS
from app.planner.memory_plan import MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory
from tests.planner.planned_models import planned

GIB = 1 << 30


def machine(gib: float, main: float) -> list[PlannedDevice]:
    size = int(gib * GIB)
    gpus = [PlannedDevice("GPU0", True, size, size)] if gib else []
    return [*gpus, PlannedDevice("CPU", False, 64 * GIB, int(main * GIB))]


def taken(plan: MemoryPlan, *, everywhere: bool) -> int:
    return sum(row.load.size or 0 for row in plan.devices if row.is_gpu or everywhere)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b"])
@pytest.mark.parametrize("gib", [0, 0.75, 6, 12])
@pytest.mark.parametrize("main", [4, 40])
@pytest.mark.parametrize("layers", [None, ALL_LAYERS, 10])
def test_a_lever_saves_of_what_is_shown_and_says_whether_that_is_enough(
    name: str, gib: float, main: float, layers: int | None
) -> None:
    devices, model, options = machine(gib, main), planned(name), PlanOptions(8192, gpu_layers=layers)
    shown = plan_memory(model, options, devices)
    spare = shown.devices[-1].spare
    everywhere = not taken(shown, everywhere=False) or (spare is not None and spare < 0)
    for each in shown.levers:
        assert each.saves > 0
        if each.options is None:
            continue
        wants = each.options
        fields = (wants.context, wants.kv_type_k, wants.kv_type_v, wants.experts_on_cpu, wants.flash_attention)
        as_shown = shown.options.gpu_layers if each.kind != "gpu_layers" else wants.gpu_layers
        experts = shown.options.experts_on_cpu or wants.experts_on_cpu
        after = plan_memory(model, PlanOptions(*fields[:3], gpu_layers=as_shown, experts_on_cpu=experts), devices)
        assert taken(shown, everywhere=everywhere) - taken(after, everywhere=everywhere) == each.saves
        used = layers if layers is None and wants.gpu_layers == ALL_LAYERS else wants.gpu_layers
        then = plan_memory(model, replace(wants, gpu_layers=used), devices)
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
