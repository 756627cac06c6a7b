"""The bytes of caches and states, against figures that llama.cpp's own engine gave for real models."""

from __future__ import annotations

from typing import Any

import pytest

from app.planner.cache_formula import Cells, cache_by_layer, cells_of, row_bytes
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from tests.formula_checks import MIB
from tests.planner.cells import cell_bytes, read_bytes
from tests.planner.planned_models import planned

Q8 = {"kv_type_k": "q8_0", "kv_type_v": "q8_0"}
Q4 = {"kv_type_k": "q4_0", "kv_type_v": "q4_0"}


def cache_mib(name: str, **options: Any) -> tuple[float, float]:
    layers = cache_by_layer(planned(name), PlanOptions(**options))
    assert layers is not None
    return sum(layer.kv for layer in layers) / MIB, sum(layer.state for layer in layers) / MIB


@pytest.mark.parametrize(
    ("name", "options", "kv", "state"),
    [
        ("llama-3.1-8b", {"context": 8192}, 1024, 0),
        ("llama-3.1-8b", {"context": 8192, **Q8}, 544, 0),
        ("llama-3.1-8b", {"context": 8192, **Q4}, 288, 0),
        ("llama-3.1-8b", {"context": 131072}, 16384, 0),
        ("llama-3.1-8b", {"context": 8100}, 1024, 0),
        ("llama-3.1-8b", {"context": 8192, "sequences": 4}, 1024, 0),
        ("llama-3.1-8b", {"context": 1000, "sequences": 3, "unified": False}, 3 * 512 / 8, 0),
        ("qwen3-8b", {"context": 32768}, 4608, 0),
        ("gemma-3-12b", {"context": 32768}, 2048 + 480, 0),
        ("gemma-3-12b", {"context": 131072}, 8192 + 480, 0),
        ("gemma-3-12b", {"context": 32768, "sequences": 4}, 2048 + 1440, 0),
        ("gemma-3-12b", {"context": 32768, "sequences": 4, "unified": False}, 2048 + 1920, 0),
        ("gemma-3-12b", {"context": 32768, "micro_batch": 2048}, 2048 + 960, 0),
        ("deepseek-v2-lite", {"context": 8192}, 243, 0),
        ("lfm2-1.2b", {"context": 8192}, 96, 0.15625),
        ("qwen3.5-27b", {"context": 262144}, 16384, 149.625),
        ("qwen3.5-27b", {"context": 262144, "sequences": 4}, 16384, 598.5),
        ("mamba-2.8b", {"context": 8192}, 0, 23.75),
        ("mamba-2.8b", {"context": 262144, **Q8}, 0, 23.75),
    ],
)
def test_a_real_model_takes_what_the_engine_set_aside(
    name: str, options: dict[str, Any], kv: float, state: float
) -> None:
    assert cache_mib(name, **options) == (kv, state)


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ({"sequences": 1}, Cells(32768, 1536, 1)),
        ({"sequences": 4}, Cells(32768, 4608, 1)),
        ({"sequences": 4, "unified": False}, Cells(8192, 1536, 4)),
        ({"micro_batch": 2048}, Cells(32768, 3072, 1)),
    ],
)
def test_a_window_has_room_for_all_sequences_that_share_it_and_for_a_batch(
    options: dict[str, Any], cells: Cells
) -> None:
    assert cells_of(planned("gemma-3-12b"), PlanOptions(context=32768, **options)) == cells


def test_values_that_are_stored_turned_have_one_width_in_all_layers() -> None:
    """Its layers have 8, 4, 2 or no heads for keys; without flash attention values take 8 in each."""
    on, off = (cache_mib("deci-by-layer", context=8192, flash_attention=flash)[0] for flash in (True, False))
    assert on == 448
    assert off == 448 / 2 + 32 * 8192 * 1024 * 2 / MIB


def test_layers_that_use_the_keys_of_others_keep_none() -> None:
    model = planned("gemma-4-small")
    layers = cache_by_layer(model, PlanOptions(context=8192))
    assert layers is not None
    assert [layer.kv for layer in layers[24:]] == [0] * 18
    assert all(layer.kv for layer in layers[:24])


def test_a_cell_is_what_layers_without_a_window_add_for_a_token() -> None:
    assert cell_bytes(planned("llama-3.1-8b"), PlanOptions(8192)) == 32 * 2 * 1024 * 2
    assert cell_bytes(planned("gemma-3-12b"), PlanOptions(8192)) == 8 * 2 * 2048 * 2
    assert cell_bytes(planned("mamba-2.8b"), PlanOptions(8192)) == 0


def test_a_token_reads_what_came_before_it_but_no_more_than_the_window() -> None:
    options = PlanOptions(32768)
    assert read_bytes(planned("llama-3.1-8b"), options, 1000) == 1000 * 131072
    gemma = planned("gemma-3-12b")
    row = 2 * 2048 * 2
    assert read_bytes(gemma, options, 500) == 48 * 500 * row
    assert read_bytes(gemma, options, 30000) == (8 * 30000 + 40 * 1024) * row
    assert read_bytes(planned("mamba-2.8b"), options, 30000) == 2 * 64 * 4 * (3 * 5120 + 16 * 5120)


def test_of_an_unknown_architecture_nothing_is_said() -> None:
    unknown = PlannedModel("", "new", "unknown")
    options = PlanOptions(8192)
    assert cache_by_layer(unknown, options) is None
    assert cell_bytes(unknown, options) is None
    assert read_bytes(unknown, options, 5) is None


@pytest.mark.parametrize(("kind", "bytes_of_64"), [("f16", 128), ("q8_0", 68), ("q4_0", 36)])
def test_a_row_is_packed_in_blocks_of_32(kind: Any, bytes_of_64: int) -> None:
    assert row_bytes(kind, 64) == bytes_of_64
