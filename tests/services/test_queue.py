"""Questions that are asked while an answer is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.commands import Generate
from app.core.words import translate
from app.services.chat import Chat
from app.services.queue import Queue
from tests.desk import Desk
from tests.services.asking import half_an_answer, say, shown


@pytest.fixture
def queue(desk: Desk) -> Queue:
    return desk.program.queue


def waiting(queue: Queue) -> list[str]:
    return [queued.text for queued in queue.shown]


def test_what_waits_is_sent_in_order_as_each_answer_ends(desk: Desk, chat: Chat, queue: Queue) -> None:
    chat.send("One")
    assert queue.add("Two")
    assert queue.add("Three")
    assert waiting(queue) == ["Two", "Three"]
    desk.answer("1")
    assert shown(chat) == ["One", "1", "Two", ""]
    assert waiting(queue) == ["Three"]
    desk.answer("2")
    desk.answer("3")
    assert shown(chat) == ["One", "1", "Two", "2", "Three", "3"]
    assert any("Waited" in note.template for note in chat.turns[3].notes)
    assert chat.turns[1].notes == []


def test_without_an_answer_nothing_waits(desk: Desk, chat: Chat, queue: Queue) -> None:
    assert not queue.add("One")
    chat.send("One")
    assert not queue.add("  \n")
    assert waiting(queue) == []


def test_what_is_taken_back_is_not_sent(desk: Desk, chat: Chat, queue: Queue) -> None:
    chat.send("One")
    queue.add("Two")
    queue.add("Three")
    number = queue.shown[0].number
    assert queue.take_back(number) == "Two"
    assert queue.take_back(number) == ""
    desk.answer("1")
    assert shown(chat)[2] == "Three"


@pytest.mark.parametrize("end", ["stop", "die"])
def test_after_a_stop_or_a_failure_it_waits_until_somebody_sends_it(
    desk: Desk, chat: Chat, queue: Queue, model: Path, end: str
) -> None:
    chat.send("One")
    queue.add("Two")
    desk.engine.prompt()
    desk.engine.write("Half")
    desk.settle()
    if end == "stop":
        desk.engine.finish("cancelled")
    else:
        desk.engine.die(desk.engine.question.request)
    desk.settle()
    assert waiting(queue) == ["Two"]
    assert not chat.busy
    if end == "die":
        desk.load(model)
    assert queue.send()
    assert not queue.send()
    assert shown(chat)[2] == "Two"


def test_it_is_sent_in_its_own_conversation_whatever_is_shown(desk: Desk, chat: Chat, queue: Queue) -> None:
    chat.send("One")
    first = chat.conversation_id
    queue.add("Two")
    desk.program.conversations.new()
    assert waiting(queue) == []
    desk.answer("1")
    desk.answer("2")
    assert chat.turns == ()
    desk.program.conversations.open(first)
    assert shown(chat) == ["One", "1", "Two", "2"]


@pytest.mark.parametrize("phase", ["waits", "reads"])
@pytest.mark.parametrize("end", ["stop", "die", "leave"])
def test_after_an_answer_that_did_not_go_on_it_waits_until_somebody_sends_it(
    desk: Desk, chat: Chat, queue: Queue, phase: str, end: str
) -> None:
    half_an_answer(desk)  # which had ended well, by its limit
    chat.go_on()
    queue.add("Two")
    desk.settle()
    if phase == "reads":
        desk.engine.prompt(answer=(0, 1))
        desk.settle()
    if end == "stop":
        desk.engine.finish("cancelled")
    elif end == "die":
        desk.engine.die(desk.engine.question.request)
    else:
        desk.program.answers.leave(chat.shown, translate("Test", "Left."))
    desk.settle()
    assert (shown(chat), waiting(queue), chat.busy) == (["One", "Half an ans"], ["Two"], False)


def test_an_answer_that_went_on_to_a_good_end_is_followed_by_what_waits(desk: Desk, chat: Chat, queue: Queue) -> None:
    half_an_answer(desk)
    chat.go_on()
    queue.add("Two")
    desk.settle()
    desk.engine.prompt(answer=(5, 6))  # other tokens than were sampled: it becomes a version of its own
    desk.engine.write("wer")
    desk.engine.finish()
    desk.settle()
    assert shown(chat) == ["One", "Half an answer", "Two", ""]


def test_a_time_that_is_noted_afterwards_sends_nothing(desk: Desk, chat: Chat, queue: Queue) -> None:
    say(desk, "One", "1")
    chat.answer_again()
    queue.add("Two")
    queue.withdraw(queue.shown[0].number)
    desk.engine.fail("cancelled")
    desk.settle()
    queue.undo_withdraw()
    chat.note_ttft(chat.turns[1], 321.0)
    assert (shown(chat), waiting(queue)) == (["One", "1"], ["Two"])


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("away", ["step", "edit"])
def test_it_is_sent_behind_the_answer_that_it_waited_for_and_what_is_shown_stays(
    desk: Desk, chat: Chat, queue: Queue, again: Callable[[], Desk], away: str, looks: bool
) -> None:
    branches = desk.program.branches
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    desk.engine.prompt()
    desk.engine.write("uno")
    desk.settle()
    awaited = chat.turns[1]
    queue.add("Two")
    queue.add("Three")
    branches.step(awaited, -1)
    if away == "edit":
        branches.edit(chat.turns[1], "eins")
    before = shown(chat)
    desk.engine.finish()
    desk.settle()
    assert (shown(chat), chat.busy, waiting(queue)) == (before, True, ["Three"])
    assert (desk.told, desk.notice.remedy) == ("“Two” was sent in another version of this chat.", "show_sent")
    desk.answer("2")
    assert desk.told == "“Three” was sent in another version of this chat."
    if looks:
        queue.show_sent()
        before = ["One", "uno", "Two", "2", "Three", ""]
        assert (shown(chat), desk.program.notices.latest) == (before, None)
    desk.answer("3")
    before = before[:5] + ["3"] * looks
    assert shown(chat) == before == shown(again().program.chat)


def test_who_steps_to_the_answer_sees_what_was_sent_behind_it(desk: Desk, chat: Chat, queue: Queue) -> None:
    branches = desk.program.branches
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    queue.add("Two")
    branches.step(chat.turns[1], -1)
    desk.answer("uno")
    branches.step(chat.turns[1], 1)
    assert shown(chat) == ["One", "uno", "Two", ""]
    assert desk.program.notices.latest is None


def test_one_that_fails_in_a_branch_that_is_not_shown_goes_back_to_the_draft(
    desk: Desk, chat: Chat, queue: Queue
) -> None:
    returned: list[str] = []
    chat.draft_returned.connect(returned.append)
    say(desk, "One", "1")
    desk.program.branches.answer_again(chat.turns[1])
    queue.add("Two")
    desk.program.branches.step(chat.turns[1], -1)
    desk.answer("uno")
    desk.engine.fail("template")
    desk.settle()
    assert (shown(chat), returned, chat.busy) == (["One", "1"], ["Two"], False)
    desk.program.branches.step(chat.turns[1], 1)
    assert shown(chat) == ["One", "uno"]


def test_in_a_chat_that_is_not_shown_it_is_sent_there_without_a_word(desk: Desk, chat: Chat, queue: Queue) -> None:
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.branches.answer_again(chat.turns[1])
    queue.add("Two")
    desk.program.branches.step(chat.turns[1], -1)
    desk.program.conversations.new()
    desk.answer("uno")
    assert desk.program.notices.latest is None
    assert first in desk.program.conversations.busy
    desk.program.conversations.open(first)
    assert shown(chat) == ["One", "1"]


def test_what_waits_for_an_answer_that_is_deleted_is_not_lost(desk: Desk, chat: Chat, queue: Queue) -> None:
    say(desk, "One", "1")
    desk.program.branches.answer_again(chat.turns[1])
    queue.add("Two")
    desk.engine.prompt()
    desk.engine.write("uno")
    desk.settle()
    desk.program.branches.delete(chat.turns[1])
    desk.settle()
    assert (shown(chat), waiting(queue), chat.busy) == (["One", "1"], ["Two"], False)
    assert queue.send()
    assert shown(chat) == ["One", "1", "Two", ""]


def test_what_waits_is_in_the_draft_after_a_restart(
    desk: Desk, chat: Chat, queue: Queue, again: Callable[[], Desk]
) -> None:
    chat.send("One")
    queue.add("Two")
    queue.add("Three")
    place = chat.conversation_id
    later = again().program
    assert later.chat.drafts.of(place).text == "Two\n\nThree"
    assert len(desk.engine.all(Generate)) == 1
