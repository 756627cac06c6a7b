"""Conversations that are kept: what is on disk when, and that an answer belongs to its own conversation."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.commands import Generate
from app.core.events import Event
from app.core.store_events import Kept
from app.services.chat import Chat
from app.services.open_conversation import title_of
from tests.desk import Desk
from tests.services.asking import say, texts


def test_a_conversation_is_there_again_after_a_restart(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    say(desk, "Why is the sky blue?", "Because", " of scattering.")
    before = chat.turns[1]
    later = again()
    assert texts(later.program) == [
        ("user", "Why is the sky blue?", "done"),
        ("assistant", "Because of scattering.", "done"),
    ]
    turn = later.program.chat.turns[1]
    assert turn.finished is not None
    assert before.finished is not None
    assert turn.finished.metrics == before.finished.metrics
    assert (turn.finished.settings, turn.finished.seed) == (before.finished.settings, before.finished.seed)
    assert (turn.ids, turn.author, turn.finished.stop_reason) == (before.ids, before.author, "end")
    assert [head.title for head in later.program.conversations.heads] == ["Why is the sky blue?"]


def test_the_next_turn_after_a_restart_sends_the_tokens_as_they_were(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1", "!")
    first = chat.turns[1].ids
    later = again()
    assert later.program.chat.send("Two")
    assert [(m.role, m.text) for m in later.engine.chat.messages] == [
        ("user", "One"),
        ("assistant", "1!"),
        ("user", "Two"),
    ]
    assert later.engine.chat.messages[1].ids == first


def test_the_model_sees_a_question_only_after_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    desk = Desk(tmp_path / "home", monkeypatch)
    held: list[Event] = []
    try:
        desk.program.conversations.start()
        desk.load(model)
        desk.take_from_store = held.append
        desk.program.chat.send("Hi")
        assert desk.engine.all(Generate) == []
        assert [type(event) for event in held] == [Kept]
        desk.program.dispatch(held[0])
        assert desk.engine.chat.messages[0].text == "Hi"
    finally:
        desk.program.stop()


def test_an_answer_goes_on_in_its_own_conversation_while_another_is_shown(desk: Desk, chat: Chat) -> None:
    conversations = desk.program.conversations
    chat.send("First")
    desk.engine.prompt()
    desk.engine.write("one ")
    desk.settle()
    first = chat.conversation_id
    conversations.new()
    seen: list[str] = []
    chat.text_added.connect(lambda _turn, text: seen.append(text))
    desk.engine.write("two ")
    desk.settle()
    assert (chat.turns, seen) == ((), [])
    assert conversations.busy == {first}
    conversations.open(first)
    assert chat.turns[1].text == "one two "
    assert chat.busy
    desk.engine.write("three")
    desk.engine.finish()
    desk.settle()
    assert seen == ["three"]
    assert chat.turns[1].text == "one two three"
    assert conversations.busy == frozenset()


def test_a_question_in_another_conversation_waits_its_turn(desk: Desk, chat: Chat) -> None:
    chat.send("First")
    first = chat.conversation_id
    desk.program.conversations.new()
    assert chat.send("Second")
    assert chat.waits_for is not None
    assert chat.waits_for.english() == "This question waits for the answer in “First”"
    assert desk.program.conversations.busy == {first, chat.conversation_id}
    (asked,) = desk.engine.all(Generate)
    before = time.perf_counter_ns()
    desk.answer("1")
    assert chat.waits_for is None
    assert chat.turns[1].state == "waiting"
    assert desk.engine.question is not asked
    assert desk.engine.question.sent_ns > before - 10**9  # its clock did not run while it waited
    desk.answer("2")
    assert chat.turns[1].text == "2"


def test_stopping_one_conversation_leaves_the_other_answer_alone(desk: Desk, chat: Chat) -> None:
    chat.send("First")
    desk.program.conversations.new()
    chat.send("Second")
    chat.stop()
    assert desk.engine.cancelled == []
    assert texts(desk.program) == [("user", "Second", "done"), ("assistant", "", "interrupted")]
    desk.answer("1")
    assert len(desk.engine.all(Generate)) == 1


def test_a_death_of_the_engine_ends_the_answers_of_all_conversations(desk: Desk, chat: Chat) -> None:
    chat.send("First")
    first = chat.conversation_id
    desk.program.conversations.new()
    chat.send("Second")
    desk.engine.die(*(question.request for question in desk.engine.all(Generate)))
    desk.settle()
    assert texts(desk.program)[1] == ("assistant", "", "interrupted")
    desk.program.conversations.open(first)
    assert texts(desk.program)[1] == ("assistant", "", "interrupted")


def test_settings_belong_to_their_conversation(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.sampling.change(temperature=1.5)
    desk.program.conversations.new()
    assert desk.program.sampling.values.temperature == 0.8
    desk.program.sampling.change(temperature=0.3)
    say(desk, "Two", "2")
    desk.program.conversations.open(first)
    assert desk.program.sampling.values.temperature == 1.5
    later = again()
    assert later.program.sampling.values.temperature == 1.5
    later.program.conversations.new()
    assert later.program.sampling.values.temperature == 0.3


def test_a_moved_slider_reaches_the_answer_of_its_conversation_alone(desk: Desk, chat: Chat) -> None:
    chat.send("First")
    desk.program.conversations.new()
    desk.program.sampling.change(temperature=0.1)
    assert desk.engine.moved_settings == []
    chat.send("Second")
    desk.program.sampling.change(temperature=0.2)
    assert desk.engine.moved_settings == []
    desk.answer("1")
    assert desk.engine.question.settings.temperature == 0.2
    desk.program.sampling.change(temperature=0.3)
    assert [(moved.request, moved.settings.temperature) for moved in desk.engine.moved_settings] == [
        (desk.engine.question.request, 0.3)
    ]


def test_the_newest_conversation_is_first(desk: Desk, chat: Chat) -> None:
    for name in ("One", "Two", "Three"):
        desk.program.conversations.new()
        say(desk, name, "x")
    conversations = desk.program.conversations
    assert [head.title for head in conversations.heads] == ["Three", "Two", "One"]
    conversations.open(conversations.heads[2].id)
    assert [head.title for head in conversations.heads] == ["Three", "Two", "One"]
    say(desk, "More", "x")
    assert [head.title for head in conversations.heads] == ["One", "Three", "Two"]


def test_a_new_conversation_is_not_kept_before_its_first_message(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    desk.program.conversations.new()
    desk.program.sampling.change(temperature=0.5)
    assert not desk.program.conversations.heads
    assert again().program.conversations.heads == ()


def test_a_new_title_is_kept_and_a_blank_one_changes_nothing(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    desk.program.conversations.rename(chat.conversation_id, "  Blue\n sky ")
    desk.program.conversations.rename(chat.conversation_id, " \n ")
    assert [head.title for head in again().program.conversations.heads] == ["Blue sky"]


def test_a_deleted_conversation_comes_back_whole_with_undo(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.conversations.delete(first)
    assert not desk.program.conversations.heads
    assert chat.turns == ()
    assert (desk.notice.remedy, desk.told) == ("undo_delete", "“One” was deleted.")
    desk.program.conversations.undo_delete()
    assert [head.id for head in desk.program.conversations.heads] == [first]
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "1", "done")]
    assert desk.program.notices.latest is None


def test_a_conversation_that_goes_for_good_is_offered_no_longer(desk: Desk, chat: Chat) -> None:
    for question in ("One", "Two"):
        desk.program.conversations.new()
        say(desk, question, "!")
    one, two = (head.id for head in reversed(desk.program.conversations.heads))
    desk.program.conversations.delete(one)
    desk.program.conversations.delete(two)
    trash = desk.program.trash
    trash.look()
    assert trash.items is not None
    trash.erase(trash.items[0])
    assert (desk.notice.remedy, desk.told) == ("undo_delete", "“One” was deleted.")
    trash.erase(trash.items[0])
    assert desk.program.notices.latest is None
    desk.program.conversations.undo_delete()
    assert desk.program.conversations.heads == () and chat.turns == ()


def test_a_deleted_conversation_stays_away_after_a_restart(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    say(desk, "One", "1")
    desk.program.conversations.new()
    say(desk, "Two", "2")
    desk.program.conversations.delete(chat.conversation_id)
    later = again()
    assert [head.title for head in later.program.conversations.heads] == ["One"]


def test_deleting_a_conversation_ends_its_answer_and_never_brings_it_back(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    first, request = chat.conversation_id, desk.engine.question.request
    desk.engine.prompt()
    desk.engine.write("half")
    desk.settle()
    desk.program.conversations.delete(first)
    assert desk.engine.cancelled == [request]
    desk.engine.finish("cancelled")
    desk.settle()
    assert not desk.program.conversations.heads
    desk.program.conversations.undo_delete()
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "half", "done")]


def test_a_question_that_comes_to_nothing_leaves_no_conversation_behind(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    drafts: list[str] = []
    chat.draft_returned.connect(drafts.append)
    chat.send("Too long")
    desk.engine.fail("prompt_too_long")
    desk.settle()
    assert drafts == ["Too long"]
    assert not desk.program.conversations.heads
    assert again().program.conversations.heads == ()


def test_a_question_that_comes_to_nothing_elsewhere_stays_in_its_conversation_with_the_reason(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    chat.send("Too long")
    first = chat.conversation_id
    drafts: list[str] = []
    chat.draft_returned.connect(drafts.append)
    desk.program.conversations.new()
    desk.engine.fail("prompt_too_long", text="3,031 of 1,024 tokens.")
    desk.settle()
    assert (drafts, chat.turns) == ([], ())
    later = again()
    later.program.conversations.open(first)
    assert texts(later.program) == [("user", "Too long", "done"), ("assistant", "", "interrupted")]
    reason = later.program.chat.turns[1].reason
    assert reason is not None
    assert reason.english() == "3,031 of 1,024 tokens."
    assert later.program.chat.can_answer_again


def test_the_last_conversation_is_shown_unless_somebody_began_a_new_one(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "1")
    desk.program.conversations.new()
    later = again()
    assert later.program.chat.turns == ()
    assert [head.title for head in later.program.conversations.heads] == ["One"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Why?", "Why?"),
        ("\n\n  Why   is\tit? \nsecond line", "Why is it?"),
        ("word " * 40, ("word " * 12).strip() + "…"),
        ("x" * 200, "x" * 60 + "…"),
        ("A sentence that ends with a comma, exactly where the title, would be cut off", None),
    ],
)
def test_a_message_is_named_by_its_first_line_cut_at_a_word(text: str, title: str | None) -> None:
    made = title_of(text)
    assert len(made) <= 61
    if title is not None:
        assert made == title
    else:
        assert not made.rstrip("…").endswith((",", " "))


def test_of_two_deleted_chats_the_last_comes_back_first_and_then_the_other(desk: Desk, chat: Chat) -> None:
    conversations = desk.program.conversations
    ids = []
    for text in ("One", "Two", "Three"):
        conversations.new()
        say(desk, text, text)
        ids.append(chat.conversation_id)
    conversations.delete(ids[0])
    conversations.delete(ids[1])
    assert desk.told == "2 chats were deleted, the last one was “Two”."
    conversations.undo_delete()
    assert (desk.notice.remedy, desk.told) == ("undo_delete", "“One” was deleted.")
    assert (conversations.open_id, len(conversations.heads)) == (ids[1], 2)
    conversations.undo_delete()
    assert (conversations.open_id, len(conversations.heads)) == (ids[0], 3)
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "One", "done")]
    assert desk.program.notices.latest is None
    conversations.undo_delete()
    assert len(conversations.heads) == 3


def test_a_deletion_whose_offer_was_dismissed_is_not_offered_again(desk: Desk, chat: Chat) -> None:
    conversations = desk.program.conversations
    say(desk, "One", "1")
    first = chat.conversation_id
    conversations.new()
    say(desk, "Two", "2")
    conversations.delete(first)
    desk.program.notices.dismiss()
    conversations.delete(chat.conversation_id)
    assert desk.told == "“Two” was deleted."
    conversations.undo_delete()
    assert desk.program.notices.latest is None
    assert [head.title for head in conversations.heads] == ["Two"]
