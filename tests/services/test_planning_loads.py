"""Whether a model is loaded as it is chosen: also by what was left to the load, and by the steps of a context."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.core.model import LoadOptions
from app.services.planning_loads import is_loaded_so
from app.services.planning_values import PlanChoice
from tests.fake_engine import model_info

ASKED = LoadOptions(context=4096)
LOADED = replace(model_info("model.gguf", 4096), gpu_layers=20, options=replace(ASKED, gpu_layers=20))
CHOICE = PlanChoice(context=4096)


@pytest.mark.parametrize(
    "choice",
    [
        CHOICE,
        replace(CHOICE, context=4000),  # llama.cpp rounds it up
        replace(CHOICE, context=1024, sequences=4),
        replace(CHOICE, prompt=7, cached=3),
    ],
    ids=str,
)
def test_what_comes_to_the_same_is_the_same(choice: PlanChoice) -> None:
    assert is_loaded_so(choice, 20, LOADED, ASKED)


@pytest.mark.parametrize(
    "choice",
    [
        replace(CHOICE, context=4097),
        replace(CHOICE, sequences=2),
        replace(CHOICE, gpu_layers=20),  # of which nothing is left to the load
        replace(CHOICE, kv_type="q8_0"),
        replace(CHOICE, kv_type_v="q8_0"),
        replace(CHOICE, micro_batch=256),
        replace(CHOICE, flash_attention=False),
        replace(CHOICE, experts_on_cpu=2),
    ],
    ids=str,
)
def test_what_a_load_would_change_is_not_the_same(choice: PlanChoice) -> None:
    assert not is_loaded_so(choice, 20, LOADED, ASKED)


def test_where_more_layers_would_fit_by_now_another_load_is_not_the_same() -> None:
    assert not is_loaded_so(CHOICE, 25, LOADED, ASKED)
    chosen = replace(ASKED, gpu_layers=20)
    assert is_loaded_so(replace(CHOICE, gpu_layers=20), 20, LOADED, chosen)
