"""Branches that were deleted: undone one after another, wherever people are, and what is remembered of them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from app.services.branches import Branches
from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import say, shown


@pytest.fixture
def branches(desk: Desk) -> Branches:
    return desk.program.branches


def test_of_several_deletions_each_is_offered_again_in_whatever_chat(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    chats = []
    for number in range(2):
        desk.program.conversations.new()
        say(desk, f"One {number}", "1")
        say(desk, f"Two {number}", "2")
        say(desk, f"Three {number}", "3")
        branches.delete(chat.turns[4])
        branches.delete(chat.turns[3])
        chats.append(chat.conversation_id)
    desk.program.conversations.new()
    for number, told, length in (
        (1, "A message was deleted.", 4),
        (1, "2 messages were deleted.", 6),
        (0, "A message was deleted.", 4),
        (0, "2 messages were deleted.", 6),
    ):
        assert (desk.told, desk.notice.remedy) == (told, "undo_branch")
        assert branches.undo_delete()
        assert (chat.conversation_id, len(chat.turns)) == (chats[number], length)
    assert desk.program.notices.latest is None
    assert not branches.undo_delete()


def test_once_something_else_is_told_what_was_deleted_before_is_offered_no_longer(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.delete(chat.turns[3])
    desk.program.notices.dismiss()
    branches.delete(chat.turns[2])
    assert branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two"]
    assert not branches.undo_delete()


def test_a_chat_in_which_something_was_deleted_is_let_go(desk: Desk, chat: Chat, branches: Branches) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.delete(chat.turns[2])
    left = weakref.ref(chat.shown)
    desk.program.conversations.new()
    say(desk, "Elsewhere", "there")
    gc.collect()
    assert left() is None
    assert branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "2"]


@pytest.mark.parametrize("is_left", [False, True])
def test_what_was_deleted_comes_back_with_a_question_that_came_to_nothing_meanwhile(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk], is_left: bool
) -> None:
    say(desk, "Zero", "0")
    chat.send("One")
    branches.edit(chat.turns[3], "mine")
    branches.delete(chat.turns[3])
    desk.engine.fail("model")
    desk.settle()
    assert shown(chat) == ["Zero", "0"]
    if is_left:
        desk.program.conversations.new()
    assert branches.undo_delete()
    assert shown(chat) == ["Zero", "0", "One", "mine"]
    assert shown(again().program.chat) == ["Zero", "0", "One", "mine"]
