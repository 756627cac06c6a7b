"""The sampler laboratory where somebody chose: tokens by hand, settings that are tried out, and which step cards are of."""

from __future__ import annotations

from array import array

import msgspec
import numpy as np

from app.core.events import Held, Tokens
from app.probability.row import RowReader
from app.services.laboratory import Laboratory
from tests.desk import Desk
from tests.made_up_steps import step_of
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import text_of
from tests.services.test_laboratory import NARROW, OTHER, ROW, ROWS, begin, cards, desk, lab, tell

__all__ = ["desk", "lab"]


def forces(desk: Desk, token: int) -> None:
    """Let the answer wait where a token was chosen before it began."""
    log_sum = RowReader(ROW.size).read(ROW).log_sum_exp
    desk.engine.say(Held(desk.engine.question.request, 0, ROW.tobytes(), log_sum, forced=token))
    desk.settle()


def follows(desk: Desk, token: int, *, chosen: bool) -> None:
    """Let a token follow that somebody chose, or not."""
    places = (0,) if chosen else ()
    ids = array("i", [token]).tobytes()
    desk.engine.say(Tokens(desk.engine.question.request, 0, 1, ids, text_of([token]), b"", 50, 0, 0, chosen=places))
    desk.settle()


def told(desk: Desk, lab: Laboratory) -> tuple[int | None, int | None]:
    cards(desk)
    assert lab.result is not None
    return lab.result.taken, lab.result.chosen


def test_a_forced_token_is_told_while_it_is_waited_for_and_once_it_is_there(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    forces(desk, 17)
    assert told(desk, lab) == (None, 17)
    assert lab.result is not None and 17 in lab.result.texts
    follows(desk, 17, chosen=True)
    assert told(desk, lab) == (17, 17)
    desk.engine.say(step_of(ROW, desk.engine.question.request, 0))
    desk.settle()
    assert told(desk, lab) == (17, 17), "the engine told the step as well"


def test_a_drawn_token_is_chosen_by_nobody(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    forces(desk, 17)
    follows(desk, 5, chosen=False)
    assert told(desk, lab) == (5, None)


def test_a_recorded_token_is_known_to_be_chosen(desk: Desk, lab: Laboratory) -> None:
    answered(desk, ROWS, NARROW, forced=3)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(3)
    taken, chosen = told(desk, lab)
    assert taken is not None and chosen == taken
    desk.program.inspecting.look_at(4)
    assert told(desk, lab)[1] is None


def test_no_place_has_the_cards_of_another_place(desk: Desk, lab: Laboratory) -> None:
    answered(desk, ROWS, NARROW)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    seen = []
    lab.changed.connect(lambda: seen.append((lab.place, lab.result)))
    for place in (2, 5):
        desk.program.inspecting.look_at(place)
        cards(desk)
    drawn = [lab.place and lab.place.position, lab.result]
    assert drawn[0] == 5
    for where, result in seen:
        if result is not None and result is not lab.result:
            assert where is not None and where.position == 2, "the earlier cards are those of the earlier place"


def test_a_trial_ends_with_its_answer(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.change(top_k=4)
    tell(desk, (4, OTHER), first=1)
    assert lab.is_trying and lab.values.top_k == 4, "it goes on from token to token"
    desk.engine.finish()
    desk.settle()
    assert lab.is_trying
    desk.program.sampling.change(top_k=7)
    begin(desk, "And the sea?")
    tell(desk, (3, ROW))
    assert not lab.is_trying and lab.values == msgspec.structs.replace(NARROW, top_k=7)
    assert np.array([each.leave for each in cards(desk).stages if each.name == "top_k"]).tolist() == [7]


def test_a_step_that_stays_keeps_its_trial_while_the_next_answer_is_written(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.focus.freeze(True)
    lab.change(top_k=4)
    desk.engine.finish()
    desk.settle()
    begin(desk, "And the sea?")
    tell(desk, (4, OTHER))
    assert lab.is_trying and lab.values.top_k == 4
    lab.focus.follow()
    cards(desk)
    assert not lab.is_trying
