"""First words of an answer: they are not lost when it comes to nothing."""

from __future__ import annotations

import pytest

from app.services.branches import Branches
from app.services.chat import Chat
from app.services.turns import Turn
from tests.desk import Desk
from tests.services.asking import say, shown


@pytest.fixture
def branches(desk: Desk) -> Branches:
    return desk.program.branches


@pytest.mark.parametrize("end", ["stop", "fail", "delete"])
@pytest.mark.parametrize("phase", ["waits", "reads"])
def test_first_words_of_an_answer_that_came_to_nothing_are_given_back(
    desk: Desk, chat: Chat, branches: Branches, phase: str, end: str
) -> None:
    unused: list[tuple[Turn, str]] = []
    branches.unused.connect(lambda turn, words: unused.append((turn, words)))
    say(desk, "One", "1")
    answer = chat.turns[1]
    assert branches.answer_again(answer, "It is")
    desk.settle()
    if phase == "reads":
        desk.engine.prompt(answer=(1, 2))
        desk.settle()
    if end == "stop":
        desk.engine.finish("cancelled")
    elif end == "fail":
        desk.engine.fail("template")
    else:
        branches.delete(chat.turns[1])
    desk.settle()
    assert (shown(chat), unused) == (["One", "1"], [(answer, "It is")])


def test_words_that_an_answer_has_are_not_given_back(desk: Desk, chat: Chat, branches: Branches) -> None:
    unused: list[str] = []
    branches.unused.connect(lambda _turn, words: unused.append(words))
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1], "It is")
    desk.engine.prompt(answer=(1, 2))
    desk.engine.write(" one")
    desk.engine.finish("cancelled")
    desk.settle()
    branches.edit(chat.turns[1], "It was")
    chat.go_on()
    desk.settle()
    desk.engine.finish("cancelled")
    desk.settle()
    assert (shown(chat), unused) == (["One", "It was"], [])
