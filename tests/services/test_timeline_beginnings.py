"""What an answer begins with is counted as the model got it, and figures of one part are not told of the whole."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.events import Finished
from app.services.chat import Chat
from app.services.timeline_values import AnswerTimeline
from tests.desk import Desk
from tests.fake_engine import metrics
from tests.services.asking import half_an_answer, say


@pytest.fixture
def watched(desk: Desk, chat: Chat) -> Desk:
    desk.program.inspecting.watch(True)
    desk.program.views.loop.watch(True)
    assert chat.turns == ()
    return desk


def line(desk: Desk) -> AnswerTimeline:
    desk.until(lambda: not desk.program.inspecting.is_busy)
    found = desk.program.views.timeline.timeline
    assert found is not None
    return found


def test_given_first_words_are_counted_as_the_model_got_them(watched: Desk, chat: Chat) -> None:
    say(watched, "Why?", "Because.")
    assert watched.program.branches.answer_again(chat.turns[-1], "Hello there")
    watched.settle()
    watched.engine.prompt(answer=(5, 6, 7))
    watched.engine.write("a", 2)
    watched.settle()
    assert (line(watched).first, len(line(watched).drawn_ns)) == (3, 2)
    assert watched.program.views.loop.values.written == 5
    watched.engine.finish()
    watched.settle()
    assert (line(watched).first, len(line(watched).drawn_ns)) == (3, 2), "nothing jumps at the end"
    watched.program.views.timeline._kept.clear()
    watched.program.views.timeline._look()
    assert (line(watched).first, len(line(watched).drawn_ns)) == (3, 0), "as its figures have it, without a record"


def test_one_that_goes_on_behind_another_prompt_has_times_of_its_own(watched: Desk, chat: Chat) -> None:
    half_an_answer(watched)
    chat.go_on()
    watched.settle()
    watched.engine.prompt(55, answer=(0, 1))
    watched.engine.write("wer", 3)
    watched.settle()
    assert (line(watched).first, len(line(watched).drawn_ns)) == (2, 3)
    assert "beginning" not in line(watched).unknown


def test_an_interrupted_beginning_leaves_the_figures_of_all_tokens_unknown(
    watched: Desk, chat: Chat, model: Path
) -> None:
    chat.send("Why?")
    watched.settle()
    watched.engine.prompt()
    watched.engine.write("a b", 30)
    watched.settle()
    watched.engine.die(watched.engine.question.request)
    watched.settle()
    watched.load(model)
    chat.go_on()
    watched.settle()
    watched.engine.prompt(answer=tuple(range(30)))
    watched.engine.write("c", 2)
    measured = msgspec.structs.replace(metrics(2, 70, 0), sampling_ms=2.0)
    request = watched.engine.question.request
    watched.engine.say(Finished(request, "c", array("i", range(2)).tobytes(), "end", measured, 7, ()))
    watched.settle()
    whole, shown = line(watched), watched.program.views.loop.values
    assert (whole.sampling_ns, whole.itl_ms) == (None, None) and "sampling" in whole.unknown
    assert shown.written == 32 and shown.tokens_per_s is None, "two of them took that long"
    assert whole.diagnosis is not None and "written in parts" in whole.diagnosis.sentence.english()
