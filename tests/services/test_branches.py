"""Versions of messages: stepping, editing, answering again, forking and deleting, in memory and on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from app.core.chat import PromptMessage
from app.core.commands import Generate
from app.core.conversation import LONGEST_TITLE
from app.core.store_events import StoreRenewed
from app.services.branches import Branches, numbered_title
from app.services.chat import Chat
from app.store.opening import FILE_NAME
from tests.desk import Desk
from tests.services.asking import say, shown


@pytest.fixture
def branches(desk: Desk) -> Branches:
    return desk.program.branches


def test_a_question_that_is_edited_is_asked_anew_and_the_old_branch_stays(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    assert branches.edit(chat.turns[0], "Eins")
    assert desk.engine.chat.messages == (PromptMessage("user", "Eins"),)
    desk.answer("I")
    assert shown(chat) == ["Eins", "I"]
    assert branches.version(chat.turns[0]) == (2, 2)
    assert branches.step(chat.turns[0], -1)
    assert shown(chat) == ["One", "1", "Two", "2"]
    assert not branches.step(chat.turns[0], -1)
    assert branches.step(chat.turns[0], 1)
    assert shown(chat) == ["Eins", "I"]


def test_an_answer_that_is_edited_is_another_version_and_is_sent_as_it_is_now(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "wrong")
    assert branches.edit(chat.turns[1], "right")
    assert shown(chat) == ["One", "right"]
    assert (chat.turns[1].edited, branches.version(chat.turns[1])) == (True, (2, 2))
    chat.send("Two")
    assert [message.text for message in desk.engine.chat.messages] == ["One", "right", "Two"]
    desk.answer("2")
    later = again().program
    assert shown(later.chat) == ["One", "right", "Two", "2"]
    assert later.chat.turns[1].edited
    assert later.branches.step(later.chat.turns[1], -1)
    assert shown(later.chat) == ["One", "wrong"]


@pytest.mark.parametrize("text", ["", "  \n", "One"])
def test_an_edit_that_says_nothing_new_changes_nothing(desk: Desk, chat: Chat, branches: Branches, text: str) -> None:
    say(desk, "One", "1")
    assert not branches.edit(chat.turns[0], text)
    assert len(desk.engine.all(Generate)) == 1
    assert branches.version(chat.turns[0]) == (1, 1)


def test_any_answer_can_be_written_again(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    assert branches.answer_again(chat.turns[1])
    desk.answer("uno")
    assert shown(chat) == ["One", "uno"]
    later = again().program
    assert shown(later.chat) == ["One", "uno"]
    assert later.branches.step(later.chat.turns[1], -1)
    assert shown(later.chat) == ["One", "1", "Two", "2"]


def test_an_answer_that_has_to_begin_with_given_words_goes_on_behind_them(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "no")
    assert branches.answer_again(chat.turns[1], "Yes,")
    assert desk.engine.chat.continue_last
    assert desk.engine.chat.messages[-1] == PromptMessage("assistant", "Yes,")
    assert (chat.turns[1].text, chat.turns[1].state) == ("Yes,", "waiting")
    desk.engine.prompt(answer=(5, 6))
    desk.engine.write(" of course")
    desk.engine.finish()
    desk.settle()
    turn = chat.turns[1]
    assert (turn.text, len(turn.ids) // 4) == ("Yes, of course", 3)
    assert turn.finished is not None
    assert turn.finished.metrics.ttft_ms is not None
    assert turn.finished.seed is not None
    kept = again().program.chat.turns[1]
    assert (kept.text, kept.ids) == (turn.text, turn.ids)


def test_given_words_that_come_to_nothing_leave_the_old_answer(desk: Desk, chat: Chat, branches: Branches) -> None:
    say(desk, "One", "old")
    branches.answer_again(chat.turns[1], "Yes,")
    desk.engine.fail("model")
    desk.settle()
    assert shown(chat) == ["One", "old"]
    assert branches.version(chat.turns[1]) == (1, 1)


def test_tokens_go_to_the_message_they_belong_to_whatever_is_on_screen(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    desk.engine.prompt()
    desk.engine.write("un")
    desk.settle()
    writing = chat.turns[1]
    assert branches.step(writing, -1)
    assert shown(chat) == ["One", "1"]
    desk.engine.write("o")
    desk.engine.finish()
    desk.settle()
    assert shown(chat) == ["One", "1"]
    assert (writing.text, writing.state) == ("uno", "done")
    branches.step(chat.turns[1], 1)
    assert shown(chat) == ["One", "uno"]


def test_stepping_away_from_an_answer_that_fails_leaves_what_people_look_at(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.edit(chat.turns[2], "Zwei")
    desk.engine.prompt()
    desk.settle()
    branches.step(chat.turns[2], -1)
    desk.engine.fail("model")
    desk.settle()
    assert shown(chat) == ["One", "1", "Two", "2"]
    assert branches.version(chat.turns[2]) == (1, 1)
    assert not chat.busy


def test_an_edited_question_that_comes_to_nothing_brings_the_old_branch_back(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    returned: list[str] = []
    chat.draft_returned.connect(returned.append)
    say(desk, "One", "1")
    branches.edit(chat.turns[0], "Eins")
    desk.engine.fail("prompt_too_long")
    desk.settle()
    assert shown(chat) == ["One", "1"]
    assert returned == ["Eins"]
    assert shown(again().program.chat) == ["One", "1"]


def test_a_fork_has_what_was_said_so_far_and_leaves_the_rest(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    first = chat.conversation_id
    ids = chat.turns[1].ids
    branches.fork(chat.turns[1])
    assert chat.conversation_id != first
    assert chat.shown.head.title == "One (2)"
    assert desk.notice.brief and "“One (2)” begins" in desk.notice.sentence.english()
    assert shown(chat) == ["One", "1"]
    chat.send("Drei")
    assert desk.engine.chat.messages[1] == PromptMessage("assistant", "1", ids)
    desk.answer("3")
    later = again().program
    assert shown(later.chat) == ["One", "1", "Drei", "3"]
    assert later.chat.turns[1].ids == ids
    assert len(later.conversations.heads) == 2
    later.conversations.open(first)
    assert shown(later.chat) == ["One", "1", "Two", "2"]


def test_a_branch_that_is_deleted_can_be_undone_and_lies_in_the_trash(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.delete(chat.turns[2])
    assert shown(chat) == ["One", "1"]
    assert desk.notice.remedy == "undo_branch"
    assert branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "2"]
    assert not branches.undo_delete()
    branches.delete(chat.turns[2])
    later = again().program
    assert shown(later.chat) == ["One", "1"]
    later.trash.look()
    assert later.trash.items is not None
    item = later.trash.items[0]
    assert (item.text, item.messages) == ("Two", 2)
    later.trash.restore(item)
    assert shown(later.chat) == ["One", "1", "Two", "2"]


def test_what_goes_for_good_is_offered_no_longer_and_nobody_writes_behind_it(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.delete(chat.turns[2])
    trash = desk.program.trash
    trash.look()
    assert trash.items is not None
    trash.erase(trash.items[0])
    assert desk.program.notices.latest is None
    assert not branches.undo_delete()
    say(desk, "Three", "3")
    assert shown(again().program.chat) == ["One", "1", "Three", "3"]


@pytest.mark.parametrize("is_open_again", [False, True])
def test_undoing_shows_the_chat_again_that_people_have_left_meanwhile(
    desk: Desk, chat: Chat, branches: Branches, is_open_again: bool
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    first = chat.conversation_id
    branches.delete(chat.turns[2])
    desk.program.conversations.new()
    if is_open_again:
        desk.program.conversations.open(first)
    assert branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "2"]


def test_the_version_beside_a_deleted_one_is_shown(desk: Desk, chat: Chat, branches: Branches) -> None:
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    desk.answer("uno")
    branches.delete(chat.turns[1])
    assert shown(chat) == ["One", "1"]
    assert branches.version(chat.turns[1]) == (1, 1)


def test_deleting_an_answer_that_is_written_ends_it_and_it_stays_deleted(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    chat.send("Two")
    desk.engine.prompt()
    desk.engine.write("Half")
    desk.settle()
    branches.delete(chat.turns[2])
    assert desk.engine.cancelled == [desk.engine.question.request]
    desk.engine.finish("cancelled")
    desk.settle()
    assert shown(chat) == ["One", "1"]
    assert not chat.busy
    assert shown(again().program.chat) == ["One", "1"]


def test_a_chat_whose_last_message_is_deleted_goes_to_the_trash_itself(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    branches.delete(chat.turns[0])
    assert desk.program.conversations.heads == ()
    assert shown(chat) == []
    desk.program.conversations.undo_delete()
    assert shown(again().program.chat) == ["One", "1"]


def test_what_a_file_that_was_made_anew_lacks_is_written_again_from_memory(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    desk.answer("uno")
    with closing(sqlite3.connect(desk.program.paths.data / FILE_NAME)) as connection, connection:
        for table in ("chunk", "answer", "message", "conversation"):
            connection.execute(f"DELETE FROM {table}")
    desk.program.dispatch(StoreRenewed())
    later = again().program
    assert shown(later.chat) == ["One", "uno"]
    assert later.chat.turns[1].finished is not None
    assert later.branches.step(later.chat.turns[1], -1)
    assert shown(later.chat) == ["One", "1"]


@pytest.mark.parametrize(
    ("title", "taken", "named"),
    [
        ("Rain", (), "Rain (2)"),
        ("Rain", ("Rain (2)",), "Rain (3)"),
        ("Rain (2)", ("Rain", "Rain (2)"), "Rain (3)"),
        ("Rain (1998)", (), "Rain (1998) (2)"),
        ("x" * 600, (), "x" * (LONGEST_TITLE - 4) + " (2)"),
    ],
)
def test_a_fork_has_a_title_of_its_own(title: str, taken: tuple[str, ...], named: str) -> None:
    assert numbered_title(title, taken) == named


@pytest.mark.parametrize("own", ["", "mytag"])
def test_an_edited_answer_thinks_with_the_tags_that_it_had(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk], own: str
) -> None:
    tag = own or "think"
    desk.program.settings.change(thinking_tags=(own,) if own else ())
    say(desk, "One", f"<{tag}>hm</{tag}>", "yes")
    assert branches.edit(chat.turns[1], f"<{tag}>so</{tag}>no")
    turn = chat.turns[1]
    assert turn.thoughts is not None
    assert (turn.thoughts.thought, turn.said) == ("so", "no")
    kept = again().program.chat.turns[1]
    assert kept.thoughts is not None
    assert (kept.thoughts.thought, kept.said) == ("so", "no")
