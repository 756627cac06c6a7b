"""The sampler laboratory over several answers, chats and tokens: what stays with whom, and which step is told to be which."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from app.core.events import GrammarMask, Held
from app.core.grammar import Grammar
from app.core.sampling import SamplingSettings
from app.probability.record import FORCED, RecordWriter
from app.probability.row import RowReader
from app.services.laboratory import Laboratory
from tests.desk import Desk
from tests.made_up_steps import step_of
from tests.services import recorded_lanes
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import SIZE
from tests.services.test_laboratory import (
    BEFORE,
    NARROW,
    OTHER,
    ROW,
    ROWS,
    begin,
    cards,
    desk,
    expected,
    hold,
    lab,
    tell,
    watches,
)

__all__ = ["desk", "lab"]
LETTERS = Grammar("gbnf", 'root ::= "a"*')


def source(lab: Laboratory) -> str:
    """Return where the step comes from; empty where there is none."""
    return "" if lab.place is None else lab.place.source


def test_what_is_tried_out_leaves_the_grammar_of_another_token(desk: Desk, lab: Laboratory) -> None:
    with_grammar, _lane = answered(desk, ROWS, msgspec.structs.replace(NARROW, grammar=LETTERS))
    inspecting = desk.program.inspecting
    without, _lane = answered(desk, ROWS, NARROW)
    desk.until(lambda: inspecting.turn is without and inspecting.answer is not None)
    inspecting.look_at(4)
    cards(desk)
    lab.change(top_k=4)
    inspecting.open(with_grammar, 4)
    desk.until(lambda: inspecting.answer is not None and not lab.is_busy and lab.result is not None)
    assert lab.is_trying and lab.values.top_k == 4 and lab.values.grammar == LETTERS
    assert lab.result is not None and lab.result.cards is None and lab.reason is not None
    assert lab.result.grammar == (None, None)  # a record does not tell what a grammar masked


def test_what_is_tried_out_has_seed_limit_and_stops_of_the_token(desk: Desk, lab: Laboratory) -> None:
    other = msgspec.structs.replace(NARROW, max_tokens=77, stop=("x",))
    answered(desk, ROWS, other)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.sampling.change(max_tokens=5, stop=())
    lab.change(top_k=4)
    desk.program.inspecting.look_at(4)
    cards(desk)
    shown: SamplingSettings = lab.values
    assert (shown.top_k, shown.max_tokens, shown.stop) == (4, 77, ("x",))


def test_an_answer_is_followed_again_by_who_comes_back_to_its_chat(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    cards(desk)
    written = desk.program.chat.shown.head.id
    desk.program.conversations.new()
    desk.settle()
    tell(desk, (5, ROW), first=1)
    assert lab.place is None
    desk.program.conversations.open(written)
    desk.settle()
    tell(desk, (4, OTHER), first=2)
    assert cards(desk) == expected(OTHER, NARROW, 2, [*BEFORE, 3, 5])
    assert lab.place == ("live", 2) and watches(desk)[-1] == (True, True)


def test_the_last_step_of_an_answer_is_live_no_longer(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    told: list[str] = []
    lab.changed.connect(lambda: told.append(source(lab)))
    assert lab.place == ("live", 0)
    desk.engine.finish()
    desk.settle()
    assert lab.place == ("ended", 0) and told[-1] == "ended"


def test_a_step_that_stays_over_the_next_answer_is_told_to_be_of_an_earlier_one(desk: Desk, lab: Laboratory) -> None:
    begin(desk)
    tell(desk, (3, ROW))
    lab.focus.freeze(True)
    desk.engine.finish()
    desk.settle()
    assert lab.place == ("frozen", 0)
    told: list[str] = []
    lab.changed.connect(lambda: told.append(source(lab)))
    begin(desk, "Again?")
    assert lab.place == ("past", 0) and told[-1] == "past"
    tell(desk, (4, OTHER))
    desk.engine.finish()
    desk.settle()
    assert lab.place == ("past", 0)
    lab.focus.freeze(False)
    assert lab.place == ("ended", 0)


def test_what_a_grammar_masked_is_told_of_a_live_step_and_of_the_last_one(desk: Desk, lab: Laboratory) -> None:
    request = begin(desk)
    fits = np.packbits(np.arange(SIZE) < 5, bitorder="little").tobytes()
    tell(desk, (3, OTHER))
    step = step_of(ROW, request, 0)
    desk.engine.say(msgspec.structs.replace(step, grammar=GrammarMask(SIZE - 5, fits)))
    desk.settle()
    cards(desk)
    assert lab.result is not None and lab.result.grammar == (SIZE, SIZE - 5)
    desk.engine.finish()
    desk.settle()
    cards(desk)
    assert lab.place == ("ended", 0)
    assert lab.result.grammar == (SIZE, SIZE - 5)


def test_nothing_is_told_of_the_stages_behind_a_grammar_whose_tokens_were_not_counted(
    desk: Desk, lab: Laboratory
) -> None:
    request = begin(desk)
    desk.engine.say(Held(request, 0, ROW.tobytes(), RowReader(ROW.size).read(ROW).log_sum_exp, GrammarMask()))
    desk.settle()
    desk.until(lambda: lab.result is not None)
    assert lab.result is not None and lab.result.grammar is not None
    assert lab.result.cards is None and lab.result.grammar.is_not_counted
    assert lab.result.grammar == (SIZE, None)
    assert lab.reason is not None and "was not counted, as that takes too long" in lab.reason.english()
    tell(desk, (3, OTHER))
    assert cards(desk) == expected(OTHER, lab.values, 0, BEFORE)  # of an answer without a grammar
    assert lab.result.grammar is None


def test_a_token_that_is_only_pointed_at_leaves_the_laboratory_with_the_answer_that_is_written(
    desk: Desk, lab: Laboratory
) -> None:
    inspecting = desk.program.inspecting
    begin(desk)
    tell(desk, (3, ROW), (5, OTHER))
    desk.until(lambda: inspecting.answer is not None)
    inspecting.look_at(0)
    tell(desk, (4, ROW), first=2)
    cards(desk)
    assert lab.place == ("live", 2) and not lab.focus.can_follow and watches(desk)[-1] == (True, True)
    lab.focus.pin(True)
    assert lab.place == ("kept", 0) and lab.focus.can_follow and watches(desk)[-1] == (False, False)
    lab.focus.pin(False)
    assert lab.place == ("live", 2) and not lab.focus.can_follow
    lab.focus.pin(True)
    lab.focus.follow()
    assert lab.place == ("live", 2) and inspecting.token is None


def test_steps_are_shown_with_the_answer_that_they_are_of_alone(desk: Desk, lab: Laboratory) -> None:
    inspecting = desk.program.inspecting
    first, _lane = answered(desk, ROWS, NARROW)
    begin(desk, "Again?")
    tell(desk, (3, ROW))
    cards(desk)
    assert lab.place == ("live", 0)
    inspecting.open(first)
    tell(desk, (5, OTHER), first=1)
    assert lab.place is None and lab.result is None and lab.focus.can_follow
    assert lab.reason is not None and "follow the answer" in lab.reason.english()
    lab.focus.follow()
    assert inspecting.turn is desk.program.chat.turns[-1] and not lab.focus.can_follow
    tell(desk, (4, ROW), first=2)
    cards(desk)
    assert lab.place == ("live", 2)


def test_an_answer_that_begins_has_no_step_of_the_one_before(desk: Desk, lab: Laboratory) -> None:
    answered(desk, ROWS, NARROW)
    begin(desk)
    tell(desk, (3, ROW))
    desk.engine.write(" more")
    desk.engine.finish()
    desk.settle()
    told: list[str] = []
    lab.changed.connect(lambda: told.append(source(lab)))
    assert desk.program.chat.send("Again?")
    desk.settle()
    assert source(lab) == told[-1] == "" and "live" not in told
    desk.engine.prompt(len(BEFORE), seed=1)
    desk.settle()
    assert source(lab) == "" and lab.result is None and "live" not in told


@pytest.mark.parametrize("end", ["stop", "death"])
def test_nothing_waits_once_an_answer_has_ended_while_it_was_held(desk: Desk, lab: Laboratory, end: str) -> None:
    desk.program.step_mode.pause()
    request = begin(desk)
    tell(desk, (3, ROW))
    hold(desk, OTHER, 1)
    cards(desk)
    assert source(lab) == "held"
    told: list[str] = []
    lab.changed.connect(lambda: told.append(source(lab)))
    if end == "stop":
        desk.program.chat.stop()
        desk.engine.finish("cancelled")
    else:
        desk.engine.die(request)
    desk.settle()
    assert told and told[-1] == source(lab) == "ended"


def test_a_step_that_was_frozen_while_it_waited_has_the_token_that_was_drawn(desk: Desk, lab: Laboratory) -> None:
    desk.program.step_mode.pause()
    begin(desk)
    hold(desk, ROW)
    cards(desk)
    lab.focus.freeze(True)
    desk.program.step_mode.run()
    tell(desk, (3, ROW), (5, OTHER))
    cards(desk)
    assert lab.place == ("frozen", 0)
    assert lab.result is not None and lab.result.taken == 3


def test_a_kept_token_has_the_chance_that_its_record_says(desk: Desk, lab: Laboratory) -> None:
    """Under its own settings the cards and the record agree; of other settings the record says nothing."""
    hot = msgspec.structs.replace(NARROW, top_k=0, top_p=1.0, min_p=0.0, temperature=2.0)
    _turn, lane = answered(desk, ROWS, hot)
    assert lane.records is not None
    desk.until(lambda: desk.program.inspecting.answer is not None)
    for place in range(len(ROWS)):
        desk.program.inspecting.look_at(place)
        stretch = cards(desk).draw.drawn
        assert stretch is not None and stretch.token == int(lane.tokens[place])
        assert stretch.share == float(lane.records.probability_after[place])


class _Chosen(RecordWriter):
    """Writes of every token that somebody chose it."""

    def add(self, *step: Any, **_more: Any) -> None:
        token, logit, facts, rank, after, at_ns = step[:6]
        super().add(token, logit, facts, rank, after, at_ns, FORCED)


def test_what_stands_beside_a_chosen_token_is_no_chance_of_its_own(
    desk: Desk, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_lanes, "RecordWriter", _Chosen)
    hot = msgspec.structs.replace(NARROW, top_k=0, top_p=1.0, min_p=0.0, temperature=2.0)
    answered(desk, ROWS, hot)
    desk.until(lambda: desk.program.inspecting.answer is not None)
    desk.program.inspecting.look_at(4)
    bounds = cards(desk).draw.tokens[0].share_bounds
    assert bounds is not None and bounds[1] - bounds[0] > 0.01
