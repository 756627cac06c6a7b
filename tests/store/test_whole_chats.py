from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt, Message, StoredAnswer
from app.core.store_commands import KeepChat, KeepPrompt, ReadChats, ReadPrompt, RemoveMessages
from app.core.store_events import ChatsRead, Kept, PromptRead
from app.core.whole_chat import WholeChat
from app.store.unwritten import heads_with_unwritten, newest_in
from tests.store.shelf import Shelf, chunk, end, head, ids, locked, question, shelf
from tests.whole_chats import whole_chats


def _read(kept: Shelf, *chats: WholeChat) -> ChatsRead:
    return kept.ask(ReadChats(3, tuple(chat.head for chat in chats)), ChatsRead)


@given(whole_chats(), whole_chats(first=100))
def test_what_is_kept_whole_is_read_whole_after_another_start_and_twice_is_once(
    one: WholeChat, other: WholeChat
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with shelf(Path(folder)) as kept:
            assert kept.ask(KeepChat(8, one), Kept) == Kept(8, on_disk=True)
            kept.send(KeepChat(9, other), KeepChat(8, one))
        with shelf(Path(folder)) as again:
            assert _read(again, one, other) == ChatsRead(3, (one, other))


def test_a_prompt_that_builds_on_a_deleted_answer_comes_all_of_it(tmp_path: Path) -> None:
    first = AnswerPrompt(2, ids(*range(50)), (PromptSpan(0, 50, "prompt", 0),))
    second = AnswerPrompt(3, ids(*range(60)), (PromptSpan(0, 60, "prompt", 0),))
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(first), end(2, "A"))
        other = end(3, "B")
        kept.send(other, KeepPrompt(second), RemoveMessages((2,), 9))
        (chat,) = kept.ask(ReadChats(1, (head(),)), ChatsRead).chats

        assert [message.id for message in chat.messages] == [1, 3]
        assert chat.answers[0].prompt is not None
        assert (chat.answers[0].prompt.base, chat.answers[0].prompt.ids) == (None, second.ids)


def test_prompts_of_a_long_chat_come_as_what_they_add(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        parent = None
        for number in range(20):
            asked, answered = 1 + 2 * number, 2 + 2 * number
            kept.send(question(number, head(), asked, parent))
            kept.send(KeepPrompt(AnswerPrompt(answered, ids(*range(100 * (number + 1))), ())))
            kept.send(chunk(answered, "A"), end(answered, "A"))
            parent = answered
        (chat,) = kept.ask(ReadChats(1, (head(),)), ChatsRead).chats

        assert all(len(each.prompt.ids) == 400 for each in chat.answers if each.prompt is not None)
        assert len([each for each in chat.answers if each.prompt is not None]) == 20
        assert kept.ask(ReadPrompt(1, 40), PromptRead).prompt == AnswerPrompt(40, ids(*range(2000)), ())


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "A", 5, 6), end(2, "A"))
        kept.sql("DELETE FROM chunk")

        assert kept.ask(ReadChats(1, (head(),)), ChatsRead).unread == (1,)


@pytest.mark.parametrize("table", ["message", "answer", "chunk", "answer_prompt", "attachment", "comparison"])
def test_a_chat_is_told_whichever_part_of_it_cannot_be_read(table: str, tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), chunk(2, "A", 5, 6), end(2, "A"), question(2, head(3), 4))
        assert kept.ask(ReadChats(1, (head(), head(3))), ChatsRead).unread == ()
        kept.sql(f"ALTER TABLE {table} RENAME TO gone")

        read = kept.ask(ReadChats(1, (head(), head(3))), ChatsRead)
        assert len(read.chats) == 2 and set(read.unread) == {1, 3}
        kept.sql(f"ALTER TABLE gone RENAME TO {table}")


def test_an_answer_without_its_message_is_no_part(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1))
        (chat,) = kept.ask(ReadChats(1, (head(),)), ChatsRead).chats

        assert chat.messages == (Message(1, 1, None, "user", "Question 1", 1), Message(2, 1, 1, "assistant", "", 1))
        assert [each.answer for each in chat.answers] == [StoredAnswer(2, "open")]


def test_more_than_is_good_for_one_answer_comes_in_parts(tmp_path: Path) -> None:
    chats = [WholeChat(head(key), (Message(key + 1, key, None, "user", "x" * (5 << 20), 1),)) for key in (1, 3, 5)]
    with shelf(tmp_path) as kept:
        for chat in chats:
            kept.send(KeepChat(1, chat))

        assert _read(kept, *chats).chats == tuple(chats[:2])
        assert _read(kept, *chats[2:]).chats == (chats[2],)


@settings(max_examples=4)
@given(whole_chats(first=50))
def test_one_that_waits_to_be_written_is_seen_as_it_will_be(chat: WholeChat) -> None:
    with tempfile.TemporaryDirectory() as folder, shelf(Path(folder)) as kept, pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.store.keeper.WRITING_S", 0.0)
        kept.send(question(1, head(), 1), end(2, "A"))
        with locked(kept.path):
            assert not kept.ask(KeepChat(8, chat), Kept).on_disk
            waiting = kept.read(50)
        kept.store.work.do(())

        assert waiting == kept.read(50) and waiting.messages == chat.messages
    change = KeepChat(8, chat)
    assert heads_with_unwritten((head(),), (change,)) == tuple(
        sorted((head(), chat.head), key=lambda each: (-each.changed_ms, -each.id))
    )
    keys = [50, *(each.id for each in chat.messages), *(each.id for each in chat.comparisons)]
    assert newest_in((change,)) == max(keys)
