"""Will it fit: verdicts, what gives way in which order, how far one can go, and what would help."""

from __future__ import annotations

from typing import Any

import llama_cpp
import pytest
from msgspec.structs import replace

from app.core.layer_choice import MIB
from app.core.metrics import DeviceMemory
from app.core.model import ALL_LAYERS, MOST_SEQUENCES, LoadOptions
from app.planner.margins import OVERHEAD, overhead_and_margin, reserve
from app.planner.memory_plan import DevicePlan, Lever, MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions, plan_options
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory, with_asked
from tests.planner.planned_models import planned

GIB = 1024 * MIB
MAIN = PlannedDevice("CPU", is_gpu=False, total=64 * GIB, free=48 * GIB)


def gpu(gib: float, **values: Any) -> PlannedDevice:
    return PlannedDevice("CUDA0", is_gpu=True, total=int(gib * GIB), free=int(gib * GIB), **values)


def plan(name: str, gib: float, *, may_shorten: bool = False, context: int = 8192, **options: Any) -> MemoryPlan:
    return plan_memory(planned(name), PlanOptions(context, **options), [gpu(gib), MAIN], may_shorten=may_shorten)


def asked_of(found: MemoryPlan, *said: DeviceMemory, gib: float = 24) -> MemoryPlan:
    return with_asked(found, said, planned("llama-3.1-8b"), [gpu(gib), MAIN])


def on_gpu(found: MemoryPlan) -> DevicePlan:
    return next(device for device in found.devices if device.is_gpu)


def lever(found: MemoryPlan, kind: str, name: str = "") -> Lever:
    return next(each for each in found.levers if each.kind == kind and name in (each.name, ""))


def test_what_fits_is_told_in_rows_with_their_sources() -> None:
    found = plan("llama-3.1-8b", 24)
    assert (found.verdict, found.gpu_layers) == ("fits", 33)
    row = on_gpu(found)
    weights = planned("llama-3.1-8b").weights
    assert weights is not None
    assert row.weights.bytes == weights.total - weights.embedding
    assert (row.kv.bytes, row.state.bytes) == (GIB, 0)
    assert [figure.source for figure in row.figures] == ["formula"] * 4 + ["assumed"] * 2
    assert row.taken == sum(figure.bytes or 0 for figure in row.figures[:-1])
    assert row.needed == row.taken + (row.margin.bytes or 0)
    assert row.spare == 24 * GIB - row.needed
    assert 5.9 < row.needed / GIB < 6.5


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-3-12b", "qwen3.5-27b", "qwen3-30b-a3b"])
@pytest.mark.parametrize("gib", [3, 4, 6, 8, 12, 16])
def test_whatever_is_decided_fits(name: str, gib: float) -> None:
    for may_shorten in (False, True):
        found = plan(name, gib, may_shorten=may_shorten)
        assert found.verdict != "too_large"
        assert all(device.spare is not None and device.spare >= 0 for device in found.devices)


def test_one_layer_more_than_was_decided_does_not_fit() -> None:
    found = plan("gemma-3-12b", 6)
    assert found.verdict == "partly" and found.gpu_layers is not None and 0 < found.gpu_layers < 49
    more = plan("gemma-3-12b", 6, gpu_layers=found.gpu_layers + 1)
    assert (on_gpu(more).spare or 0) < 0
    assert more.verdict == "less_context" and more.gpu_layers == found.gpu_layers + 1
    assert plan("gemma-3-12b", 6, gpu_layers=found.gpu_layers).verdict == "partly"


def test_the_context_gives_way_first_where_that_is_allowed() -> None:
    wanted = plan("llama-3.1-8b", 8, context=65536)
    assert wanted.verdict == "less_context"
    assert wanted.options.context == 65536 and (wanted.gpu_layers or 99) < 33
    shorter = plan("llama-3.1-8b", 8, context=65536, may_shorten=True)
    assert (shorter.verdict, shorter.gpu_layers) == ("less_context", 33)
    assert shorter.options.context == shorter.largest_context == wanted.largest_context
    assert plan("llama-3.1-8b", 8, context=shorter.options.context).verdict == "fits"
    assert plan("llama-3.1-8b", 8, context=shorter.options.context + 256).verdict == "less_context"


def test_the_experts_of_a_mixture_give_way_before_layers() -> None:
    found = plan("qwen3-30b-a3b", 8)
    assert found.verdict == "partly"
    moved = found.options.experts_on_cpu
    assert found.gpu_layers == 49 and 0 < moved < 48
    one_less = plan("qwen3-30b-a3b", 8, gpu_layers=49, experts_on_cpu=moved - 1)
    assert (on_gpu(one_less).spare or 0) < 0, "no more of them move than have to"
    tight = plan("qwen3-30b-a3b", 2)
    assert tight.options.experts_on_cpu == ALL_LAYERS and 0 < (tight.gpu_layers or 0) < 49


def test_where_main_memory_is_too_small_for_all_experts_layers_give_way_whole() -> None:
    model, small = planned("deepseek-v2-lite"), replace(MAIN, free=int(13.33 * GIB))
    found = plan_memory(model, PlanOptions(8192), [gpu(4), small])
    assert (found.verdict, found.gpu_layers, found.options.experts_on_cpu) == ("partly", 6, 0)
    assert plan_memory(model, PlanOptions(8192, experts_on_cpu=ALL_LAYERS), [gpu(4), small]).verdict == "too_large"
    assert all(device.spare is not None and device.spare >= 0 for device in found.devices)
    model = planned("mixtral-8x7b")
    assert plan_memory(model, PlanOptions(8192), [gpu(4), replace(MAIN, free=8 * GIB)]).verdict == "too_large"


def test_without_a_gpu_main_memory_decides() -> None:
    model = planned("llama-3.1-8b")
    assert plan_memory(model, PlanOptions(8192), [MAIN]).verdict == "fits"
    found = plan_memory(model, PlanOptions(131072), [replace(MAIN, free=12 * GIB)])
    assert (found.verdict, found.gpu_layers) == ("less_context", 0)
    assert plan_memory(model, PlanOptions(8192), [replace(MAIN, free=4 * GIB)]).verdict == "too_large"


def test_the_longest_context_goes_by_steps_up_to_what_the_model_was_trained_for() -> None:
    assert plan("llama-3.1-8b", 80).largest_context == 131072
    assert plan("llama-3.1-8b", 80, sequences=2).largest_context == 2 * 131072
    found = plan("llama-3.1-8b", 8)
    assert found.largest_context is not None and found.largest_context % 256 == 0
    assert plan("llama-3.1-8b", 8, context=found.largest_context).verdict == "fits"
    assert plan("llama-3.1-8b", 8, context=found.largest_context + 256).verdict != "fits"
    assert plan("mamba-2.8b", 8).largest_context == 1048576


def test_the_most_sequences_each_have_the_context() -> None:
    found = plan("llama-3.1-8b", 23.5)
    assert found.most_sequences == 18
    assert plan("llama-3.1-8b", 23.5, context=18 * 8192, sequences=18, gpu_layers=-1).verdict == "fits"
    assert plan("llama-3.1-8b", 23.5, context=19 * 8192, sequences=19, gpu_layers=-1).verdict != "fits"
    assert plan("llama-3.1-8b", 23.5, context=4 * 8192, sequences=4).most_sequences == 18
    assert plan("gemma-3-1b", 80).most_sequences == 256
    assert plan("llama-3.1-8b", 5, gpu_layers=-1).most_sequences == 0
    assert plan("qwen3.5-27b", 24, context=256).most_sequences == 52  # each with a state of 150 MiB


def test_two_gpus_share_the_layers_and_each_keeps_its_margin() -> None:
    second = replace(gpu(16), name="CUDA1")
    found = plan_memory(planned("qwen3.5-27b"), PlanOptions(8192), [gpu(16), second, MAIN])
    assert (found.verdict, found.gpu_layers) == ("fits", 65)
    assert [device.name for device in found.devices] == ["CUDA0", "CUDA1", "CPU"]
    assert all((device.margin.bytes or 0) > 0 and (device.spare or -1) >= 0 for device in found.devices)
    one, two = found.devices[:2]
    assert (one.kv.bytes or 0) + (two.kv.bytes or 0) == 16 * 2 * 1024 * 2 * 8192


def test_memory_that_a_gpu_shares_counts_once() -> None:
    shared = PlannedDevice("MTL0", is_gpu=True, total=16 * GIB, free=16 * GIB, shares_main_memory=True)
    main = PlannedDevice("CPU", is_gpu=False, total=16 * GIB, free=16 * GIB)
    model = planned("gemma-3-12b")
    assert plan_memory(model, PlanOptions(8192), [shared, main]).verdict == "fits"
    assert plan_memory(model, PlanOptions(8192), [shared, replace(main, free=8 * GIB)]).verdict != "fits"
    assert reserve(shared) == 4 * GIB


def test_the_margin_is_the_one_that_a_load_leaves() -> None:
    assert reserve(gpu(24)) == GIB
    assert reserve(gpu(4)) == GIB // 2
    assert overhead_and_margin(gpu(24)) == (OVERHEAD, GIB - OVERHEAD)
    assert overhead_and_margin(gpu(1)) == (GIB // 8, 0)
    assert overhead_and_margin(MAIN) == (0, GIB)
    assert reserve(PlannedDevice("CPU", is_gpu=False, total=None, free=GIB)) == GIB // 2
    assert reserve(PlannedDevice("CUDA0", is_gpu=True)) is None


def test_a_smaller_quantisation_is_an_estimate_and_the_best_that_fits() -> None:
    small = lever(plan("gemma-3-12b", 6), "quantisation")
    assert small.is_estimate and small.fits and small.options is None
    assert small.name == "IQ2_XS"
    assert lever(plan("gemma-3-12b", 8), "quantisation").name == "Q3_K_M"
    assert not lever(plan("qwen3.5-27b", 6), "quantisation").fits


def test_experts_and_flash_attention_are_levers_where_there_are_any() -> None:
    assert lever(plan("qwen3-30b-a3b", 24), "experts_on_cpu").saves > 10 * GIB
    assert lever(plan("llama-3.1-8b", 8, flash_attention=False), "flash_attention").saves > 400 * MIB
    assert not [each for each in plan("llama-3.1-8b", 8).levers if each.kind in ("flash_attention", "experts_on_cpu")]
    alone = plan_memory(planned("qwen3-30b-a3b"), PlanOptions(8192), [MAIN])
    assert {each.kind for each in alone.levers} == {"context", "kv_type", "quantisation"}


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("llama-3.1-8b", {"flash_attention": False, "kv_type_v": "q8_0"}, "needs flash attention"),
        ("deepseek-v2-lite", {"kv_type_k": "q8_0"}, "one row"),
        ("phi-3-mini", {"kv_type_k": "q4_0"}, None),
    ],
)
def test_what_llama_cpp_refuses_is_explained(name: str, options: dict[str, Any], words: str | None) -> None:
    found = plan(name, 24, **options)
    if words is None:
        assert found.reason is None and found.verdict == "fits"
        return
    assert found.verdict == "unknown" and found.devices == ()
    assert found.reason is not None and words in found.reason.english()


def test_no_more_sequences_are_planned_than_llama_cpp_has() -> None:
    assert llama_cpp.llama_max_parallel_sequences() == MOST_SEQUENCES
    assert plan("gemma-3-1b", 80, context=256 * 256, sequences=256).verdict == "fits"
    found = plan("gemma-3-1b", 80, context=257 * 256, sequences=257)
    assert found.verdict == "unknown" and found.reason is not None and "at most 256" in found.reason.english()


def test_heads_that_do_not_divide_cannot_be_quantised() -> None:
    model = planned("phi-3-mini")
    narrow = replace(model, cache=tuple(replace(layer, key_width=80) for layer in model.cache))
    found = plan_memory(narrow, PlanOptions(8192, kv_type_k="q8_0"), [gpu(24)])
    assert found.reason is not None and "blocks of 32" in found.reason.english()


def test_what_is_unknown_stays_unknown() -> None:
    unknown = PlannedModel("", "new", "unknown", weights=planned("llama-3.1-8b").weights, layers=32)
    found = plan_memory(unknown, PlanOptions(8192), [gpu(24), MAIN])
    row = on_gpu(found)
    assert found.verdict == "unknown" and found.largest_context is None and found.levers == ()
    assert row.weights.bytes is not None and row.kv.bytes is row.compute.bytes is None
    assert row.taken is row.needed is row.spare is None
    sizeless = plan_memory(planned("llama-3.1-8b"), PlanOptions(8192), [PlannedDevice("CUDA0", is_gpu=True)])
    assert sizeless.verdict == "unknown" and sizeless.devices[0].weights.bytes is not None
    assert plan_memory(planned("llama-3.1-8b"), PlanOptions(8192), []).verdict == "unknown"


def test_a_gpu_alone_is_judged_without_main_memory() -> None:
    found = plan_memory(
        planned("llama-3.1-8b"), PlanOptions(8192), [PlannedDevice("L4", is_gpu=True, total=24 * GIB)]
    )
    assert found.verdict == "fits" and found.devices[-1].name == "CPU" and found.devices[-1].spare is None


def test_a_dry_run_takes_the_place_of_the_formula() -> None:
    found = plan("llama-3.1-8b", 24)
    asked = asked_of(
        found,
        DeviceMemory("CUDA0", 5 * GIB, GIB, 200 * MIB),
        DeviceMemory("CPU", GIB, None, 20 * MIB, output=4 * MIB),
    )
    row, main = asked.devices
    assert (row.weights.bytes, row.kv.bytes, row.compute.bytes) == (5 * GIB, GIB, 200 * MIB)
    assert {figure.source for figure in row.figures[:4]} == {"asked"} and row.overhead.source == "assumed"
    assert (main.compute.bytes, main.kv.bytes) == (24 * MIB, 0)
    assert asked.verdict == "fits"
    assert asked_of(found, DeviceMemory("CUDA0", 22 * GIB - 700 * MIB, 2 * GIB, 1)).verdict == "less_context"
    assert asked_of(found, DeviceMemory("CUDA0", 24 * GIB, GIB, 1)).verdict == "too_large"
    partial = DeviceMemory("CUDA0", None, GIB, 1, complete=False)
    assert asked_of(found, partial).devices[0].weights == found.devices[0].weights


def test_a_dry_run_can_say_that_it_fits_after_all() -> None:
    found = plan("llama-3.1-8b", 6, gpu_layers=-1)
    assert found.verdict == "less_context"
    assert asked_of(found, DeviceMemory("CUDA0", 3 * GIB, GIB, 1), gib=6).verdict == "fits"


def test_options_of_a_load_are_what_is_planned() -> None:
    options = LoadOptions(kv_type_k="q8_0", gpu_layers=5, experts_on_cpu=-1, micro_batch=64, flash_attention="off")
    assert plan_options(options, 4096, 3) == PlanOptions(
        4096, "q8_0", sequences=3, gpu_layers=5, experts_on_cpu=-1, micro_batch=64, flash_attention=False
    )
    assert plan_options(LoadOptions(), None).context == 8192
    assert plan_options(LoadOptions(), None).flash_attention
    assert PlanOptions(1000).cells == 1024
