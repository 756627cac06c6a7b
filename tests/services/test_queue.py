"""Questions that are asked while an answer is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.commands import Generate
from app.services.chat import Chat
from app.services.queue import Queue
from tests.desk import Desk
from tests.services.asking import shown


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
