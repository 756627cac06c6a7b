"""What a model would take in another quantisation, tensor by tensor, against files that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.gguf_tensors import Tensor
from app.core.gguf_types import TENSOR_TYPES
from app.planner.planned_model import PlannedModel
from app.planner.quantised import ALL_BITS, BITS_PER_WEIGHT, of_size, quantised, share_of
from app.planner.quantised_types import BASES, Shape, estimates
from app.planner.weights import Experts
from app.services.planning_models import read_planned
from tests.planner.planned_models import planned

IDS = {known.name: number for number, known in TENSOR_TYPES.items()}
STARTER_Q4_K_M = 105_454_144
"""Bytes of the starter model's own file in that quantisation: no row of it divides by 256."""


def bytes_of(kind: str, columns: int, rows: int) -> int:
    return Tensor("x", (columns, rows), IDS[kind], 0).size or 0


def test_the_starter_model_s_other_file_has_the_size_that_is_estimated(starter_model: Path) -> None:
    found = quantised(read_planned(starter_model), "Q4_K_M")
    assert found is not None and found.file_bytes == STARTER_Q4_K_M


@pytest.mark.parametrize("name", list(BITS_PER_WEIGHT))
def test_bits_of_a_published_model_are_those_that_are_published(name: str) -> None:
    model = planned("llama-3.1-8b")
    found = quantised(model, name)
    assert found is not None and found.weights is not None and model.parameters
    assert found.weights.total * 8 / model.parameters == pytest.approx(BITS_PER_WEIGHT[name], abs=5e-4)
    assert share_of(model, name) == pytest.approx(found.weights.total / model.weights.total)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "columns", "kind"),
    [
        ("Q4_K_M", 576, "Q5_0"),
        ("Q5_K_M", 576, "Q5_1"),
        ("Q6_K", 576, "Q8_0"),
        ("Q3_K_M", 576, "Q4_0"),
        ("IQ4_XS", 576, "IQ4_NL"),
        ("Q4_K_M", 100, "F16"),
        ("Q8_0", 100, "F16"),
        ("Q4_K_M", 512, "Q4_K"),
    ],
)
def test_rows_that_do_not_divide_are_of_another_type(name: str, columns: int, kind: str) -> None:
    gate = Tensor("blk.0.ffn_gate.weight", (columns, 64), IDS["F16"], 0)
    norm = Tensor("blk.0.attn_norm.weight", (columns,), IDS["F32"], 0)
    found = dict(estimates([gate, norm], Shape("llama", 1, Experts(0, 0), 1)))
    assert set(found) == set(BASES) == set(ALL_BITS)
    assert found[name].total == bytes_of(kind, columns, 64) + 4 * columns


def test_a_table_that_is_the_output_matrix_is_quantised_as_that() -> None:
    table = Tensor("token_embd.weight", (512, 1000), IDS["F16"], 0)
    output = Tensor("output.weight", (512, 1000), IDS["F16"], 0)
    shape = Shape("llama", 0, Experts(0, 0), 1)
    tied, apart = (dict(estimates(each, shape))["Q4_K_M"] for each in ([table], [table, output]))
    assert (tied.embedding, tied.output) == (bytes_of("Q6_K", 512, 1000),) * 2
    assert (apart.embedding, apart.output) == (bytes_of("Q4_K", 512, 1000), bytes_of("Q6_K", 512, 1000))


def test_what_tells_of_no_tensor_is_judged_by_bits_per_weight() -> None:
    model = replace(planned("llama-3.1-8b"), estimates=())
    found = quantised(model, "Q4_K_M")
    assert found is not None and found.weights is not None and model.parameters
    assert found.weights.total == pytest.approx(BITS_PER_WEIGHT["Q4_K_M"] * model.parameters / 8, rel=1e-6)


def test_a_model_that_was_read_takes_the_bytes_of_another_file_of_it() -> None:
    read = planned("qwen3-30b-a3b")
    assert read.weights is not None
    beside = 9_000_000  # the vocabulary, which is no weight
    model = replace(read, file_bytes=read.weights.total + beside)
    other = of_size(model, "Q8_0", 2 * (read.weights.total + beside))
    assert other is not None and other.weights is not None and model.weights is not None
    assert (other.quantisation, other.file_bytes) == ("Q8_0", 2 * (read.weights.total + beside))
    assert other.weights.total == pytest.approx(2 * model.weights.total, rel=1e-6)
    untold = of_size(replace(model, file_bytes=None), "Q8_0", 2 * model.weights.total)
    assert untold is not None and untold.weights == other.weights


def test_a_model_whose_weights_or_size_are_unknown_is_none_of_another_size() -> None:
    assert of_size(PlannedModel("", "", "unknown"), "Q8_0", 1 << 30) is None
    assert of_size(planned("llama-3.1-8b"), "Q8_0", 0) is None
