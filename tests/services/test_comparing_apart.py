"""Comparisons beside everything else that people do meanwhile: waiting, deleting, going on, failing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.commands import Reproduce, StopLane
from app.core.comparison import LanePlan
from app.core.metrics import KVUse
from app.core.replay_events import Difference, Reproduced
from app.services.chat import Chat
from app.services.comparing import Comparing
from tests.desk import Desk
from tests.services.lanes import LanesLead
from tests.services.test_comparing import TWO, asked_once


@pytest.fixture
def waiting(comparing: Comparing, chat: Chat, desk: Desk) -> Comparing:
    """Return a comparison of an earlier question that waits behind an answer of the same chat."""
    asked_once(desk, chat)
    chat.send("More")
    desk.settle()
    assert comparing.begin(TWO, chat.turns[0])
    desk.settle()
    return comparing


def test_one_that_waits_is_stopped_and_the_answer_before_it_goes_on(
    waiting: Comparing, chat: Chat, desk: Desk
) -> None:
    waiting.stop()
    assert waiting.running is None and chat.busy
    assert waiting.of(chat.turns[0]) == ()
    desk.answer("There is more")
    assert chat.turns[-1].text == "There is more"


def test_a_chat_in_which_one_waits_is_deleted(waiting: Comparing, chat: Chat, desk: Desk) -> None:
    deleted = chat.conversation_id
    desk.program.conversations.delete(deleted)
    assert waiting.running is None
    assert all(head.id != deleted for head in desk.program.conversations.heads)


def test_the_program_ends_while_one_waits(waiting: Comparing, desk: Desk) -> None:
    desk.program.stop()
    assert waiting.running is None and desk.engine.closed


def test_in_a_new_chat_it_begins_with_what_is_set_for_new_chats(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    desk.program.settings.change(system_prompt="Answer in verse.")
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    assert [(message.role, message.text) for message in lead.asked.prompt.messages] == [  # type: ignore[union-attr]
        ("system", "Answer in verse."),
        ("user", "Hi"),
    ]
    assert chat.shown.head.model == desk.program.session.ref


def test_lanes_without_a_word_come_back_with_their_question_as_lanes(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    asked_once(desk, chat)
    chat.send("And why is it red?")
    desk.answer("Because")
    comparing.begin(TWO, chat.turns[2])
    desk.settle()
    lead.begin()
    desk.program.branches.delete(chat.turns[2])
    assert desk.program.branches.undo_delete()
    assert desk.program.branches.version(chat.turns[3]) == (1, 1)
    later = again()
    assert later.program.branches.version(later.program.chat.turns[3]) == (1, 1)
    assert len(later.program.comparing.of(later.program.chat.turns[2])) == 1


def test_a_lane_that_was_kept_and_goes_on_stays_what_it_was(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.begin()
    lead.write(0, "one way", 3)
    lead.write(1, "another", 3)
    lead.finish(0, "length")
    lead.finish(1, "length")
    lead.end()
    before = (
        [(lane.turn.text, lane.settings, lane.tokens) for lane in comparing.shown.lanes] if comparing.shown else []
    )
    assert comparing.keep(1)
    desk.program.sampling.change(temperature=1.7)
    chat.go_on()
    desk.settle()
    assert comparing.shown is not None and not any(lane.is_open for lane in comparing.shown.lanes)
    desk.answer(" and more")
    assert chat.turns[-1].text == "another and more"
    assert [(lane.turn.text, lane.settings, lane.tokens) for lane in comparing.shown.lanes] == before
    later = again()
    (kept,) = later.program.comparing.of(later.program.chat.turns[0])
    assert later.program.comparing.open(kept.id)
    shown = later.program.comparing.shown
    assert shown is not None
    assert [(lane.turn.text, lane.settings, lane.tokens) for lane in shown.lanes] == before
    assert [turn.text for turn in later.program.chat.turns][-1] == "another and more"


def test_after_a_failure_the_cells_hold_the_prompt_and_the_prefill_is_known(
    comparing: Comparing, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    desk.program.prompt_count.set_draft("")
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(0, "a", 30)
    lead.write(1, "b", 20)
    assert desk.program.live.figures.kv_cells_used == 40 + 29 + 19
    desk.engine.fail("engine", lead.asked.request)
    desk.settle()
    assert (desk.program.live.figures.kv_cells_used, desk.program.prompt_count.count.in_cache) == (40, 40)
    later = again()
    (kept,) = later.program.comparing.of(later.program.chat.turns[0])
    assert kept.prefill is not None
    assert (kept.prefill.prompt_tokens, kept.prefill.evaluated, kept.prefill.prefill_ms) == (40, 28, 96.0)


def test_where_no_lane_has_anything_to_say_that_is_told(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin(LanePlan(((0, 1),), (8, 8)))
    lead.finish(0)
    lead.finish(1)
    lead.end()
    assert "nothing to compare" in desk.told
    assert comparing.shown is None and [turn.text for turn in chat.turns] == ["Hi"]


def test_a_lane_that_is_stopped_while_the_comparison_waits_is_stopped_with_its_begin(
    waiting: Comparing, desk: Desk, lead: LanesLead
) -> None:
    waiting.stop_lane(1)
    assert desk.engine.all(StopLane) == []
    desk.answer("There is more")
    assert desk.engine.all(StopLane) == [StopLane(lead.asked.request, 1)]


def test_the_one_that_runs_is_looked_at_in_its_own_chat(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    first = chat.conversation_id
    desk.program.conversations.new()
    assert comparing.running is not None and comparing.open(comparing.running.comparison.id)
    assert chat.conversation_id == first and comparing.shown is comparing.running
    lead.all("a", "b")
    desk.program.conversations.new()
    assert comparing.shown is None
    assert not comparing.run_again() and not comparing.keep(0)
    desk.program.conversations.open(first)
    assert comparing.open(comparing.of(chat.turns[0])[0].id)
    assert comparing.run_again()
    desk.settle()
    lead.all("c", "d")
    assert comparing.keep(1) and chat.turns[-1].text == "d"


def test_a_kept_lane_that_was_deleted_is_no_lane_until_that_is_undone(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.all("one way", "another")
    comparing.pin(1)
    assert comparing.keep(1)
    desk.program.branches.delete(chat.turns[1])
    shown = comparing.shown
    assert shown is not None and [lane.letter for lane in shown.lanes] == ["A"]
    assert not comparing.keep(1)
    assert comparing.run_again()
    desk.settle()
    assert [each.temperature for each in lead.asked.lanes] == [0.8]
    comparing.stop()
    lead.all("again")
    assert desk.program.branches.undo_delete()
    assert comparing.open(shown.comparison.id)
    assert comparing.shown is not None and [lane.letter for lane in comparing.shown.lanes] == ["A", "B"]


def test_a_kept_lane_that_is_reproduced_is_told_as_one_of_several(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.all("one way", "another")
    assert comparing.keep(0)
    assert "one lane beside others" in told_of_a_difference(desk)


@pytest.mark.parametrize("behind", [False, True])
def test_the_copy_of_a_kept_lane_in_a_fork_is_told_as_one_of_several_too(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk], behind: bool
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.all("one way", "another")
    assert comparing.keep(1)
    if behind:
        chat.send("More")
        desk.answer("There is more")
    desk.program.branches.fork(chat.turns[-1])
    assert chat.turns[1].comparison is None and comparing.of(chat.turns[0]) == ()
    assert "one lane beside others" in told_of_a_difference(desk)
    later = again()
    assert later.program.chat.turns[1].text == "another" and later.program.chat.turns[1].was_lane
    assert [turn.was_lane for turn in later.program.chat.turns].count(True) == 1


def told_of_a_difference(desk: Desk) -> str:
    """Have the second turn written once more, with another token, and return what is told of that."""
    turn = desk.program.chat.turns[1]
    assert desk.program.reproducing.begin(turn)
    desk.settle()
    asked = desk.engine.all(Reproduce)[-1]
    difference = Difference(0, 0, 1, gap=0.3, stored_gap=0.2, draw_distance=0.3)
    desk.engine.say(Reproduced(asked.request, 0, 0, difference, None, KVUse(40, 4096, None)))
    desk.settle()
    told = desk.program.reproducing.of(turn)
    assert told is not None
    return told.sentences[-1].english()
