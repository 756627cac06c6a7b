"""Answers that cannot be written once more, or not as things are: each says why in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.core.commands import Generate, Load, Reproduce
from app.services.reproducing import Reproducing
from tests.desk import Desk
from tests.services.asking import say
from tests.services.replaying import answer, asked, known, told


@pytest.fixture(autouse=True)
def _with_chats(desk: Desk) -> None:
    desk.program.conversations.start()
    desk.settle()


@pytest.fixture
def reproducing(desk: Desk, model: Path) -> Reproducing:
    desk.load(model)
    say(desk, "One", "a", "b", "c")
    return desk.program.reproducing


def edited(desk: Desk) -> None:
    desk.program.branches.edit(answer(desk), "Mine")


def interrupted(desk: Desk) -> None:
    desk.program.chat.send("Two")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("Ha")
    desk.engine.fail("engine")
    desk.settle()


def open_answer(desk: Desk) -> None:
    desk.program.chat.send("Two")
    desk.settle()


def nothing(desk: Desk) -> None:
    answer(desk).ids = b""


def unseeded(desk: Desk) -> None:
    finished = answer(desk).finished
    assert finished is not None
    answer(desk).finished = msgspec.structs.replace(finished, seed=None)


def unknown_model(desk: Desk) -> None:
    answer(desk).model = None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (edited, "A person wrote or changed this answer, so no draw leads to it."),
        (interrupted, "This answer was interrupted before all of its settings were kept."),
        (open_answer, "This answer is still being written."),
        (nothing, "The model wrote nothing of this answer."),
        (unseeded, "The seed or the settings of this answer were not kept."),
        (unknown_model, "Which model wrote this answer was not kept."),
    ],
)
def test_what_cannot_be_written_again_says_why(
    desk: Desk, reproducing: Reproducing, change: Callable[[Desk], None], words: str
) -> None:
    assert reproducing.hindrance(answer(desk)) is None
    change(desk)
    hindrance = reproducing.hindrance(answer(desk))
    assert hindrance is not None and hindrance.english() == words
    assert not reproducing.begin(answer(desk))


def test_another_model_is_named_and_can_be_loaded_for_it(
    desk: Desk, reproducing: Reproducing, model: Path, other_model: Path
) -> None:
    turn = answer(desk)
    desk.load(other_model)
    assert reproducing.begin(turn)
    assert (known(desk).phase, known(desk).offer) == ("failed", "load_model")
    assert told(known(desk)) == ("Only the model that wrote this answer can write it again: “tiny” is not loaded.")
    loads = len(desk.engine.all(Load))
    assert reproducing.begin(turn, loads=True)
    desk.until(lambda: len(desk.engine.all(Load)) > loads)
    assert (desk.engine.load.path, desk.engine.all(Reproduce)) == (str(model), [])
    desk.engine.loaded()
    desk.settle()
    assert asked(desk).ids == turn.ids


def test_a_model_that_does_not_load_ends_it(desk: Desk, reproducing: Reproducing, other_model: Path) -> None:
    turn = answer(desk)
    desk.load(other_model)
    loads = len(desk.engine.all(Load))
    reproducing.begin(turn, loads=True)
    desk.until(lambda: len(desk.engine.all(Load)) > loads)
    desk.engine.fail("model", desk.engine.load.request)
    desk.settle()
    assert (known(desk).phase, told(known(desk))) == ("failed", "It does not work.")


def test_another_model_that_comes_while_it_waits_is_not_taken_for_its_own(
    desk: Desk, reproducing: Reproducing, other_model: Path
) -> None:
    first = answer(desk)
    desk.program.chat.send("Two")
    desk.settle()
    reproducing.begin(first)
    desk.settle()
    desk.begin_load(other_model)
    desk.engine.loaded()
    desk.answer("2")
    assert (known(desk, first).phase, desk.engine.all(Reproduce)) == ("failed", [])
    assert "Another model was loaded meanwhile" in told(known(desk, first))


def test_a_context_that_is_too_small_now_is_said_with_the_numbers(desk: Desk, model: Path) -> None:
    desk.load(model)
    desk.program.chat.send("One")
    desk.settle()
    desk.engine.prompt(tokens=4090)
    desk.engine.write("abc", count=7)
    desk.engine.finish()
    desk.settle()
    desk.program.reproducing.begin(answer(desk))
    desk.settle()
    assert (known(desk).offer, desk.engine.all(Reproduce)) == ("larger_context", [])
    assert told(known(desk)) == (
        "Prompt and answer have 4,097 tokens, and the context holds 4,096 now: load the model with a larger one."
    )


def test_a_context_that_is_too_small_is_found_once_its_model_is_loaded(
    desk: Desk, reproducing: Reproducing, other_model: Path
) -> None:
    turn = answer(desk)
    desk.load(other_model)
    loads = len(desk.engine.all(Load))
    assert reproducing.begin(turn, loads=True)
    desk.until(lambda: len(desk.engine.all(Load)) > loads)
    desk.engine.loaded(context=42)
    desk.settle()
    assert (known(desk).phase, known(desk).offer) == ("failed", "larger_context")
    assert "43 tokens, and the context holds 42 now" in told(known(desk))
    assert (desk.engine.all(Reproduce), reproducing.hindrance(turn)) == ([], None)
    assert reproducing.begin(turn)
    desk.settle()
    assert (known(desk).phase, desk.engine.all(Reproduce)) == ("failed", [])


def test_a_context_that_became_smaller_while_it_waited_is_found_too(
    desk: Desk, reproducing: Reproducing, model: Path
) -> None:
    first = answer(desk)
    desk.program.chat.send("Two")
    desk.settle()
    reproducing.begin(first)
    desk.settle()
    desk.begin_load(model)
    desk.answer("2")
    desk.engine.loaded(context=42)
    desk.settle()
    assert (known(desk, first).phase, known(desk, first).offer) == ("failed", "larger_context")
    assert desk.engine.all(Reproduce) == []
    desk.program.chat.send("Three")
    desk.settle()
    assert desk.engine.all(Generate)[-1].request == desk.engine.question.request


def test_an_answer_whose_prompt_was_not_kept_says_so(desk: Desk, reproducing: Reproducing) -> None:
    connection = desk.store.work.database.connection
    assert connection is not None
    connection.execute("DELETE FROM answer_prompt")
    reproducing.begin(answer(desk))
    desk.settle()
    assert told(known(desk)) == "The prompt of this answer was not kept, so it cannot be written again."
