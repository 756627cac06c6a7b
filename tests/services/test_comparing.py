"""Comparisons as people have them: begun, growing, stopped, kept, opened again, and one lane as the answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from app.core.chat import ChatPrompt
from app.core.commands import Cancel, Compare, StopLane
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.lane_starts import Lanes, lanes_for
from app.services.lanes_there import settings_of
from tests.desk import Desk
from tests.services.lanes import LanesLead

STEPS = lanes_for("temperature", SamplingSettings(seed=7))
TWO = Lanes((SamplingSettings(seed=7), SamplingSettings(seed=7, temperature=0.0)))


def asked_once(desk: Desk, chat: Chat) -> None:
    chat.send("Why is the sky blue?")
    desk.answer("Because")


def test_all_lanes_answer_a_new_question_with_one_prompt_and_grow_by_themselves(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    assert comparing.begin(STEPS, None, "Why is the sky blue?")
    desk.settle()
    asked = lead.asked
    assert isinstance(asked.prompt, ChatPrompt)
    assert [each.text for each in asked.prompt.messages][-1] == "Why is the sky blue?"
    assert [each.temperature for each in asked.lanes] == [0.0, 0.4, 0.8, 1.2, 1.6]
    assert {each.seed for each in asked.lanes} == {7}
    grown: list[tuple[int, str]] = []
    comparing.lane_grew.connect(lambda _comparison, lane, text: grown.append((lane, text)))
    lead.begin()
    lead.write(0, "One")
    lead.write(3, "Four")
    lead.write(0, " more")
    shown = comparing.shown
    assert shown is not None and shown.is_running and shown.cells_used == 41
    assert [lane.turn.text for lane in shown.lanes] == ["One more", "", "", "Four", ""]
    assert [lane.turn.state for lane in shown.lanes] == ["writing", "waiting", "waiting", "writing", "waiting"]
    assert grown == [(0, " more")]
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?"], "no lane is the answer"


def test_each_lane_ends_by_itself_and_the_comparison_with_the_last(
    comparing: Comparing, desk: Desk, lead: LanesLead
) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(0, "A")
    lead.finish(0, rest="!")
    run = comparing.running
    assert run is not None and run.lanes[0].turn.text == "A!" and not run.lanes[0].is_open and run.lanes[1].is_open
    lead.write(1, "B")
    lead.finish(1, "length")
    assert comparing.running is run
    lead.end()
    assert comparing.running is None and comparing.shown is run and not run.is_running
    assert run.comparison.prefill is not None and run.comparison.prefill.evaluated == 28
    finished = run.lanes[1].turn.finished
    assert finished is not None and finished.stop_reason == "length"


def test_one_lane_is_stopped_and_all_are(comparing: Comparing, desk: Desk, lead: LanesLead) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    comparing.stop_lane(1)
    assert [(each.request, each.lane) for each in desk.engine.all(StopLane)] == [(lead.asked.request, 1)]
    assert desk.engine.all(Cancel) == []
    comparing.stop()
    assert desk.engine.cancelled == [lead.asked.request]


def test_the_lanes_are_there_again_after_a_start(
    comparing: Comparing, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    comparing.begin(STEPS, None, "Hi")
    desk.settle()
    lead.all("a", "b", "c", "d", "e")
    comparing.pin(3)
    before = comparing.shown
    assert before is not None
    desk.program.stop()
    later = again()
    chat, comparing = later.program.chat, later.program.comparing
    (question,) = chat.turns
    (kept,) = comparing.of(question)
    assert kept == before.comparison and kept.baseline == 3
    assert comparing.open(kept.id)
    shown = comparing.shown
    assert shown is not None and not shown.is_running
    assert [(lane.letter, lane.turn.text, lane.settings) for lane in shown.lanes] == [
        (lane.letter, lane.turn.text, lane.settings) for lane in before.lanes
    ]
    assert [lane.turn.finished for lane in shown.lanes] != [None] * 5


def test_a_lane_becomes_the_answer_and_the_chat_goes_on_with_it(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    asked_once(desk, chat)
    question, answer = chat.turns
    comparing.begin(TWO, question)
    desk.settle()
    lead.all("one way", "another way")
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?", "Because"]
    assert desk.program.branches.version(answer) == (1, 1), "lanes are no versions"
    assert comparing.keep(1)
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?", "another way"]
    assert desk.program.branches.version(chat.turns[-1]) == (2, 2)
    chat.send("Go on")
    assert isinstance(desk.engine.question.prompt, ChatPrompt)
    assert [each.text for each in desk.engine.question.prompt.messages][-2:] == ["another way", "Go on"]
    desk.answer("Yes")
    desk.program.stop()
    later = again()
    assert [turn.text for turn in later.program.chat.turns] == ["Why is the sky blue?", "another way", "Go on", "Yes"]
    (kept,) = later.program.comparing.of(later.program.chat.turns[0])
    assert kept.kept == (1,)
    assert later.program.comparing.open(kept.id)
    shown = later.program.comparing.shown
    assert shown is not None and [lane.turn.text for lane in shown.lanes] == ["one way", "another way"]


def test_what_a_lane_wrote_stays_when_the_engine_dies(
    comparing: Comparing, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(0, "Half of")
    lead.write(1, "Whole")
    lead.finish(1)
    desk.engine.die(lead.asked.request)
    desk.settle()
    assert comparing.running is None and comparing.shown is not None
    first, second = comparing.shown.lanes
    assert (first.turn.text, first.turn.state, second.turn.state) == ("Half of", "interrupted", "done")
    assert first.turn.reason is not None and "The engine stopped" in first.turn.reason.english()
    desk.program.stop()
    later = again()
    (kept,) = later.program.comparing.of(later.program.chat.turns[0])
    later.program.comparing.open(kept.id)
    shown = later.program.comparing.shown
    assert shown is not None
    assert [(lane.turn.text, lane.turn.state) for lane in shown.lanes] == [
        ("Half of", "interrupted"),
        ("Whole", "done"),
    ]


def test_a_new_question_that_comes_to_nothing_goes_back_to_where_it_was_written(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    asked_once(desk, chat)
    returned: list[str] = []
    chat.draft_returned.connect(returned.append)
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    desk.engine.fail("template", lead.asked.request, "The template is broken.")
    desk.settle()
    assert comparing.running is None and comparing.shown is None
    assert desk.told == "The template is broken."
    assert returned == ["Hi"]
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?", "Because"]
    later = again()
    assert [turn.text for turn in later.program.chat.turns] == ["Why is the sky blue?", "Because"]


def test_a_question_that_was_there_stays_where_a_comparison_of_it_comes_to_nothing(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    desk.engine.fail("template", lead.asked.request, "The template is broken.")
    desk.settle()
    assert [turn.text for turn in chat.turns] == ["Why is the sky blue?", "Because"]
    assert comparing.of(chat.turns[0]) == ()


def test_it_is_refused_with_a_reason(comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead) -> None:
    empty = comparing.refusal(None, "  ")
    assert empty is not None and "Write a prompt" in empty.english()
    chat.send("Hi")
    busy = comparing.refusal(None, "More")
    assert busy is not None and "being written" in busy.english()
    assert not comparing.begin(TWO, None, "More")
    desk.answer("Hello")
    assert comparing.begin(TWO, None, "More")
    another = comparing.refusal(chat.turns[0])
    assert another is not None and "Another comparison" in another.english()
    assert len(desk.engine.all(Compare)) == 1
    assert lead.asked.request


def test_a_question_behind_it_waits_for_its_end(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    comparing.begin(TWO, chat.turns[0])
    desk.settle()
    generated = len(desk.engine.sent)
    chat.send("And then?")
    desk.settle()
    assert len(desk.engine.sent) == generated
    lead.all("a", "b")
    assert desk.engine.chat.messages[-1].text == "And then?"


def test_deleting_its_question_ends_it_and_undo_brings_the_lanes_back(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    asked_once(desk, chat)
    chat.send("And why is it red?")
    desk.answer("Because")
    comparing.begin(TWO, chat.turns[2])
    desk.settle()
    lead.begin()
    lead.write(0, "It is")
    desk.program.branches.delete(chat.turns[2])
    assert comparing.running is None and comparing.shown is None
    assert desk.engine.cancelled == [lead.asked.request]
    assert desk.program.branches.undo_delete()
    (kept,) = comparing.of(chat.turns[2])
    assert comparing.open(kept.id)
    assert comparing.shown is not None
    assert [lane.turn.text for lane in comparing.shown.lanes] == ["It is", ""]


def test_another_chat_closes_it_and_it_goes_on(comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    first = chat.conversation_id
    desk.program.conversations.new()
    assert comparing.shown is None and comparing.running is not None
    assert first in desk.program.conversations.busy
    lead.write(0, "Hello")
    lead.finish(0)
    lead.write(1, "Hey")
    desk.program.conversations.open(first)
    (kept,) = comparing.of(chat.turns[0])
    assert comparing.open(kept.id)
    assert comparing.shown is comparing.running
    lead.finish(1)
    lead.end()
    assert [lane.turn.text for lane in comparing.shown.lanes] == ["Hello", "Hey"]


def test_deleting_the_chat_ends_it(comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    desk.program.conversations.delete(chat.conversation_id)
    assert desk.engine.cancelled == [lead.asked.request]


def test_it_runs_again_beside_what_is_there(comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead) -> None:
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    first = lead.asked
    lead.all("a", "b")
    assert comparing.run_again()
    desk.settle()
    assert lead.asked.request != first.request and lead.asked.lanes == first.lanes
    lead.all("c", "d")
    assert len(comparing.of(chat.turns[0])) == 2


def test_lanes_without_a_seed_share_one(comparing: Comparing, desk: Desk, lead: LanesLead) -> None:
    comparing.begin(Lanes((SamplingSettings(), SamplingSettings(temperature=1.2))), None, "Hi")
    desk.settle()
    one, other = lead.asked.lanes
    assert one.seed is not None and one.seed == other.seed
    run = comparing.running
    assert run is not None
    assert [settings_of(lane.turn).seed for lane in run.lanes] == [one.seed, one.seed]
    assert all(early.turn.message < late.turn.message for early, late in pairwise(run.lanes))


def test_live_and_the_composer_say_what_the_cells_hold(
    comparing: Comparing, chat: Chat, desk: Desk, lead: LanesLead
) -> None:
    desk.program.prompt_count.set_draft("")
    comparing.begin(TWO, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(0, "a", 3)
    lead.write(1, "b", 2)
    figures = desk.program.live.figures
    assert [(part.name, part.tokens) for part in figures.kv_parts] == [("prompt", 40), ("lanes", 3)]
    assert (figures.kv_cells_used, desk.program.prompt_count.count.in_cache) == (43, 43)
    lead.finish(0)
    lead.finish(1)
    lead.end()
    figures = desk.program.live.figures
    assert [(part.name, part.tokens) for part in figures.kv_parts] == [("prompt", 40)]
    assert (figures.kv_cells_used, desk.program.prompt_count.count.in_cache) == (40, 40)
    assert len(chat.turns) == 1


def test_lanes_that_say_nothing_are_there_again_too(
    comparing: Comparing, desk: Desk, lead: LanesLead, again: Callable[[], Desk]
) -> None:
    comparing.begin(STEPS, None, "Hi")
    desk.settle()
    lead.begin()
    lead.write(1, "b")
    lead.write(4, "e")
    desk.engine.die(lead.asked.request)
    desk.settle()
    later = again()
    (kept,) = later.program.comparing.of(later.program.chat.turns[0])
    assert later.program.comparing.open(kept.id)
    shown = later.program.comparing.shown
    assert shown is not None
    assert [(lane.letter, lane.turn.text) for lane in shown.lanes] == [
        ("A", ""),
        ("B", "b"),
        ("C", ""),
        ("D", ""),
        ("E", "e"),
    ]
