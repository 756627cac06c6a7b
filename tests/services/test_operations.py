"""Time by operation on request: what is asked of the engine and when, what is kept, and why it is refused."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.commands import Cancel, TimeOperations
from app.core.events import Loaded
from app.core.operations import OperationsProgress, OperationsTimed
from app.services.attention_cost import WATCHED
from app.services.operations import MOST_TOKENS, Operations
from app.services.tensor_cores import has_tensor_cores
from tests.desk import Desk
from tests.fake_engine import model_info
from tests.made_up_operations import timed
from tests.services.looked_at import ask, desk

__all__ = ["desk"]


def service(desk: Desk) -> Operations:
    return desk.program.views.operations


def command(desk: Desk) -> TimeOperations:
    return desk.engine.all(TimeOperations)[-1]


def refusal(desk: Desk) -> str:
    found = service(desk).hindrance
    assert found is not None
    return found.english()


def test_the_tokens_of_the_answer_are_read_and_what_came_of_it_is_kept(desk: Desk) -> None:
    ask(desk)
    cost = service(desk).cost
    assert cost is not None and cost.tokens == 42 and cost.seconds is not None and cost.memory_bytes is not None
    assert cost.seconds == pytest.approx(42 / 131.2 * WATCHED), "watching slows what the answer's prompt was read at"
    assert service(desk).begin() and not service(desk).begin(), "one at a time"
    assert command(desk).ids == array("i", (*range(40), 0, 1)).tobytes() and command(desk).main_memory is not None
    desk.engine.say(OperationsProgress(command(desk).request, 20, 42))
    desk.settle()
    assert service(desk).progress == (20, 42) and service(desk).found is None
    desk.engine.say(timed(command(desk).request))
    desk.settle()
    assert service(desk).progress is None and service(desk).found == timed(command(desk).request)
    assert desk.program.session.phase == "ready"


def test_a_long_chat_is_read_up_to_a_limit(desk: Desk) -> None:
    ask(desk, tokens=2 * MOST_TOKENS)
    service(desk).begin()
    assert len(command(desk).ids) // 4 == MOST_TOKENS


def test_it_is_stopped_without_a_word(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    service(desk).cancel()
    desk.settle()
    assert desk.engine.all(Cancel)[-1].request == command(desk).request
    desk.engine.fail("cancelled", command(desk).request)
    desk.settle()
    assert service(desk).progress is None and service(desk).problem is None and service(desk).hindrance is None


def test_what_went_wrong_is_said_and_it_can_be_tried_again(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    desk.engine.fail("memory", command(desk).request, "There is too little memory.")
    desk.settle()
    problem = service(desk).problem
    assert problem is not None and problem.english() == "There is too little memory."
    assert service(desk).begin() and service(desk).problem is None
    desk.engine.say(OperationsTimed(command(desk).request, (), ()))
    desk.settle()
    problem = service(desk).problem
    assert problem is not None and "cannot be watched" in problem.english()


def test_why_it_cannot_be_asked_for_is_said_in_one_sentence(desk: Desk) -> None:
    assert refusal(desk) == "There is no answer to look at yet. Send a message, then ask again."
    assert not service(desk).begin() and service(desk).cost is None
    ask(desk, tokens=3)
    assert "too few tokens" in refusal(desk)
    assert desk.program.chat.send("More?")
    desk.settle()
    assert refusal(desk) == "This answer is still being written. Ask again when it has ended."


def test_what_was_found_and_what_went_wrong_stand_under_their_answer_alone(desk: Desk) -> None:
    ask(desk, tokens=100)
    first = desk.program.chat.turns[-1]
    service(desk).begin()
    desk.engine.say(timed(command(desk).request))
    desk.settle()
    found = service(desk).found
    ask(desk, "More?", tokens=50)
    assert found is not None and service(desk).found is None, "it was not taken from this answer"
    service(desk).begin()
    assert not service(desk).is_of_another
    desk.program.inspecting.open(first)
    assert service(desk).is_of_another and service(desk).found is found
    desk.engine.fail("memory", command(desk).request, "There is too little memory.")
    desk.settle()
    assert service(desk).problem is None
    desk.program.inspecting.open(desk.program.chat.turns[-1])
    assert service(desk).problem is not None and service(desk).found is None


def test_another_model_tells_nothing_of_this_answer(desk: Desk, other_model: Path) -> None:
    ask(desk)
    service(desk).begin()
    desk.engine.say(timed(command(desk).request))
    desk.settle()
    desk.load(other_model)
    assert "Another model is loaded" in refusal(desk) and service(desk).found is None


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("NVIDIA H200", True),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", True),
        ("Tesla V100-SXM2-16GB", True),
        ("Tesla T4", True),
        ("NVIDIA A100-SXM4-80GB", True),
        ("NVIDIA L40S", True),
        ("NVIDIA GeForce GTX 1660", False),
        ("NVIDIA GeForce GTX 1080 Ti", False),
        ("Tesla P100-PCIE-16GB", False),
        ("AMD Radeon RX 7900", False),
        ("", False),
    ],
)
def test_gpus_with_tensor_cores_are_known_by_their_names(name: str, has: bool) -> None:
    assert has_tensor_cores(name) is has


def test_tensor_cores_are_spoken_of_only_where_the_model_is_on_such_a_gpu(desk: Desk, other_model: Path) -> None:
    service(desk).gpu_names = lambda: ("NVIDIA H200",)
    assert service(desk).tensor_cores_of == "", "no layer is on it"
    desk.begin_load(other_model)
    load = desk.engine.load
    desk.engine.say(Loaded(load.request, msgspec.structs.replace(model_info(load.path), gpu_layers=31)))
    desk.settle()
    assert service(desk).tensor_cores_of == "NVIDIA H200"


def test_what_a_model_took_is_not_told_of_it_once_it_is_loaded_with_other_options(desk: Desk, model: Path) -> None:
    operations = desk.program.views.operations
    ask(desk)
    assert operations.begin()
    desk.engine.say(timed(desk.engine.all(TimeOperations)[-1].request))
    desk.settle()
    assert operations.found is not None
    desk.begin_load(model)
    load = desk.engine.load
    desk.engine.say(Loaded(load.request, msgspec.structs.replace(model_info(load.path), gpu_layers=31)))
    desk.settle()
    assert operations.found is None
