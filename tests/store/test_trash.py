from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.attached_files import framed
from app.core.conversation import AnswerPrompt, Chunk, Message, StoredAnswer, Trashed
from app.core.store_commands import (
    EraseTrash,
    KeepChunk,
    KeepConversation,
    KeepPrompt,
    KeepQuestion,
    OpenStore,
    ReadTrash,
    RemoveMessages,
    RestoreMessages,
    RestoreTrash,
)
from app.core.store_events import Restored, StoreFailed, TrashRead
from app.store.deletions import DAYS_OF_USE, KEPT_DAYS
from tests.store.shelf import Shelf, chunk, end, head, ids, locked, question, shelf, used_every_day
from tests.store.tree_model import DAY_MS

NOW = int(time.time() * 1000)


def trash(kept: Shelf) -> tuple[Trashed, ...]:
    return kept.ask(ReadTrash(3), TrashRead).items


def restore(kept: Shelf, message: int | None = None, key: int = 1) -> Restored:
    return kept.ask(RestoreTrash(4, key, message), Restored)


def texts(kept: Shelf, key: int = 1) -> list[str]:
    return [message.text for message in kept.read(key).messages]


def talk(kept: Shelf, *firsts: int) -> None:
    """Keep a conversation in which each question follows the answer before it."""
    parent: int | None = None
    for first in firsts:
        kept.send(question(1, head(), first, parent), KeepPrompt(AnswerPrompt(first + 1, ids(*range(first)), ())))
        kept.send(chunk(first + 1, f"Answer {first}", first, record=b"record"), end(first + 1, f"Answer {first}"))
        parent = first + 1


def test_a_branch_lies_in_the_trash_and_comes_back_with_its_newest_leaf(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3, 5)
        kept.send(RemoveMessages((3, 4, 5, 6), NOW))
        assert texts(kept) == ["Question 1", "Answer 1"]
        assert trash(kept) == (Trashed(1, 3, "Chat 1", "Question 3", 4, NOW),)
    with shelf(tmp_path) as again:
        assert restore(again, 3) == Restored(4, replace(head(), leaf=6))
        assert trash(again) == ()
        assert texts(again) == ["Question 1", "Answer 1", "Question 3", "Answer 3", "Question 5", "Answer 5"]
        assert again.open().conversations == (replace(head(), leaf=6),)


def test_what_lies_behind_an_earlier_deletion_brings_the_way_up_with_it_and_nothing_else(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3, 5)
        kept.send(question(1, head(), 7, parent=2), end(8, "Another"))
        kept.send(RemoveMessages((5, 6), NOW), RemoveMessages((1, 2, 3, 4, 7, 8), NOW + 1))
        assert [(item.message, item.messages) for item in trash(kept)] == [(1, 6), (5, 2)]
        assert restore(kept, 5).conversation == replace(head(), leaf=6)
        assert [message.id for message in kept.read().messages] == [1, 2, 3, 4, 5, 6]
        assert [(item.message, item.messages) for item in trash(kept)] == [(7, 2)]


def test_deletions_of_one_moment_lie_apart_and_come_back_apart(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3, 5)
        kept.send(RemoveMessages((5, 6), NOW), RemoveMessages((4,), NOW), RemoveMessages((3,), NOW))
        assert [(item.message, item.messages) for item in trash(kept)] == [(3, 1), (4, 1), (5, 2)]
        assert restore(kept, 3).conversation == replace(head(), leaf=3)
        assert [(item.message, item.messages) for item in trash(kept)] == [(4, 1), (5, 2)]


def test_messages_that_came_to_nothing_are_no_trash_and_a_branch_is_named_after_its_first_words(
    tmp_path: Path,
) -> None:
    with shelf(tmp_path) as kept:
        empty = (Message(1, 1, None, "user", " \n", 1), Message(2, 1, 1, "assistant", "", 1))
        kept.send(KeepQuestion(1, head(), empty, StoredAnswer(2, "open")))
        kept.send(question(2, head(), 3, parent=2), end(4, "An answer"))
        kept.send(RemoveMessages((3, 4), NOW), RemoveMessages((1, 2), NOW + 1))
        assert [item.text for item in trash(kept)] == ["Question 3"]
        kept.send(RestoreMessages((1, 2, 3, 4)), RemoveMessages((1, 2, 3, 4), NOW + 2))
        assert trash(kept) == (Trashed(1, 1, "Chat 1", "Question 3", 4, NOW + 2),)
        long = replace(empty[0], id=9, text="\n\n  " + "w" * 100 + "\nsecond")
        kept.send(KeepQuestion(1, head(), (long,), StoredAnswer(10, "open")), RemoveMessages((9, 10), NOW + 3))
        assert trash(kept)[0].text == "w" * 80


def test_an_answer_that_is_being_written_has_the_text_that_is_there_of_it(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "So far", 5), RemoveMessages((2,), NOW))
        assert [item.text for item in trash(kept)] == ["So far"]
        kept.send(end(2, "So far it went"))
        assert texts(kept) == ["Question 1"], "it ended after it was deleted, and stays deleted"
        assert [item.text for item in trash(kept)] == ["So far it went"]


def test_a_conversation_lies_in_the_trash_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        kept.send(RemoveMessages((3, 4), NOW), KeepConversation(replace(head(), leaf=2, deleted_ms=NOW + 1)))
        assert trash(kept) == (Trashed(1, None, "Chat 1", "Question 1", 2, NOW + 1),)
        assert restore(kept) == Restored(4, replace(head(), leaf=2))
        assert texts(kept) == ["Question 1", "Answer 1"]
        assert [item.message for item in trash(kept)] == [3]
        assert restore(kept, key=9) == Restored(4, None)
        assert restore(kept, message=77) == Restored(4, None)


def test_a_conversation_that_was_deleted_after_all_its_branches_brings_the_last_one_back(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        kept.send(RemoveMessages((3, 4), NOW), RemoveMessages((1, 2), NOW + 1))
        kept.send(KeepConversation(replace(head(), leaf=2, deleted_ms=NOW + 2)))
        assert trash(kept) == (Trashed(1, None, "Chat 1", "Question 1", 2, NOW + 2),)
        assert restore(kept).conversation == replace(head(), leaf=2)
        assert texts(kept) == ["Question 1", "Answer 1"]


def test_what_is_erased_leaves_no_byte_and_everything_else_as_it_was(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        kept.send(question(1, head(), 5, parent=2), end(6, "Another"))
        kept.send(RemoveMessages((3, 4), NOW), EraseTrash(1, 3))
        assert trash(kept) == () and restore(kept, 3) == Restored(4, None)
        assert texts(kept) == ["Question 1", "Answer 1", "Question 5", "Another"]
        assert kept.sql("SELECT answer FROM chunk") == [(2,)]
        kept.send(EraseTrash(1, 5), EraseTrash(1), EraseTrash(9))
        assert texts(kept) == ["Question 1", "Answer 1", "Question 5", "Another"], "it was not deleted"
    assert b"Answer 3" not in kept.path.read_bytes()


def test_a_message_stays_while_something_that_can_come_back_lies_behind_it(tmp_path: Path) -> None:
    old = NOW - (KEPT_DAYS + DAYS_OF_USE) * DAY_MS
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3, 5)
        used_every_day(kept)
        kept.sql("UPDATE message SET deleted_ms = ? WHERE id IN (1, 2)", old)
        kept.sql("UPDATE message SET deleted_ms = ? WHERE id IN (5, 6)", NOW)
        kept.sql("UPDATE message SET deleted_ms = ? WHERE id IN (3, 4)", old + 1)
    with shelf(tmp_path) as again:
        assert [item.message for item in trash(again)] == [5]
        assert restore(again, 5).conversation == replace(head(), leaf=6)
        assert [message.id for message in again.read().messages] == [1, 2, 3, 4, 5, 6]
        again.send(RemoveMessages((1, 2, 3, 4, 5, 6), NOW), EraseTrash(1, 1))
        assert again.sql("SELECT count(*) FROM message") == [(0,)]


def test_a_prompt_that_builds_on_an_erased_answer_stays_whole(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        kept.send(KeepPrompt(AnswerPrompt(4, ids(0, 1, 2, 3, 8), ())), RemoveMessages((1, 2), NOW))
        assert kept.sql("SELECT base FROM answer_prompt WHERE message = 4") == [(2,)]
        kept.sql("UPDATE message SET parent = NULL WHERE id = 3")
        kept.send(EraseTrash(1, 1))
        assert kept.sql("SELECT id FROM message") == [(3,), (4,)]
    with shelf(tmp_path) as again:
        writer = again.store.work.database.writer
        assert writer is not None and writer.prompts.read(4) == AnswerPrompt(4, ids(0, 1, 2, 3, 8), ())


def test_a_long_answer_is_erased_in_small_steps_and_a_kill_between_them_loses_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.erasing.STEP_S", 0.0)
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        for number in range(100):
            kept.send(KeepChunk(Chunk(4, "more", ids(number), b"record")))
        work = kept.store.work
        work.do((RemoveMessages((3, 4), NOW), EraseTrash(1, 3)))
        left = []
        while work.rest():
            work.rest()
            left.append(kept.sql("SELECT count(*) FROM chunk WHERE answer = 4")[0][0])
            assert kept.sql("PRAGMA integrity_check") == [("ok",)]
            work.do((OpenStore(),))
            said = kept.sql("SELECT text FROM message WHERE deleted_ms IS NULL ORDER BY id")
            assert said == [("Question 1",), ("Answer 1",)]
            if not left[-1]:
                break
        assert left == [69, 37, 5, 0]
    with shelf(tmp_path) as again:
        assert again.sql("SELECT id FROM message") == [(1,), (2,)]
        assert again.sql("SELECT DISTINCT answer FROM chunk") == [(2,)]


def test_what_cannot_be_written_is_not_brought_back_and_can_be_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3)
        kept.send(RemoveMessages((3, 4), NOW))
        with locked(kept.path):
            assert restore(kept, 3) == Restored(4, None)
            assert texts(kept) == ["Question 1", "Answer 1"]
            kept.send(KeepConversation(replace(head(), title="Waits")))
            assert restore(kept, 3) == Restored(4, None)
        assert len([event for event in kept.events if isinstance(event, StoreFailed)]) == 1
        assert restore(kept, 3).conversation == replace(head(), title="Waits", leaf=4)
    with shelf(tmp_path) as again:
        assert texts(again) == ["Question 1", "Answer 1", "Question 3", "Answer 3"]


def test_a_deletion_that_waits_and_is_taken_back_changes_nothing_people_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    with shelf(tmp_path) as kept:
        talk(kept, 1, 3, 5)
        kept.send(RemoveMessages((5, 6), NOW))
        with locked(kept.path):
            kept.send(RemoveMessages((3, 4), NOW))
            assert [message.id for message in kept.read().messages] == [1, 2]
            kept.send(RestoreMessages((3, 4, 5, 6)))
            whole = kept.read()
            assert [message.id for message in whole.messages] == [1, 2, 3, 4, 5, 6]
            assert [answer.ids for answer in whole.answers] == [ids(1), ids(3), ids(5)]
        kept.store.work.do(())
        assert kept.read() == whole


def test_a_message_of_files_is_named_by_them_and_by_what_was_said(tmp_path: Path) -> None:
    asked = question(1, head(), 1)
    text = f"{framed('notes.md', 'x' * 500)}\n\nWhy?"
    with shelf(tmp_path) as kept:
        kept.send(replace(asked, messages=(replace(asked.messages[0], text=text), asked.messages[1])))
        kept.send(end(2, "So."), RemoveMessages((1, 2), NOW))
        assert [item.text for item in trash(kept)] == ["notes.md: Why?"]
