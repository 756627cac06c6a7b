"""Step mode: which answer is held at which pace, what becomes of what people choose, and that nothing is held for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.commands import Cancel, Generate, SetPace, StepOn
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.step_mode import StepMode
from tests.desk import Desk
from tests.services.asking import say
from tests.services.lanes import LanesLead
from tests.services.test_comparing import TWO

SECOND_NS = 1_000_000_000


@pytest.fixture
def steps(chat: Chat, desk: Desk) -> StepMode:
    """Return step mode of a program that keeps what is said and has a model."""
    assert not chat.busy
    return desk.program.step_mode


def paces(desk: Desk) -> list[tuple[int, float | None]]:
    return [(each.request, each.tokens_per_s) for each in desk.engine.all(SetPace)]


def held(desk: Desk) -> None:
    """Let an answer begin, and wait for somebody before its second token."""
    desk.program.step_mode.pause()
    desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.hold()
    desk.settle()
    desk.program.step_mode.step()
    desk.engine.write("Because")
    desk.engine.hold()
    desk.settle()


def test_new_answers_begin_with_the_pace_that_people_want(desk: Desk, chat: Chat, steps: StepMode) -> None:
    for wanted, change in (
        (None, steps.run),
        (5.0, lambda: steps.set_speed(5.0)),
        (0.0, steps.pause),
        (5.0, steps.run),
        (None, steps.end),
    ):
        change()
        say(desk, "One", "1")
        assert desk.engine.question.tokens_per_s == wanted
    assert paces(desk) == []


def test_an_answer_that_is_written_hears_of_another_pace_once(desk: Desk, chat: Chat, steps: StepMode) -> None:
    chat.send("One")
    desk.settle()
    request = desk.engine.question.request
    steps.pause()
    steps.pause()
    steps.set_speed(12.0)
    steps.run()
    steps.end()
    assert paces(desk) == [(request, 0.0), (request, 12.0), (request, None)]


def test_a_question_that_is_not_kept_yet_goes_with_the_pace_of_then(desk: Desk, chat: Chat, steps: StepMode) -> None:
    later: list[object] = []
    desk.take_from_store = later.append
    chat.send("One")
    steps.pause()
    desk.take_from_store = desk.program.dispatch
    for event in later:
        desk.program.dispatch(event)  # type: ignore[arg-type]
    assert desk.engine.question.tokens_per_s == 0


def test_a_held_answer_says_so_until_somebody_lets_it_go(desk: Desk, chat: Chat, steps: StepMode) -> None:
    changed: list[bool] = []
    chat.changed.connect(lambda turn: changed.append(turn.is_held))
    held(desk)
    turn = chat.turns[-1]
    assert steps.held is chat.shown.run and steps.next_token == 2
    assert turn.is_held and changed.count(True) >= 1
    steps.run()
    assert steps.held is None and not turn.is_held and changed[-1] is False
    desk.engine.write(" of")
    desk.engine.finish()
    desk.settle()
    assert (turn.text, turn.state, turn.is_held) == ("Because of", "done", False)


def test_each_step_is_asked_for_once_and_says_which_token_it_is_for(desk: Desk, chat: Chat, steps: StepMode) -> None:
    held(desk)
    request = desk.engine.question.request
    assert desk.engine.all(StepOn) == [StepOn(request, None, 0)]
    steps.step()
    steps.step()  # the engine has not answered the first
    assert desk.engine.all(StepOn)[1:] == [StepOn(request, None, 1)]
    assert steps.held is not None and chat.turns[-1].is_held, "nothing flickers between two steps"
    desk.engine.write(" it")
    desk.settle()
    steps.step()  # and not while the next row is still to come
    desk.engine.hold()
    desk.settle()
    steps.step()
    assert [each.place for each in desk.engine.all(StepOn)] == [0, 1, 2]


def test_a_step_before_anything_is_held_holds_it_first(desk: Desk, chat: Chat, steps: StepMode) -> None:
    chat.send("One")
    desk.settle()
    steps.step()
    assert steps.is_one_by_one and desk.engine.all(StepOn) == []
    assert paces(desk) == [(desk.engine.question.request, 0.0)]
    steps.step()
    assert desk.engine.all(StepOn) == []


def test_a_chosen_token_is_counted_once_it_is_there(desk: Desk, chat: Chat, steps: StepMode) -> None:
    held(desk)
    request, turn = desk.engine.question.request, chat.turns[-1]
    steps.choose(request, 1, 77)
    steps.choose(request, 1, 78)  # the row is another one by now
    assert desk.engine.all(StepOn)[1:] == [StepOn(request, 77, 1)]
    assert turn.chosen == 0
    desk.engine.write(" you", token=77)
    desk.engine.hold()
    desk.settle()
    assert turn.chosen == 1
    steps.choose(request, 1, 5)  # late: a list that was not painted anew yet
    steps.choose(request + 1, 2, 5)
    assert len(desk.engine.all(StepOn)) == 2
    steps.choose(request, 2, 5)
    desk.engine.write(" know", token=5)
    desk.engine.finish()
    desk.settle()
    assert turn.chosen == 2
    assert [note.english() for note in turn.notes] == ["2 tokens were chosen by hand."]


def test_how_many_were_chosen_is_known_after_a_restart(desk: Desk, again: Callable[[], Desk]) -> None:
    again()  # with a model that the next start loads
    held(desk := again())
    desk.program.step_mode.choose(desk.engine.question.request, 1, 9)
    desk.engine.write(" so", token=9)
    desk.engine.finish()
    desk.settle()
    assert again().program.chat.turns[-1].chosen == 1


def test_a_token_that_came_otherwise_is_not_counted(desk: Desk, chat: Chat, steps: StepMode) -> None:
    held(desk)
    steps.choose(desk.engine.question.request, 1, 77)
    desk.engine.write(" x", token=3)
    desk.settle()
    assert chat.turns[-1].chosen == 0


def test_who_pauses_again_before_the_engine_heard_of_the_run_can_go_on_stepping(
    desk: Desk, chat: Chat, steps: StepMode
) -> None:
    held(desk)
    steps.step()
    steps.toggle()
    steps.toggle()  # the engine says nothing: it holds what it held
    assert steps.held is not None
    steps.step()
    assert [each.place for each in desk.engine.all(StepOn)] == [0, 1, 1]


def test_an_answer_that_nobody_looks_at_runs_on_and_is_held_again_for_who_comes_back(
    desk: Desk, chat: Chat, steps: StepMode
) -> None:
    held(desk)
    request, conversation, turn = desk.engine.question.request, chat.conversation_id, chat.turns[-1]
    desk.program.conversations.new()
    assert paces(desk) == [(request, None)]
    assert steps.held is None and not turn.is_held and steps.is_one_by_one
    chat.send("Elsewhere")  # it waits for the answer that runs on
    desk.settle()
    desk.program.conversations.open(conversation)
    assert paces(desk) == [(request, None), (request, 0.0)]
    desk.engine.hold()
    desk.settle()
    assert steps.held is not None and turn.is_held
    desk.program.conversations.new()
    desk.engine.finish()
    desk.settle()
    assert desk.engine.question.request != request
    assert desk.engine.question.tokens_per_s is None, "nobody looks at it"


def test_a_question_that_waits_in_its_chat_is_sent_once_the_held_answer_has_ended(
    desk: Desk, chat: Chat, steps: StepMode
) -> None:
    held(desk)
    desk.program.queue.add("And then?")
    desk.settle()
    assert [each.text for each in desk.program.queue.shown] == ["And then?"]
    steps.run()
    desk.engine.finish()
    desk.settle()
    assert chat.turns[-2].text == "And then?" and len(desk.engine.all(Generate)) == 2


def test_a_comparison_does_not_wait_for_who_holds_an_answer(
    desk: Desk, chat: Chat, comparing: Comparing, lead: LanesLead, steps: StepMode
) -> None:
    say(desk, "One", "1")
    held(desk)
    request = desk.engine.question.request
    assert comparing.begin(TWO, chat.turns[0])
    assert steps.held is None and paces(desk) == [(request, None)]
    desk.engine.finish()
    desk.settle()
    chat.send("Later")
    desk.settle()
    lead.all("a", "b")
    assert desk.engine.question.tokens_per_s == 0, "what comes after it is held again"


@pytest.mark.parametrize("how", ["stop", "delete chat", "delete question", "die", "unload", "fail", "close"])
def test_whatever_ends_a_held_answer_nothing_is_held_any_more(
    desk: Desk, chat: Chat, steps: StepMode, how: str
) -> None:
    held(desk)
    request, turn, conversation = desk.engine.question.request, chat.turns[-1], chat.shown
    match how:
        case "stop":
            chat.stop()
            desk.engine.finish("cancelled")
        case "delete chat":
            desk.program.conversations.delete(chat.conversation_id)
            desk.engine.finish("cancelled")
        case "delete question":
            desk.program.branches.delete(chat.turns[0])
            assert steps.held is None, "at once: nobody waits for what the engine says of it"
            desk.engine.finish("cancelled")
        case "die":
            desk.engine.die(request)
        case "unload":
            desk.program.session.unload()
        case "fail":
            desk.engine.fail("engine")
        case _:
            desk.program.stop()
            assert Cancel(request) in desk.engine.all(Cancel)
            return
    desk.settle()
    assert steps.held is None and not turn.is_held
    assert conversation.run is None and turn.text == "Because"
    steps.step()
    steps.choose(request, 1, 4)
    assert len(desk.engine.all(StepOn)) == 1


def test_the_time_to_the_first_token_leaves_out_how_long_it_was_held(desk: Desk, chat: Chat, steps: StepMode) -> None:
    steps.pause()
    chat.send("Why?")
    desk.settle()
    sent_ns = desk.engine.question.sent_ns
    desk.engine.prompt()
    desk.engine.hold()
    desk.engine.write("Because", held_ns=5 * SECOND_NS)
    desk.settle()
    ttft_ms = desk.program.live.first_text_painted(chat.turns[-1], sent_ns + 5 * SECOND_NS + 120_000_000)
    assert ttft_ms == pytest.approx(120.0)
    assert desk.program.live.figures.ttft_ms == pytest.approx(120.0)
