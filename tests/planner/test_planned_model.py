"""What a header says of a model: its kind, its layers, its weights by where they lie; and what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor
from app.planner.architectures import OTHER_CACHES
from app.planner.planned_model import PlannedModel, planned_model
from tests.planner.planned_models import planned
from tests.sparse_models import ALL, DENSE

KINDS = {
    **dict.fromkeys(DENSE, "dense"),
    **dict.fromkeys(("mixtral-8x7b", "qwen3-30b-a3b"), "dense"),
    "deepseek-v2-lite": "latent",
    "mamba-2.8b": "recurrent",
    **dict.fromkeys(("jamba-52b", "lfm2-1.2b", "qwen3.5-27b", "granite-4-h-small", "falcon-h1-1.5b"), "hybrid"),
}


def changed(name: str, **entries: Any) -> PlannedModel:
    """Return a model with other entries in its header; None takes one away."""
    header = ALL[name]().header()
    metadata = dict(header.metadata)
    architecture = header.text("general.architecture")
    for key, value in entries.items():
        full = f"{architecture}.{key.replace('__', '.')}"
        if value is None:
            metadata.pop(full, None)
        else:
            metadata[full] = value
    return planned_model([replace(header, metadata=metadata)])


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_model_is_told(name: str) -> None:
    model = planned(name)
    assert model.kind == KINDS.get(name, "window")
    assert model.unknown_reason is None
    assert len(model.cache) == model.layers == ALL[name]().numbers["block_count"]


@pytest.mark.parametrize("name", ALL)
def test_no_byte_of_the_weights_is_lost(name: str) -> None:
    weights = planned(name).weights
    assert weights is not None
    assert weights.total == sum(tensor.size or 0 for tensor in ALL[name]().header().tensors)


def test_a_tied_output_matrix_is_the_embedding_table() -> None:
    tied, untied = planned("qwen3-0.6b").weights, planned("llama-3.1-8b").weights
    assert tied is not None and untied is not None
    assert tied.is_tied and tied.output == tied.embedding > 0
    assert not untied.is_tied and untied.output == 4096 * 128256 * 34 // 32


def test_tables_before_the_first_layer_stay_in_main_memory() -> None:
    weights = planned("gemma-3n-e4b").weights
    assert weights is not None
    assert weights.host == 256 * 35 * 262144 * 18 // 32 > weights.embedding


def test_of_a_mixture_the_experts_used_work_on_a_token() -> None:
    model = planned("qwen3-30b-a3b")
    assert model.is_mixture and model.weights is not None
    assert (model.weights.experts, model.weights.experts_used) == (128, 8)
    assert model.weights.layers[0].experts == 3 * 2048 * 768 * 128 * 18 // 32
    assert model.parameters is not None and model.active_parameters is not None
    inactive = 48 * 3 * 2048 * 768 * 120
    assert model.active_parameters == model.parameters - inactive
    dense = planned("llama-3.1-8b")
    assert not dense.is_mixture and dense.active_parameters == dense.parameters


@pytest.mark.parametrize(
    ("name", "entries", "windows"),
    [
        ("gemma-3-12b", {}, [layer % 6 < 5 for layer in range(48)]),
        ("gemma-3-12b", {"attention__sliding_window_pattern": 2}, [layer % 2 < 1 for layer in range(48)]),
        ("gemma-3-12b", {"attention__sliding_window_pattern": (True, False) * 24}, [True, False] * 24),
        ("gemma-3-12b", {"attention__sliding_window_pattern": (1, 0, 1)}, [True, False, True] + [False] * 45),
        ("gemma-3-12b", {"attention__sliding_window_pattern": 0}, [True] * 48),
        ("gemma-3-12b", {"attention__sliding_window": None}, [False] * 48),
        ("gemma-3-12b", {"attention__sliding_window": 0}, [False] * 48),
        ("gemma-2-9b", {"attention__sliding_window": None}, [layer % 2 < 1 for layer in range(42)]),
        ("llama-3.1-8b", {"attention__sliding_window": 1024}, [False] * 32),
    ],
)
def test_which_layers_have_a_window_is_said_by_a_list_a_number_or_the_architecture(
    name: str, entries: Mapping[str, Any], windows: list[bool]
) -> None:
    model = changed(name, **entries)
    assert [layer.is_window for layer in model.cache] == windows
    assert (model.window > 0) == any(windows)


def test_an_architecture_that_needs_a_list_is_unknown_without_it() -> None:
    model = changed("gemma-4-small", attention__sliding_window_pattern=None)
    assert model.kind == "unknown" and model.cache == ()
    assert model.unknown_reason is not None and "lacks sizes" in model.unknown_reason.english()


@pytest.mark.parametrize(
    ("name", "entries", "recurrent"),
    [
        ("qwen3.5-27b", {"full_attention_interval": None}, [layer % 4 != 3 for layer in range(64)]),
        ("qwen3.5-27b", {"full_attention_interval": 8}, [layer % 8 != 7 for layer in range(64)]),
        ("qwen3.5-27b", {"attention__recurrent_layers": (True, False) * 32}, [True, False] * 32),
        ("falcon-h1-1.5b", {}, [True] * 24),
        ("lfm2-1.2b", {}, [layer not in (2, 5, 8, 10, 12, 14) for layer in range(16)]),
    ],
)
def test_which_layers_keep_a_state(name: str, entries: Mapping[str, Any], recurrent: list[bool]) -> None:
    model = changed(name, **entries)
    assert [layer.is_recurrent for layer in model.cache] == recurrent
    assert all(layer.attends != layer.is_recurrent for layer in model.cache) or name == "falcon-h1-1.5b"


def test_layers_that_only_predict_further_tokens_keep_nothing() -> None:
    model = changed("llama-3.1-8b", nextn_predict_layers=2)
    assert model.layers == len(model.cache) == 30
    assert model.weights is not None and len(model.weights.layers) == 32


@pytest.mark.parametrize("architecture", [*sorted(OTHER_CACHES), "something-new", "bert", ""])
def test_an_architecture_that_is_not_worked_out_says_so(architecture: str) -> None:
    header = ALL["llama-3.1-8b"]().header()
    metadata = {key.replace("llama.", f"{architecture}."): value for key, value in header.metadata.items()}
    model = planned_model([replace(header, metadata={**metadata, "general.architecture": architecture})])
    assert model.kind == "unknown" and model.unknown_reason is not None
    assert (architecture or "?") in model.unknown_reason.english()
    assert model.weights is not None and model.weights.total > 0


@pytest.mark.parametrize("key", ["block_count", "embedding_length", "attention.head_count"])
def test_a_size_that_is_missing_leaves_the_cache_unknown(key: str) -> None:
    model = changed("llama-3.1-8b", **{key.replace(".", "__"): None})
    assert model.kind == "unknown" and model.unknown_reason is not None


@pytest.mark.parametrize("heads", [(8,) * 31 + (-1,), (2**50,) * 32, "eight", (8.0,) * 32, -8])
def test_heads_that_cannot_be_leave_the_cache_unknown(heads: object) -> None:
    assert changed("llama-3.1-8b", attention__head_count_kv=heads).kind == "unknown"


def test_without_heads_of_keys_there_are_as_many_as_heads() -> None:
    model = changed("llama-3.1-8b", attention__head_count_kv=None)
    assert {layer.kv_heads for layer in model.cache} == {32}


@pytest.mark.parametrize("layers", [0, -1, 513, 2**40])
def test_a_number_of_layers_that_cannot_be_leaves_all_of_them_unknown(layers: int) -> None:
    model = changed("llama-3.1-8b", block_count=layers)
    assert model.layers is None and model.cache == () and model.weights is None and model.kind == "unknown"


def test_a_tensor_of_an_unknown_type_leaves_the_weights_unknown_and_not_the_cache() -> None:
    header = ALL["llama-3.1-8b"]().header()
    tensors = (*header.tensors, Tensor("blk.3.new.weight", (64, 64), 99, 0))
    model = planned_model([replace(header, tensors=tensors)])
    assert model.weights is None and model.kind == "dense"


def test_without_a_header_nothing_is_known() -> None:
    assert planned_model([]).kind == "unknown"
    empty = planned_model([Header(3, {}, (), 32, 0)])
    assert empty.kind == "unknown" and empty.weights is None and empty.unknown_reason is not None


def test_the_parts_of_a_split_model_are_one() -> None:
    header = ALL["llama-3.1-8b"]().header()
    first, second = (replace(header, tensors=tensors) for tensors in (header.tensors[:100], header.tensors[100:]))
    whole = planned_model([header], 5)
    assert planned_model([first, replace(second, metadata={})], 5) == whole
    assert whole.file_bytes == 5
