"""The latest answer of the loaded model: of each model its own, in whatever chat, and of earlier starts in the open chat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.diagnosis import Diagnosis
from app.core.words import Sentence
from app.services.chat import Chat
from app.services.figures import Figures
from app.services.last_answer import LastAnswer
from app.services.turns import Turn
from app.services.wishes import Wish
from tests.desk import Desk
from tests.services.asking import half_an_answer, say


def figures_of(turn: Turn) -> Figures:
    """Return figures in which the answer itself stands where a sentence on it would."""
    return Figures(diagnosis=Diagnosis(Sentence("Test", turn.text), "nothing"))


def follow(desk: Desk) -> LastAnswer:
    program = desk.program
    return LastAnswer(program.session, program.chat, program.answers, figures_of)


def said(last: LastAnswer) -> str | None:
    """Return the answer that is told of."""
    return last.diagnosis.sentence.template if last.diagnosis is not None else None


@pytest.fixture
def last(chat: Chat, desk: Desk) -> LastAnswer:
    """Return what is known of the model that is loaded, which answered nothing yet."""
    assert not chat.turns
    return follow(desk)


def test_each_model_has_its_own_in_whatever_chat(
    desk: Desk, last: LastAnswer, model: Path, other_model: Path
) -> None:
    assert said(last) is None
    say(desk, "One", "of the first")
    desk.load(other_model)
    assert said(last) is None
    desk.program.conversations.new()
    say(desk, "Two", "of the other")
    assert (last.model, said(last)) == ("other", "of the other")
    desk.load(model)
    assert (last.model, said(last)) == ("tiny", "of the first")


def test_the_latest_of_a_chat_counts_and_one_elsewhere_before_older_ones_of_the_chat(
    desk: Desk, last: LastAnswer
) -> None:
    say(desk, "One", "first")
    say(desk, "Two", "second")
    assert said(last) == "second"
    desk.program.conversations.new()
    say(desk, "Three", "third")
    desk.program.conversations.open(desk.program.conversations.heads[1].id)
    desk.settle()
    assert desk.program.chat.turns[-1].text == "second"
    assert said(last) == "third"


def test_of_earlier_starts_the_latest_of_the_open_chat_is_known_in_whatever_branch(
    desk: Desk, last: LastAnswer, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "first")
    say(desk, "Two", "second")
    later = again()
    last, told = follow(later), list[str | None]()
    last.changed.connect(lambda: told.append(said(last)))
    program = later.program
    program.conversations.new()
    assert said(last) is None
    program.conversations.open(program.conversations.heads[0].id)
    later.settle()
    assert said(last) == "second" and told[-1] == "second", "it is told when the chat is opened"
    program.branches.edit(program.chat.turns[0], "Another one")
    assert said(last) == "second", "nothing of the new branch is written yet"


def test_what_was_cut_off_or_is_still_written_does_not_count(desk: Desk, last: LastAnswer) -> None:
    say(desk, "One", "first")
    desk.program.conversations.new()
    assert desk.program.chat.send("Two")
    desk.engine.prompt()
    desk.engine.write("half")
    desk.settle()
    assert said(last) == "first"
    desk.engine.fail("engine")
    desk.settle()
    assert desk.program.chat.turns[-1].text == "half"
    assert said(last) == "first"


def test_an_answer_that_goes_on_has_not_ended(desk: Desk, last: LastAnswer) -> None:
    say(desk, "One", "first")
    half_an_answer(desk)
    assert said(last) == "Half an ans"
    desk.program.chat.go_on()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer")
    desk.settle()
    assert said(last) == "first"
    desk.engine.finish()
    desk.settle()
    assert said(last) == "Half an answer"


def test_the_name_is_that_of_the_loaded_model_and_changes_are_told_once(
    desk: Desk, last: LastAnswer, model: Path, other_model: Path
) -> None:
    told: list[str | None] = []
    last.changed.connect(lambda: told.append(last.model))
    last.look()
    assert last.model == "tiny" and told == ["tiny"]
    last.look()
    assert told == ["tiny"]
    desk.program.session.use(Wish(other_model))
    assert desk.program.session.name == "other.F16"
    assert last.model == "tiny" and told == ["tiny"], "the other one is only looked at"
    desk.program.session.cancel_load()
    desk.program.session.unload()
    assert desk.program.session.name is not None
    assert last.model is None and told == ["tiny", None]
    desk.load(model)
    assert told == ["tiny", None, "tiny"]
