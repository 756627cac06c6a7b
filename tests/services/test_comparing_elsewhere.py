"""Comparisons that go on while their branch, their chat or one of their lanes is deleted, or goes on by itself."""

from __future__ import annotations

from collections.abc import Callable

from app.services.chat import Chat
from app.services.comparing import Comparing
from tests.desk import Desk
from tests.services.lanes import LanesLead
from tests.services.test_comparing import TWO, asked_once


def texts(comparing: Comparing) -> list[str]:
    assert comparing.shown is not None
    return [lane.turn.text for lane in comparing.shown.lanes]


def test_a_question_that_is_deleted_in_a_branch_that_is_not_shown_ends_its_comparison(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    question = chat.turns[0]
    comparing.begin(TWO, question)
    desk.settle()
    lead.begin()
    lead.write(0, "It is")
    assert desk.program.branches.edit(question, "Why is the sea blue?")
    desk.settle()
    shown = chat.turns
    desk.program.branches.delete(question)
    assert comparing.running is None and comparing.shown is None
    assert desk.engine.cancelled == [lead.asked.request]
    assert chat.turns == shown
    lead.end()
    desk.answer("It is not")
    assert [turn.text for turn in chat.turns] == ["Why is the sea blue?", "It is not"] and not chat.busy
    assert desk.program.branches.undo_delete()
    (kept,) = comparing.of(question)
    assert comparing.open(kept.id) and texts(comparing) == ["It is", ""]


def test_an_undo_that_shows_another_branch_leaves_a_comparison_where_it_is(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    first = chat.turns[0]
    assert desk.program.branches.edit(first, "Why is the sea blue?")
    desk.answer("Because too")
    desk.program.branches.delete(chat.turns[0])
    comparing.begin(TWO, first)
    desk.settle()
    lead.begin()
    lead.write(1, "x")
    assert desk.program.branches.undo_delete()
    assert chat.turns[0] is not first
    assert comparing.shown is comparing.running is not None
    lead.end()
    assert comparing.running is None and comparing.open(comparing.of(first)[0].id)


def test_an_answer_that_never_came_takes_no_question_along_that_a_comparison_answers(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    chat.send("More")
    desk.settle()
    assert comparing.begin(TWO, chat.turns[2])
    desk.settle()
    desk.engine.fail("prompt_too_long")
    desk.settle()
    assert comparing.running is not None and [turn.text for turn in chat.turns][-1] == "More"
    lead.all("one way", "another")
    assert texts(comparing) == ["one way", "another"]


def test_a_chat_that_is_deleted_ends_its_comparison_at_once_and_an_undo_brings_back_what_was_written(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(1, "Hello")
    desk.program.conversations.delete(chat.conversation_id)
    assert comparing.running is None and desk.engine.cancelled == [lead.asked.request]
    assert not desk.program.conversations.busy
    lead.write(1, " there")
    lead.end()
    desk.program.conversations.undo_delete()
    desk.settle()
    (kept,) = comparing.of(chat.turns[0])
    assert comparing.open(kept.id) and texts(comparing) == ["", "Hello"]


def test_a_lane_that_was_kept_and_deleted_while_others_ran_is_not_shown_at_the_end(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.begin()
    lead.write(0, "one way")
    lead.finish(0)
    assert comparing.keep(0)
    desk.program.branches.delete(chat.turns[1])
    lead.write(1, "another")
    lead.end()
    lead.finish(1)
    assert comparing.shown is not None
    assert [lane.letter for lane in comparing.shown.lanes] == ["B"]


def test_a_lane_that_was_kept_and_goes_on_behind_the_others_is_not_touched_when_they_fail(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.begin()
    lead.write(0, "one way", 3)
    lead.finish(0, "length")
    assert comparing.keep(0)
    chat.go_on()
    desk.settle()
    assert comparing.shown is not None and [lane.is_open for lane in comparing.shown.lanes] == [False, True]
    desk.engine.fail("engine", lead.asked.request)
    desk.settle()
    assert [lane.turn.state for lane in comparing.shown.lanes] == ["done", "interrupted"]
    assert chat.turns[1].state == "waiting"
    desk.answer(" and more")
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?", "one way and more"]
    assert texts(comparing) == ["one way", ""]
    later = again().program
    assert [turn.text for turn in later.chat.turns] == ["Why is the sky blue?", "one way and more"]


def test_a_lane_stays_what_it_was_when_another_branch_is_shown_while_it_goes_on(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    lead.begin()
    for lane, text in enumerate(("one way", "another")):
        lead.write(lane, text, 3)
        lead.finish(lane, "length")
    lead.end()
    assert comparing.keep(1)
    chat.go_on()
    desk.settle()
    assert desk.program.branches.step(chat.turns[1], -1)
    assert comparing.shown is not None and not any(lane.is_open for lane in comparing.shown.lanes)
    desk.answer(" and more")
    assert texts(comparing) == ["one way", "another"]
