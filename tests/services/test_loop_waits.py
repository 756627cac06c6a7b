"""An answer that the engine does not have yet lights no stage, has no time and says what it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import Reproduce
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.lane_starts import Lanes
from app.services.loop_values import LoopValues
from app.services.timeline_values import AnswerTimeline
from tests.desk import Desk
from tests.services.asking import say

LONG = ("Because", " of", *(" it",) * 30)


@pytest.fixture
def watched(desk: Desk, chat: Chat) -> Desk:
    desk.program.inspecting.watch(True)
    desk.program.views.loop.watch(True)
    assert chat.turns == ()
    return desk


def values(desk: Desk) -> LoopValues:
    desk.until(lambda: not desk.program.inspecting.is_busy)
    return desk.program.views.loop.values


def line(desk: Desk) -> AnswerTimeline:
    found = desk.program.views.timeline.timeline
    assert found is not None
    return found


def comes_first(desk: Desk, model: Path, what: str) -> None:
    """Let something else have the engine."""
    match what:
        case "load":
            desk.begin_load(model)
            desk.engine.progress(40.0)
        case "answer":
            desk.program.chat.send("Other")
            desk.settle()
            desk.engine.prompt()
            desk.engine.write("a", 2)
            desk.settle()
            desk.program.conversations.new()
        case "lanes":
            assert desk.program.comparing.begin(Lanes((SamplingSettings(seed=7),) * 2), None, "Why?")
            desk.settle()
            desk.program.conversations.new()
        case _:
            say(desk, "Why?", *LONG)
            desk.until(lambda: not desk.program.inspecting.is_busy)
            if what == "replay":
                assert desk.program.reproducing.begin(desk.program.chat.turns[-1])
                desk.until(lambda: desk.engine.all(Reproduce))
            else:
                assert desk.program.views.operations.begin()
    desk.settle()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("load", "until tiny is loaded: 40 %"),
        ("answer", "the answer in another chat is written"),
        ("lanes", "until a comparison is written"),
        ("replay", "until an answer is reproduced"),
        ("pass", "until the operations in Inside are timed"),
    ],
)
def test_a_new_question_says_what_it_waits_for(watched: Desk, model: Path, what: str, words: str) -> None:
    comes_first(watched, model, what)
    watched.program.chat.send("Next")
    watched.settle()
    shown = values(watched)
    assert (shown.phase, shown.running, shown.written) == ("queued", (), 0)
    assert shown.waits_for is not None and words in shown.waits_for.english()
    assert line(watched) == AnswerTimeline(line(watched).message, unknown=("waits",), is_open=True)


def test_once_the_engine_has_it_the_prompt_is_made(watched: Desk) -> None:
    watched.program.chat.send("Next")
    watched.settle()
    shown = values(watched)
    assert (shown.phase, shown.running, shown.waits_for) == ("waiting", ("tokens",), None)
    assert "waits" not in line(watched).unknown


def test_an_answer_that_is_to_go_on_is_not_lit_before_the_engine_has_it(
    watched: Desk, chat: Chat, model: Path
) -> None:
    chat.send("Why?")
    watched.settle()
    watched.engine.prompt(60, 40)
    watched.engine.write("a b c", 5)
    watched.engine.finish("length")
    watched.settle()
    assert values(watched).phase == "done"
    watched.begin_load(model)
    chat.go_on()
    watched.settle()
    shown = values(watched)
    assert (shown.phase, shown.running, shown.written) == ("queued", (), 5)
    assert shown.waits_for is not None and "is loaded" in shown.waits_for.english()
    assert (shown.cells_used, shown.tokens_per_s, shown.prefill) == (None, None, None), "those of the part before"
    watched.engine.loaded()
    watched.settle()
    shown = values(watched)
    assert (shown.phase, shown.running, shown.cells_used) == ("waiting", ("tokens",), None), "nothing is read yet"
    watched.engine.prompt(answer=(0, 1, 2, 3, 4))
    watched.engine.write("d", 1)
    watched.settle()
    assert (values(watched).phase, values(watched).written) == ("writing", 6)
