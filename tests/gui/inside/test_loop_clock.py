"""While the prompt is read, time goes by in the loop, though nobody tells anything; no clock runs when nothing happens."""

from __future__ import annotations

from array import array

import pytest

from app.core.chat import PromptSpan
from app.core.events import PrefillProgress, PromptReady
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.timing import time_part
from app.services.timeline_values import AnswerTimeline, TimePart, until_now
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MS = 1_000_000
PROMPT = 1200


def reads_prompt(looker: Inspector) -> LoopPart:
    """Have a prompt read in chunks of 512 tokens, in sight, 3 s after it was sent; nothing of it is read yet."""
    part = asks(looker)
    question = looker.stage.engine.question
    part.now_ns = lambda: question.sent_ns + 3_000 * MS
    ids = array("i", range(PROMPT)).tobytes()
    spans = (PromptSpan(0, PROMPT, "prompt", 0),)
    looker.stage.engine.say(PromptReady(question.request, ids, spans, 0, question.sent_ns + 50 * MS, seed=7))
    looker.stage.settle()
    catch_up(part)
    return part


def test_the_clock_runs_while_a_chunk_is_read(inspector: Inspector) -> None:
    part = reads_prompt(inspector)
    question = inspector.stage.engine.question
    assert part._clock.isActive() and part._clock.interval() >= 200
    assert [(each.row, each.state) for each in part.time.face.stretches] == [("tokens", ""), ("prefill", "running")]
    assert part.time.face.said == "No token yet: 3,000 ms so far, of which prefill 2,950 ms."
    picture = part.map.boxes["prefill"].face
    part.now_ns = lambda: question.sent_ns + 11_000 * MS
    part._clock.timeout.emit()
    assert part.time.face.said == "No token yet: 11.00 s so far, of which prefill 10.95 s."
    assert part.map.boxes["prefill"].face is picture, "a clock alone"
    inspector.stage.engine.say(PrefillProgress(question.request, PROMPT, PROMPT, 0, question.sent_ns + 12_000 * MS))
    part.now_ns = lambda: question.sent_ns + 12_500 * MS
    inspector.stage.settle()
    catch_up(part)
    assert [each.row for each in part.time.face.stretches] == ["tokens", "prefill", "sampling"]
    assert "No token yet" in part.time.face.said


@pytest.mark.parametrize("way", ["token", "hold", "hide", "end"])
def test_no_clock_runs_once_something_else_goes_on_or_nobody_looks(inspector: Inspector, way: str) -> None:
    part = reads_prompt(inspector)
    assert part._clock.isActive()
    if way == "token":
        inspector.stage.engine.write("w", 1)
    elif way == "hold":
        inspector.stage.engine.hold()
    elif way == "end":
        inspector.stage.engine.finish("cancelled")
    else:
        inspector.stage.clicks("inside_time_tab")
    inspector.stage.settle()
    catch_up(part)
    assert not part._clock.isActive()


def test_no_clock_runs_while_there_is_nothing_to_wait_for(inspector: Inspector) -> None:
    assert not looks(inspector)._clock.isActive()
    inspector.answers()
    inspector.known()
    assert not looks(inspector)._clock.isActive()
    assert not asks(inspector)._clock.isActive(), "the prompt is being made"


def test_the_bar_of_prefill_has_a_frame_for_what_is_being_read(inspector: Inspector) -> None:
    part = reads_prompt(inspector)
    box = part.map.boxes["prefill"]
    assert box.face.meter == (0.0, 0.0, 512 / PROMPT)
    assert part.place.said.text() == "The prompt is being read: 0 of 1,200 tokens, at most 512 at once."
    question = inspector.stage.engine.question
    inspector.stage.engine.say(PrefillProgress(question.request, 1024, PROMPT, 0, question.sent_ns + 900 * MS))
    inspector.stage.settle()
    catch_up(part)
    assert box.face.meter == (0.0, 1024 / PROMPT, 176 / PROMPT) and "1,024 of 1,200 tokens, at most 512 at once" in (
        part.place.said.text()
    )


def test_only_what_goes_on_grows() -> None:
    parts = (TimePart("before", 0, 9), TimePart("prefill", 9, 20, 0, 512))
    line = AnswerTimeline(1, parts, is_open=True, sent_ns=100, prompt_tokens=900)
    assert until_now(line, 150).parts == (*parts, TimePart("prefill", 20, 50))
    assert until_now(line, 110).parts == parts, "nothing runs back"
    drawn = AnswerTimeline(1, parts, drawn_ns=[20], is_open=True, sent_ns=100)
    assert until_now(drawn, 150) is drawn
    over = AnswerTimeline(1, parts, sent_ns=100)
    assert until_now(over, 150) is over


def test_the_part_time_goes_on_by_itself_too(inspector: Inspector) -> None:
    reads_prompt(inspector)
    question = inspector.stage.engine.question
    inspector.stage.clicks("inside_time_tab")
    inspector.stage.settle()
    part = inspector.stage.find_as(time_part.TimePart, "inside_time")
    ends: list[int] = []
    for seconds in (4, 9):
        part.now_ns = lambda seconds=seconds: question.sent_ns + seconds * 1_000 * MS  # type: ignore[misc]
        assert part._timer.isActive()
        part._timer.timeout.emit()
        assert part.view.picture.line is not None
        ends.append(part.view.picture.line.end_ns)
    assert ends == [4_000 * MS, 9_000 * MS]
    inspector.stage.engine.hold()
    inspector.stage.settle()
    part._timer.stop()
    part._timer.timeout.emit()
    assert not part._timer.isActive(), "an answer that waits for somebody takes no time"
