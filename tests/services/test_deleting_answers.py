"""Deleting, undoing, re-reading and forking while an answer waits, reads its prompt, is written or ends badly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.commands import Generate
from app.core.events import FailureKind
from app.services.branches import Branches
from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import say, shown, texts


@pytest.fixture
def branches(desk: Desk) -> Branches:
    return desk.program.branches


@pytest.fixture
def returned(desk: Desk) -> list[str]:
    """Return the questions that went back to where they were written."""
    texts: list[str] = []
    desk.program.chat.draft_returned.connect(texts.append)
    return texts


def reread(desk: Desk) -> None:
    """Leave the chat and come back: its messages are read from the disk."""
    first = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.conversations.open(first)


def begin_to_read(desk: Desk) -> None:
    desk.program.prompt_count.set_draft("And then?")
    desk.engine.prompt()
    desk.settle()


def begin_to_write(desk: Desk, text: str = "Half") -> None:
    begin_to_read(desk)
    desk.engine.write(text)
    desk.settle()


def wait_behind_another_chat(desk: Desk) -> None:
    """Let another chat have the engine, and come back."""
    first = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.chat.send("Elsewhere")
    desk.program.conversations.open(first)


def test_an_answer_with_a_note_that_holds_a_figure_goes_on_after_it_was_read_again(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.program.queue.add("Two")
    desk.answer("1")
    begin_to_write(desk)
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    reread(desk)
    (note,) = chat.turns[3].notes
    assert note.values
    chat.go_on()
    desk.engine.prompt(answer=(0,))
    desk.engine.write(" and half")
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    assert not chat.busy
    finished = chat.turns[3].finished
    assert finished is not None
    assert (chat.turns[3].text, finished.notes) == ("Half and half", (note,))


@pytest.mark.parametrize("phase", ["waits", "reads"])
@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_a_version_that_is_deleted_before_its_first_word_leaves_the_one_beside_it(
    desk: Desk, chat: Chat, branches: Branches, phase: str, end: str
) -> None:
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1])
    if phase == "reads":
        begin_to_read(desk)
    branches.delete(chat.turns[1])
    assert (shown(chat), chat.busy) == (["One", "1"], False)
    assert branches.version(chat.turns[1]) == (1, 1)
    desk.engine.fail("engine") if end == "failed" else desk.engine.finish("cancelled")
    desk.settle()
    assert shown(chat) == ["One", "1"]
    assert chat.send("Two")
    desk.answer("2")
    assert shown(chat) == ["One", "1", "Two", "2"]


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_what_is_deleted_while_its_answer_is_written_goes_at_once_and_comes_back(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk], place: int
) -> None:
    say(desk, "Zero", "0")
    branches.edit(chat.turns[0], "One")
    desk.answer("1")
    chat.send("Two")
    begin_to_write(desk)
    branches.delete(chat.turns[place])
    assert desk.engine.cancelled == [desk.engine.question.request]
    assert shown(chat) == (["One", "1", "Two"][:place] or ["Zero", "0"])
    assert not chat.busy
    desk.engine.write(" of it")
    desk.engine.finish("cancelled")
    desk.settle()
    assert desk.notice.remedy == "undo_branch"
    assert branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "Half"]
    assert chat.turns[3].reason is not None and "deleted" in chat.turns[3].reason.english()
    assert chat.can_go_on
    assert shown(again().program.chat) == ["One", "1", "Two", "Half"]


def test_a_version_that_waits_behind_another_chat_can_be_deleted(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    begin = len(desk.engine.all(Generate))
    first = chat.conversation_id
    desk.program.conversations.new()
    chat.send("Elsewhere")
    desk.program.conversations.open(first)
    branches.answer_again(chat.turns[1])
    branches.delete(chat.turns[1])
    assert (shown(chat), chat.busy) == (["One", "1", "Two", "2"], False)
    desk.answer("there")
    assert len(desk.engine.all(Generate)) == begin + 1, "nobody asks what was deleted"
    assert shown(again().program.chat) == ["One", "1", "Two", "2"]


def test_an_edited_question_that_waits_behind_another_chat_is_deleted_and_comes_back(
    desk: Desk, chat: Chat, branches: Branches, returned: list[str]
) -> None:
    say(desk, "One", "1")
    wait_behind_another_chat(desk)
    branches.edit(chat.turns[0], "Eins")
    branches.delete(chat.turns[0])
    assert (shown(chat), returned) == (["One", "1"], [])
    assert branches.undo_delete()
    assert texts(desk.program) == [("user", "Eins", "done"), ("assistant", "", "interrupted")]


def test_an_answer_that_goes_on_is_deleted_as_people_see_it(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    chat.send("Two")
    begin_to_write(desk)
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    chat.go_on()
    desk.engine.prompt(answer=(5, 6))  # other tokens than were sampled: it becomes a version of its own
    desk.settle()
    branches.delete(chat.turns[3])
    assert shown(chat) == ["One", "1", "Two"]
    branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "Half"]
    assert branches.version(chat.turns[3]) == (1, 1)
    assert shown(again().program.chat) == ["One", "1", "Two", "Half"]


@pytest.mark.parametrize("phase", ["waits", "reads", "writes"])
def test_a_chat_that_is_deleted_with_its_first_question_open_comes_back_with_it(
    desk: Desk, chat: Chat, branches: Branches, returned: list[str], phase: str
) -> None:
    chat.send("One")
    if phase == "waits":
        chat.stop()
        desk.engine.finish("cancelled")
        desk.settle()
        desk.program.conversations.new()
        chat.send("Elsewhere")
        desk.program.conversations.new()
        chat.send("Behind it")
    else:
        begin_to_read(desk) if phase == "reads" else begin_to_write(desk)
    first, text = chat.conversation_id, chat.turns[0].text
    branches.delete(chat.turns[0])
    assert shown(chat) == []
    desk.engine.finish("cancelled")
    desk.settle()
    assert first not in {head.id for head in desk.program.conversations.heads}
    desk.program.conversations.undo_delete()
    assert shown(chat) == [text, "Half" if phase == "writes" else ""]
    assert (returned, chat.busy) == ([], False)


@pytest.mark.parametrize("kind", ["model", "prompt_too_long", "engine", "cancelled"])
def test_a_question_that_fails_while_its_prompt_is_read_and_counted(
    desk: Desk, chat: Chat, returned: list[str], kind: FailureKind
) -> None:
    say(desk, "One", "1")
    chat.send("Two")
    begin_to_read(desk)
    desk.engine.fail(kind)
    desk.settle()
    assert not chat.busy
    assert shown(chat)[:2] == ["One", "1"]
    assert returned == ["Two"] or shown(chat)[2:] == ["Two", ""]


def test_an_answer_that_people_wrote_themselves_stays_when_the_one_beside_it_fails(
    desk: Desk, chat: Chat, branches: Branches, returned: list[str], again: Callable[[], Desk]
) -> None:
    chat.send("One")
    branches.edit(chat.turns[1], "mine")
    desk.engine.fail("model")
    desk.settle()
    assert (shown(chat), returned) == (["One", "mine"], [])
    assert branches.version(chat.turns[1]) == (1, 1)
    assert shown(again().program.chat) == ["One", "mine"]


def test_what_was_deleted_behind_a_question_that_came_to_nothing_comes_back_with_it(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    chat.send("One")
    branches.edit(chat.turns[1], "mine")
    branches.delete(chat.turns[1])
    desk.engine.fail("model")
    desk.settle()
    assert shown(chat) == []
    assert branches.undo_delete()
    assert shown(chat) == ["One", "mine"]
    assert shown(again().program.chat) == ["One", "mine"]


def test_a_version_that_comes_to_nothing_leaves_what_is_there_when_what_was_shown_is_deleted(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.answer_again(chat.turns[1])
    branches.step(chat.turns[1], -1)
    branches.delete(chat.turns[3])
    branches.step(chat.turns[1], 1)
    desk.engine.fail("model")
    desk.settle()
    assert shown(chat) == ["One", "1", "Two"]
    assert shown(again().program.chat) == ["One", "1", "Two"]


def test_undoing_in_a_chat_that_was_left_keeps_its_new_title(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    first = chat.conversation_id
    branches.delete(chat.turns[2])
    desk.program.conversations.new()
    desk.program.conversations.rename(first, "Another title")
    assert branches.undo_delete()
    later = again().program
    assert shown(later.chat) == ["One", "1", "Two", "2"]
    assert [head.title for head in later.conversations.heads] == ["Another title"]


def test_the_fork_of_an_answer_that_thinks_says_no_more_than_was_written(
    desk: Desk, chat: Chat, branches: Branches
) -> None:
    chat.send("One")
    begin_to_write(desk, "<think>so</think>Half")
    branches.fork(chat.turns[1])
    desk.engine.write(" of it")
    desk.engine.finish()
    desk.settle()
    turn = chat.turns[1]
    assert (turn.text, turn.said, turn.state) == ("<think>so</think>Half", "Half", "interrupted")


@pytest.mark.parametrize("phase", ["waits", "goes on", "writes"])
def test_the_fork_of_an_open_answer_is_kept_as_people_see_it(
    desk: Desk, chat: Chat, branches: Branches, phase: str
) -> None:
    say(desk, "One", "1")
    branches.answer_again(chat.turns[1], "Yes,")
    if phase != "waits":
        desk.engine.prompt(answer=(5, 6))
        desk.engine.write(" of course" if phase == "writes" else "")
        desk.settle()
    seen = shown(chat)
    fork = branches.fork(chat.turns[1]).head.id
    assert shown(chat) == seen
    reread(desk)
    assert (chat.conversation_id, shown(chat)) == (fork, seen)
    assert chat.can_go_on


def test_undoing_what_is_back_already_leaves_what_was_said_behind_it(
    desk: Desk, chat: Chat, branches: Branches, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    say(desk, "Two", "2")
    branches.delete(chat.turns[2])
    trash = desk.program.trash
    trash.look()
    assert trash.items is not None
    trash.restore(trash.items[0])
    say(desk, "Three", "3")
    branches.undo_delete()
    assert shown(chat) == ["One", "1", "Two", "2", "Three", "3"]
    assert shown(again().program.chat) == ["One", "1", "Two", "2", "Three", "3"]
