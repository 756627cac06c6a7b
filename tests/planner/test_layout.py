"""Which layer lies where, held against what the engine reads of llama.cpp's log, and what each device holds."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from app.core.layer_choice import MIB
from app.core.model_reads import moved_experts
from app.engine.dry_run import gpu_bytes
from app.engine.placement import weights_by_device
from app.planner.buffer_formula import buffers
from app.planner.cache_formula import cache_by_layer
from app.planner.layout import Holding, all_layers, held, placed, places
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel, planned_model
from tests.planner.planned_models import planned
from tests.sparse_models import ALL

GIB = 1024 * MIB
ONE = (PlannedDevice("CUDA0", is_gpu=True, total=24 * GIB, free=24 * GIB),)
TWO = (*ONE, PlannedDevice("CUDA1", is_gpu=True, total=12 * GIB, free=12 * GIB))


def holdings(model: PlannedModel, options: PlanOptions, gpus: tuple[PlannedDevice, ...]) -> tuple[Holding, ...]:
    return held(model, options, placed(model, options, gpus), len(gpus) + 1)


def log_of(where: tuple[int | None, ...], experts: list[str]) -> list[str]:
    """Return what llama.cpp would log of a placement."""
    lines = [f"tensor {name} (1 MiB q4_K) buffer type overridden to CPU" for name in experts]
    for layer, place in enumerate(where):
        device = "CPU" if place is None else f"CUDA{place}"
        lines.append(f"load_tensors: layer {layer:3d} assigned to device {device}, is_swa = 0")
    return lines


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gemma-3-1b", "gemma-3n-e4b", "qwen3-30b-a3b", "jamba-52b"])
@pytest.mark.parametrize("gpus", [(), ONE, TWO])
@pytest.mark.parametrize("layers", [0, 1, 7, -1])
@pytest.mark.parametrize("experts_on_cpu", [0, 1, 5, -1])
def test_weights_lie_where_the_engine_finds_them(
    name: str, gpus: tuple[PlannedDevice, ...], layers: int, experts_on_cpu: int
) -> None:
    model, header = planned(name), ALL[name]().header()
    assert model.layers is not None
    options = PlanOptions(8192, gpu_layers=layers, experts_on_cpu=experts_on_cpu)
    moved = re.compile(moved_experts(experts_on_cpu))
    experts = [tensor.name for tensor in header.tensors if experts_on_cpu and moved.search(tensor.name)]
    found = weights_by_device([header], log_of(places(model.layers, layers, gpus), experts))
    assert found is not None
    names = [*(gpu.name for gpu in gpus), "CPU"]
    here = {name: holding.weights for name, holding in zip(names, holdings(model, options, gpus), strict=True)}
    assert {device: size for device, size in here.items() if size} == found.sizes


@pytest.mark.parametrize("gpus", [(), ONE])
def test_blocks_that_only_predict_further_tokens_are_not_loaded(gpus: tuple[PlannedDevice, ...]) -> None:
    header = ALL["qwen3.5-27b"]().header()
    predicting = replace(header, metadata={**header.metadata, "qwen35.nextn_predict_layers": 4})
    model = planned_model([predicting])
    found = weights_by_device([predicting], log_of(places(64, -1, gpus), []))
    assert found is not None and model.weights is not None
    left_out = sum(layer.dense for layer in model.weights.layers[60:])
    names = [*(gpu.name for gpu in gpus), "CPU"]
    here = {name: x.weights for name, x in zip(names, holdings(model, PlanOptions(8192), gpus), strict=True)}
    assert here == found.sizes
    assert sum(found.sizes.values()) == model.weights.total - left_out


def test_the_last_layers_go_to_gpus_in_the_ratio_of_what_is_free() -> None:
    assert places(5, 3, ONE) == (None, None, None, 0, 0, 0)
    assert places(5, 99, ONE) == (0,) * 6
    assert places(5, -1, TWO) == (0, 0, 0, 0, 1, 1)
    assert places(5, 3, TWO) == (None, None, None, 0, 0, 1)
    assert places(5, 0, TWO) == places(5, 4, ()) == (None,) * 6
    unknown = tuple(PlannedDevice(name, is_gpu=True) for name in "AB")
    assert places(3, -1, unknown) == (0, 0, 1, 1)


def test_cache_and_states_go_with_their_layers() -> None:
    model, options = planned("qwen3.5-27b"), PlanOptions(8192, gpu_layers=33)
    layers = cache_by_layer(model, options)
    assert layers is not None
    gpu, main = holdings(model, options, ONE)
    assert (main.kv, main.state) == (sum(x.kv for x in layers[:32]), sum(x.state for x in layers[:32]))
    assert (gpu.kv, gpu.state) == (sum(x.kv for x in layers[32:]), sum(x.state for x in layers[32:]))


def test_a_gpu_that_computes_all_leaves_what_goes_in_and_the_logits_to_main_memory() -> None:
    model, options = planned("llama-3.1-8b"), PlanOptions(8192)
    sizes = buffers(model, options)
    assert sizes is not None
    gpu, main = holdings(model, options, ONE)
    assert (gpu.compute, main.compute) == (sizes.device, sizes.host + sizes.output)
    assert sizes.host == 513 * (8192 * 2 + 4096 * 4)


def test_a_gpu_gets_a_copy_of_the_largest_matrix_that_it_computes_with_and_does_not_hold() -> None:
    model, options = planned("qwen3-30b-a3b"), PlanOptions(8192, experts_on_cpu=-1)
    whole, _ = holdings(model, PlanOptions(8192), ONE)
    gpu, main = holdings(model, options, ONE)
    assert whole.compute is not None
    assert gpu.compute == whole.compute + 2048 * 768 * 128 * 18 // 32
    assert main.kv == 0


def test_gpus_one_behind_the_other_have_four_copies_of_the_mask() -> None:
    model, options = planned("llama-3.1-8b"), PlanOptions(8192)
    sizes = buffers(model, options)
    assert sizes is not None
    first, second, _ = holdings(model, options, TWO)
    assert first.compute == second.compute == sizes.device + 3 * 513 * 8192 * 2


def test_the_first_gpu_computes_with_what_lies_in_main_memory_even_where_no_layer_lies_on_it() -> None:
    model, copied = planned("llama-3.1-8b"), 4096 * 14336 * 18 // 32
    sizes = buffers(model, PlanOptions(8192))
    assert sizes is not None
    first, second, main = holdings(model, PlanOptions(8192, gpu_layers=20), TWO)
    assert (first.compute, second.compute) == (sizes.device + copied, sizes.device)
    assert main.compute == sizes.device + sizes.output
    first, second, _ = holdings(model, PlanOptions(8192, gpu_layers=0), TWO)
    assert (first.compute, first.weights, second.compute) == (sizes.device + copied, 0, 0)
    (alone,) = holdings(model, PlanOptions(8192, gpu_layers=0), ())
    assert alone.compute == main.compute


def test_a_quantised_cache_is_unpacked_one_layer_at_a_time() -> None:
    """Keys and values are as wide as those of Qwen3.5 4B, of which 1.30 GiB were seen where f16 had 0.31."""
    model = planned("llama-3.1-8b")
    options = PlanOptions(262144, kv_type_k="q8_0", kv_type_v="q8_0")
    gpu, main = holdings(model, options, ONE)
    assert gpu.scratch == 262144 * 2048 * 2 == GIB
    assert main.scratch == 0
    keys, _ = holdings(model, PlanOptions(262144, kv_type_k="q8_0"), ONE)
    assert keys.scratch == GIB // 2
    plain, _ = holdings(model, PlanOptions(262144), ONE)
    assert plain.scratch == 0
    windows, _ = holdings(planned("gemma-3-12b"), PlanOptions(8192, kv_type_v="q8_0"), ONE)
    assert windows.scratch == 8192 * 2048 * 2


def test_the_scratch_is_about_what_the_engine_leaves_room_for() -> None:
    model, options = planned("llama-3.1-8b"), PlanOptions(8192, kv_type_k="q8_0", kv_type_v="q8_0")
    gpu, _ = holdings(model, options, ONE)
    assert gpu.scratch == 8192 * 2048 * 2
    assert gpu_bytes.__doc__ is not None and "one layer at a time" in gpu_bytes.__doc__


def test_of_an_unknown_model_no_holding_is_known() -> None:
    unknown = PlannedModel("", "new", "unknown")
    assert all_layers(unknown) is None
    assert {holding.weights for holding in holdings(unknown, PlanOptions(8192), ONE)} == {None}
    counted = PlannedModel("", "new", "unknown", layers=3)
    assert {(holding.weights, holding.kv, holding.compute) for holding in holdings(counted, PlanOptions(9), ONE)} == {
        (None, None, None)
    }
