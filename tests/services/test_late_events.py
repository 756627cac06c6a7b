"""What an engine still says of a question that is over never lands in the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.commands import Generate
from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import End

ENDINGS = ["stopped", "failed", "died", "done", "unloaded", "another model"]


@pytest.fixture
def chat(desk: Desk, model: Path) -> Chat:
    desk.load(model)
    return desk.program.chat


def end_as(desk: Desk, chat: Chat, ending: str, other_model: Path) -> None:
    """Let the open question end in one way."""
    match ending:
        case "stopped":
            chat.stop()
            desk.engine.finish("cancelled")
        case "failed":
            desk.engine.fail("engine")
        case "died":
            desk.engine.die(desk.engine.question.request)
        case "done":
            desk.engine.finish()
        case "unloaded":
            desk.program.session.unload()
        case _:
            desk.begin_load(other_model)
            desk.engine.finish("cancelled")
            desk.engine.loaded()
    desk.settle()


def late(desk: Desk, stale: Generate, say: Callable[[], None]) -> None:
    """Say something of a question that is over, as an engine that has not heard of the next one."""
    desk.engine.sent.append(stale)
    say()
    desk.engine.sent.pop()
    desk.settle()


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_that_is_said_late_reaches_the_next_answer(
    desk: Desk, chat: Chat, other_model: Path, ends: list[End], ending: str
) -> None:
    engine = desk.engine
    chat.send("One")
    engine.prompt()
    engine.write("old")
    desk.settle()
    stale = engine.question
    end_as(desk, chat, ending, other_model)
    assert chat.send("Two")
    if engine.question is stale:  # the next one waits for a model
        desk.until(lambda: engine.sent and engine.sent[-1] is engine.load)
        engine.loaded()
        desk.settle()
    assert engine.question is not stale
    turn = chat.turns[-1]
    sayings: list[Callable[[], None]] = [
        engine.prompt,
        lambda: engine.write("late"),
        lambda: engine.finish("cancelled", rest="late"),
        lambda: engine.fail("engine"),
    ]
    for say in sayings:
        late(desk, stale, say)
        assert (turn.text, turn.state) == ("", "waiting")
        assert chat.busy
    desk.answer("new")
    assert (turn.text, turn.state) == ("new", "done")
    assert sorted(end.request for end in ends) == [stale.request, engine.question.request]
