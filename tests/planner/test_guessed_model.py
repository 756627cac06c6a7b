"""A model of which only size and parameters are known is planned near what its header would have said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.planner.guessed_model import guessed_model
from app.planner.memory_plan import PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory
from tests.planner.planned_models import planned

GIB = 1 << 30


def taken(model: PlannedModel) -> int:
    """Return what a model takes in main memory at the usual context."""
    (device,) = plan_memory(model, PlanOptions(8192), [PlannedDevice("CPU", False, 900 * GIB)]).devices
    assert device.taken is not None
    return device.taken


def guess_of(model: PlannedModel) -> PlannedModel:
    assert model.weights is not None and model.parameters is not None
    return guessed_model("", model.weights.total, model.parameters, model.trained_context)


@pytest.mark.parametrize(
    "name",
    ["llama-3.1-8b", "qwen3-8b", "qwen3-32b", "gemma-3-12b", "gemma-3-27b", "mixtral-8x7b", "qwen3-30b-a3b"],
)
def test_a_usual_model_is_guessed_within_a_tenth(name: str) -> None:
    assert 0.98 < taken(guess_of(planned(name))) / taken(planned(name)) < 1.1


@pytest.mark.parametrize(
    "name", ["smollm2-135m", "qwen3-0.6b", "gemma-3-1b", "gpt-oss-20b", "qwen3.5-27b", "jamba-52b"]
)
def test_others_are_guessed_on_the_careful_side(name: str) -> None:
    assert 0.98 < taken(guess_of(planned(name))) / taken(planned(name)) < 2.2


@given(st.integers(1, 1 << 41), st.integers(1, 10**12))
def test_any_size_and_number_can_be_planned(size: int, parameters: int) -> None:
    model = guessed_model("", size, parameters)
    assert model.weights is not None
    assert 0 <= size - model.weights.total <= model.weights.layers.__len__() + 1
    assert taken(model) >= size - len(model.weights.layers) - 1
