"""Once an answer has ended nobody holds its run, which holds its whole chat; nor a chat that is closed since."""

from __future__ import annotations

import gc
import weakref

import pytest

from app.services.chat import Chat
from tests.desk import Desk


@pytest.fixture
def watched(desk: Desk, chat: Chat) -> Desk:
    """Have all of the page looked at: what nobody looks at keeps nothing."""
    desk.program.inspecting.watch(True)
    desk.program.views.loop.watch(True)
    desk.program.next_token.watch(True)
    assert chat.turns == ()
    return desk


@pytest.mark.parametrize("is_held", [False, True], ids=["written", "held"])
@pytest.mark.parametrize("end", ["whole", "stopped", "failed", "gone", "nothing"])
def test_a_run_goes_with_its_end_and_the_chat_when_it_is_closed(
    watched: Desk, chat: Chat, end: str, is_held: bool
) -> None:
    chat.send("Why?")
    watched.settle()
    watched.engine.prompt()
    watched.engine.write("" if end == "nothing" else "a b", 2)
    watched.settle()
    if is_held:
        watched.engine.hold()
        watched.settle()
    (run,) = watched.program.answers.runs
    ended, request = weakref.ref(run), run.request
    told = weakref.ref(run.conversation)
    del run
    if end == "gone":
        watched.engine.die(request)
    elif end in ("failed", "nothing"):
        watched.engine.fail("engine" if end == "failed" else "cancelled")
    else:
        watched.engine.finish("length" if end == "whole" else "cancelled")
    watched.until(lambda: not watched.program.inspecting.is_busy)
    gc.collect()
    assert ended() is None and told() is not None
    watched.program.conversations.new()
    watched.until(lambda: not watched.program.inspecting.is_busy)
    gc.collect()
    assert told() is None, "what its cells hold is told by its title alone"


def test_the_cells_of_a_closed_chat_say_whose_they_are_by_its_newest_title(watched: Desk, chat: Chat) -> None:
    chat.send("Why?")
    watched.answer("a", "b")
    assert chat.conversation_id is not None
    watched.program.conversations.rename(chat.conversation_id, "Blue")
    watched.settle()
    watched.program.conversations.new()
    watched.settle()
    assert watched.program.live.figures.kv_holds == "Blue"
