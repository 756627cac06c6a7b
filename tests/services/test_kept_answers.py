"""Answers that are written again or go on, and what is on disk of them."""

from __future__ import annotations

from collections.abc import Callable

from app.core.events import Event
from app.core.store_commands import ReadConversation
from app.core.store_events import ConversationRead
from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import half_an_answer, say, texts


def test_an_answer_that_is_written_again_keeps_the_old_one_beside_it(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "old")
    old = chat.turns[1].message
    chat.answer_again()
    desk.answer("new")
    assert chat.turns[1].message != old
    later = again()
    assert texts(later.program)[1] == ("assistant", "new", "done")
    told: list[Event] = []
    later.take_from_store = told.append
    later.store.send(ReadConversation(1, later.program.chat.conversation_id))
    (read,) = told
    assert isinstance(read, ConversationRead)
    assert sorted(message.text for message in read.messages if message.role == "assistant") == ["new", "old"]


def test_answering_again_and_stopping_at_once_changes_nothing_on_disk(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "old")
    chat.answer_again()
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    assert texts(again().program) == [("user", "One", "done"), ("assistant", "old", "done")]


def test_an_answer_that_goes_on_is_kept_as_one(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    half_an_answer(desk)
    chat.go_on()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("wer")
    desk.engine.finish(rest="!")
    desk.settle()
    turn = chat.turns[1]
    later = again()
    kept = later.program.chat.turns
    assert (len(kept), kept[1].text, kept[1].ids) == (2, "Half an answer!", turn.ids)


def test_an_answer_whose_beginning_became_other_tokens_goes_on_beside_the_old_one(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    half_an_answer(desk)
    chat.go_on()
    desk.engine.prompt(answer=(7, 8, 9))
    desk.engine.write("wer")
    desk.engine.finish()
    desk.settle()
    turn = chat.turns[1]
    later = again()
    kept = later.program.chat.turns
    assert (len(kept), kept[1].text, kept[1].ids) == (2, "Half an answer", turn.ids)


def test_the_time_to_a_text_that_was_painted_after_the_end_is_kept(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    chat.send("One")
    desk.answer("Yes")
    chat.send("Two")
    desk.settle()
    chat.note_ttft(chat.turns[1], 321.0)
    desk.settle()
    assert (chat.turns[1].ttft_ms, chat.turns[3].ttft_ms) == (321.0, None)
    kept = again().program.chat.turns
    assert (kept[1].text, kept[1].ttft_ms, kept[1].state) == ("Yes", 321.0, "done")
