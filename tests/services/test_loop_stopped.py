"""What is stopped before its next token is drawn leaves no token that never was, and nothing of a run that is discarded."""

from __future__ import annotations

import pytest

from app.core.metrics import StopReason
from tests.desk import Desk
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import some_rows
from tests.services.test_loop_picture import COUNT, USUAL, asks, desk, known, picture

__all__ = ["desk"]


@pytest.mark.parametrize("reason", ["cancelled", "end"])
def test_a_token_that_was_never_drawn_is_not_shown_once_it_is_over(desk: Desk, reason: StopReason) -> None:
    asks(desk)
    desk.engine.prompt()
    desk.engine.write("ab", 2)
    desk.engine.hold()
    desk.settle()
    held = picture(desk).values.step
    assert held is not None and (held.place, held.is_drawn) == (2, False)
    desk.engine.finish(reason)
    desk.settle()
    values = known(desk)
    assert (values.phase, values.written) == ("done", 2)
    assert values.step is not None and (values.step.place, values.step.is_drawn) == (1, True)
    assert picture(desk).token == 1 and values.end_here is not None


def test_an_answer_that_is_there_again_shows_nothing_of_the_one_that_came_to_nothing(desk: Desk) -> None:
    answered(desk, some_rows(COUNT), USUAL)
    before = known(desk)
    assert before.step is not None and before.step.place == COUNT - 1
    desk.program.chat.answer_again()
    desk.settle()
    desk.engine.prompt(tokens=33, cached=0)
    desk.engine.hold()
    desk.settle()
    held = picture(desk).values
    assert held.phase == "held" and held.prompt.tokens == 33
    desk.engine.finish("cancelled")
    desk.settle()
    assert known(desk) == before
