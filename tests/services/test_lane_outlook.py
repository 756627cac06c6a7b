"""What is known of a comparison before it begins: whose prompt is counted, and the plan that follows from it."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.commands import Render
from app.core.events import Rendered
from app.core.sampling import SamplingSettings
from app.services.lane_outlook import LaneOutlook, Outlook
from tests.desk import Desk
from tests.fake_engine import CONTEXT

LANES = tuple(SamplingSettings(temperature=each, max_tokens=100) for each in (0.0, 0.5, 1.0))


@pytest.fixture
def outlook(desk: Desk, model: Path) -> LaneOutlook:
    desk.load(model)
    return desk.program.lane_outlook


def told(desk: Desk, tokens: int) -> None:
    """Let the engine count the prompt that it was asked for last."""
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Rendered(request, "", array("i", range(tokens)).tobytes(), ()))
    desk.settle()


def asked(desk: Desk) -> list[str]:
    return [message.text for message in desk.engine.all(Render)[-1].prompt.messages]


def test_a_question_of_the_chat_is_counted_with_what_leads_to_it_and_a_new_one_behind_all(
    desk: Desk, outlook: LaneOutlook
) -> None:
    desk.program.chat.send("First?")
    desk.answer("One.")
    desk.program.chat.send("Second?")
    desk.answer("Two.")
    outlook.watch(desk.program.chat.turns[2], "", LANES)
    assert asked(desk) == ["First?", "One.", "Second?"]
    told(desk, 40)
    outlook.watch(None, "Third?", LANES)
    assert asked(desk)[-3:] == ["Second?", "Two.", "Third?"]
    assert outlook.of(LANES).prompt is None, "what was counted was another prompt"


def test_the_plan_follows_from_the_prompt_and_the_lanes(desk: Desk, outlook: LaneOutlook) -> None:
    outlook.watch(None, "Why?", LANES)
    assert outlook.of(LANES) == Outlook(cells=CONTEXT)
    told(desk, 40)
    known = outlook.of(LANES)
    assert known.prompt == 40 and known.plan is not None and known.plan.waves == ((0, 1, 2),)
    long = [msgspec.structs.replace(each, max_tokens=CONTEXT // 2) for each in LANES]
    assert (plan := outlook.of(long).plan) is not None and plan.waves == ((0,), (1,), (2,))


def test_the_newest_prompt_comes_after_the_one_that_is_open(desk: Desk, outlook: LaneOutlook) -> None:
    before = len(desk.engine.all(Render))
    for text in ("W", "Wh", "Why?"):
        outlook.watch(None, text, LANES)
    assert len(desk.engine.all(Render)) == before + 1
    told(desk, 10)
    assert asked(desk) == ["Why?"] and len(desk.engine.all(Render)) == before + 2


def test_a_prompt_that_the_engine_refuses_is_told_with_its_reason(desk: Desk, outlook: LaneOutlook) -> None:
    outlook.watch(None, "Why?", LANES)
    desk.engine.fail("prompt_too_long", desk.engine.all(Render)[-1].request, "Too long.")
    desk.settle()
    known = outlook.of(LANES)
    assert known.refusal is not None and known.refusal.english() == "Too long." and known.plan is None
