"""A clock that stands, or that is set back: what is deleted stays apart, and no id is used twice."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from app.core.conversation import Trashed
from app.services.chat import Chat
from app.services.program import Program
from tests.desk import Desk
from tests.services.asking import say, shown

HOUR_NS = 3600 * 10**9


@pytest.fixture(autouse=True, params=[0, -HOUR_NS], ids=["stands", "goes back"])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = itertools.count(time.time_ns(), request.param)
    monkeypatch.setattr("app.services.stamps.time", SimpleNamespace(time_ns=lambda: next(moments)))


def trash(program: Program) -> tuple[Trashed, ...]:
    program.trash.look()
    assert program.trash.items is not None
    return program.trash.items


def ids(chat: Chat) -> list[int]:
    return [turn.message for turn in chat.turns]


def test_each_deletion_is_undone_by_itself_and_the_latest_lies_first_in_the_trash(desk: Desk, chat: Chat) -> None:
    for number in ("One", "Two", "Three"):
        say(desk, number, f"{number}!")
    branches = desk.program.branches
    branches.delete(chat.turns[4])
    branches.delete(chat.turns[3])
    branches.delete(chat.turns[2])
    assert [(item.text, item.messages) for item in trash(desk.program)] == [("Two", 1), ("Two!", 1), ("Three", 2)]
    branches.undo_delete()
    assert shown(chat) == ["One", "One!", "Two"]
    branches.undo_delete()
    assert shown(chat) == ["One", "One!", "Two", "Two!"]
    assert [item.text for item in trash(desk.program)] == ["Three"]


def test_an_answer_that_came_to_nothing_is_no_part_of_what_is_deleted_then(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    chat.answer_again()
    desk.engine.fail("model")
    desk.settle()
    desk.program.branches.delete(chat.turns[2])
    assert [(item.text, item.messages) for item in trash(desk.program)] == [("Two", 2)]


def test_chats_that_were_deleted_lie_in_the_trash_with_the_latest_first(desk: Desk, chat: Chat) -> None:
    chats = []
    for number in ("One", "Two", "Three"):
        desk.program.conversations.new()
        say(desk, number, "!")
        chats.append(chat.conversation_id)
    for key in (chats[1], chats[2], chats[0]):
        desk.program.conversations.delete(key)
    assert [item.text for item in trash(desk.program)] == ["One", "Three", "Two"]


def test_of_questions_that_came_to_nothing_only_the_last_comes_back_with_its_chat(desk: Desk, chat: Chat) -> None:
    for question in ("One", "Two"):
        chat.send(question)
        desk.engine.fail("prompt_too_long")
        desk.settle()
    (item,) = trash(desk.program)
    assert (item.text, item.message) == ("Two", None)
    desk.program.trash.restore(item)
    assert shown(chat)[0] == "Two"


def test_ids_grow_over_a_restart_and_an_old_chat_stays_what_it_was(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    old, before = chat.conversation_id, ids(chat)
    later = again()
    say(later, "Two", "2")
    assert ids(later.program.chat)[:2] == before
    assert min(ids(later.program.chat)[2:]) > max(before)
    newest = max(ids(later.program.chat))
    last = again()
    last.program.conversations.new()
    say(last, "Three", "3")
    assert last.program.chat.conversation_id > newest
    assert min(ids(last.program.chat)) > newest
    last.program.conversations.open(old)
    assert shown(last.program.chat) == ["One", "1", "Two", "2"]


def test_a_new_chat_never_gets_the_id_of_one_that_lies_in_the_trash(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    old = chat.conversation_id
    desk.program.conversations.delete(old)
    later = again().program
    assert later.chat.turns == ()
    assert later.chat.conversation_id > old
    say(desk := again(), "Two", "2")
    assert [item.conversation for item in trash(desk.program)] == [old]
    assert [head.title for head in desk.program.conversations.heads] == ["Two"]


def test_what_is_deleted_after_a_restart_is_later_than_anything_that_was_deleted_before(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    for number in ("One", "Two", "Three"):
        say(desk, number, "!")
    desk.program.branches.delete(chat.turns[4])
    later = again()
    later.program.branches.delete(later.program.chat.turns[2])
    last = again()
    say(last, "Four", "4")
    last.program.conversations.delete(last.program.chat.conversation_id)
    deleted = last.store.work.database.connection
    assert deleted is not None
    times = [time for (time,) in deleted.execute("SELECT DISTINCT deleted_ms FROM message WHERE deleted_ms > 0")]
    (of_chat,) = deleted.execute("SELECT deleted_ms FROM conversation").fetchone()
    assert len({*times, of_chat}) == 3 and of_chat > max(times)
    last.program.trash.restore(trash(last.program)[0])
    assert [item.text for item in trash(last.program)] == ["Two", "Three"]


def test_a_clock_that_is_years_behind_deletes_nothing_in_the_past(
    desk: Desk, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    made_ms = chat.turns[-1].message // 1000
    monkeypatch.setattr("app.services.stamps.time", SimpleNamespace(time_ns=lambda: 0))
    desk.program.branches.delete(chat.turns[2])
    assert trash(desk.program)[0].deleted_ms >= made_ms


def test_ids_leave_room_behind_one_that_damage_made_up(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    say(desk, "One", "1")
    connection = desk.store.work.database.connection
    assert connection is not None
    with connection:
        connection.execute("UPDATE message SET id = ? WHERE text = 'One'", (2**63 - 1,))
    later = again()
    later.program.conversations.new()
    say(later, "Two", "2")
    assert shown(again().program.chat) == ["Two", "2"]


def test_after_a_run_whose_clock_was_years_ahead_deletions_have_the_day_on_which_they_are_made(
    desk: Desk, chat: Chat, again: Callable[[], Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("One", "Two", "Three"):
        say(desk, number, "!")
    ahead_ns = time.time_ns() + 9 * 365 * 24 * HOUR_NS
    with monkeypatch.context() as wrong:
        wrong.setattr("app.services.stamps.time", SimpleNamespace(time_ns=lambda: ahead_ns))
        wrong.setattr("app.store.deletions.time", SimpleNamespace(time=lambda: ahead_ns / 10**9))
        desk.program.branches.delete(chat.turns[4])
    later = again()
    later.program.branches.delete(later.program.chat.turns[2])
    latest, before = trash(later.program)
    assert (latest.text, before.text) == ("Two", "Three")
    assert latest.deleted_ms <= time.time() * 1000 < before.deleted_ms
