"""What is said of a pass over the computation, and of where attention went, is of the part that it names."""

from __future__ import annotations

import pytest

from app.core.operations import OperationsTimed, OperationTime
from app.gui.inside.attention.words import SINK, sink_words
from app.gui.inside.timing.operation_words import note_words, tensor_core_words
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.looking_at_time import timed

__all__ = ["desk", "inspector", "model", "stage"]
DECODE = (OperationTime("weights", 30, 1, "Q4_1", "feed_forward"), OperationTime("attention", 70, 1))
PREFILL = (
    OperationTime("weights", 60, 1, "Q4_1", "feed_forward"),
    OperationTime("weights", 20, 1, "Q8_0", "output"),
    OperationTime("attention", 20, 1),
)


def test_tensor_cores_are_told_with_the_share_of_all_matrix_products_of_the_prefill() -> None:
    said = tensor_core_words(OperationsTimed(1, DECODE, PREFILL, cells=41), "NVIDIA L4")
    assert said.startswith("NVIDIA L4 has Tensor Cores: ") and "80.0 % of the prefill above" in said


@pytest.mark.parametrize(("slowdown", "words"), [(None, "makes all of it slower"), (1.7, "1.7 times as long")])
def test_the_note_says_what_was_computed_and_what_is_true_of_it(slowdown: float | None, words: str) -> None:
    said = note_words(OperationsTimed(1, DECODE, PREFILL, cells=41, slowdown=slowdown))
    assert said.startswith("Only the shares are true: ") and words in said
    assert said.endswith("The step came behind 40 tokens; attention was computed without flash attention.")


@pytest.mark.parametrize(("row_sum", "words"), [(0.75, "25\u00a0% go to no token"), (1 - SINK / 2, "")])
def test_what_goes_to_a_sink_is_told_where_it_is_something(row_sum: float, words: str) -> None:
    assert sink_words(row_sum).startswith(words) and bool(sink_words(row_sum)) == bool(words)


def test_the_cost_is_told_on_the_button_too(inspector: Inspector) -> None:
    timed(inspector)
    button = inspector.stage.find("operations_button")
    cost = inspector.reads("operations_told")
    assert "tokens once more" in cost and cost in button.toolTip()
