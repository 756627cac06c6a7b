"""Moments at which a word, an answer or a warning could go missing, and does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.core.conversation import StoredAnswer
from app.core.events import Event
from app.core.store_commands import (
    EndAnswer,
    KeepChunk,
    KeepConversation,
    KeepQuestion,
    ReadConversation,
    StoreCommand,
)
from app.core.store_events import ConversationRead, Kept, StoreFailed, StoreOpened, StoreRecovered
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.notices import Notice
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.services.asking import half_an_answer, say, texts

FULL = translate("Test", "The chats cannot be written: the disk is full.")


@pytest.fixture
def commands(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[StoreCommand]:
    """Return what the store is told, in order."""
    told: list[StoreCommand] = []
    send = desk.store.send

    def note(command: StoreCommand) -> None:
        told.append(command)
        send(command)

    monkeypatch.setattr(desk.store, "send", note)
    return told


def read_of(desk: Desk, conversation: int) -> ConversationRead:
    told: list[Event] = []
    desk.take_from_store = told.append
    desk.store.send(ReadConversation(1, conversation))
    desk.take_from_store = desk.program.dispatch
    (read,) = told
    assert isinstance(read, ConversationRead)
    return read


def stored(desk: Desk, message: int) -> StoredAnswer:
    answers = read_of(desk, desk.program.chat.conversation_id).answers
    return next(answer for answer in answers if answer.message == message)


def test_a_conversation_that_cannot_be_read_is_not_taken_for_a_new_one(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.conversations.new()
    desk.take_from_store = lambda event: desk.program.dispatch(
        ConversationRead(event.request, first, (), ()) if isinstance(event, ConversationRead) else event
    )
    desk.program.conversations.open(first)
    assert chat.conversation_id != first
    assert desk.told.startswith("“One” could not be read")
    desk.take_from_store = desk.program.dispatch
    desk.program.conversations.open(first)
    assert [text for _, text, _ in texts(desk.program)] == ["One", "1"]


def test_the_first_text_of_a_new_answer_is_on_its_way_before_it_takes_the_place_of_the_old_one(
    desk: Desk, chat: Chat, commands: list[StoreCommand]
) -> None:
    say(desk, "One", "old")
    chat.answer_again()
    commands.clear()
    desk.engine.prompt()
    desk.engine.write("new")
    desk.settle()
    order = [type(command) for command in commands if isinstance(command, KeepChunk | KeepConversation)]
    assert order == [KeepChunk, KeepConversation]


def test_a_question_that_fails_while_the_program_ends_stays(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    chat.send("A long question")
    desk.engine.fail("prompt_too_long", text="3,031 of 1,024 tokens.")
    later = again()
    assert texts(later.program) == [("user", "A long question", "done"), ("assistant", "", "interrupted")]


def test_the_warning_of_a_full_disk_stays_until_everything_is_written(desk: Desk, chat: Chat) -> None:
    desk.program.dispatch(StoreFailed(FULL, waits=True))
    say(desk, "One", "1")
    desk.engine.fail("engine", request=desk.engine.new_request())
    assert desk.notice.sentence == FULL
    chat.send("Two")
    desk.engine.fail("prompt_too_long", text="Too long.")
    desk.settle()
    assert desk.told == "Too long."
    desk.program.notices.dismiss()
    assert desk.notice.sentence == FULL
    desk.program.dispatch(StoreRecovered())
    assert desk.program.notices.latest is None


def test_of_what_waits_to_be_written_the_latest_reason_alone_is_told_and_ends(desk: Desk, chat: Chat) -> None:
    locked = translate("Test", "Another program is using the file.")
    for reason in (locked, FULL, locked, FULL):
        desk.program.dispatch(StoreFailed(reason, waits=True))
        assert (desk.notice.sentence, desk.notice.more) == (reason, ())
    desk.program.dispatch(StoreRecovered())
    assert desk.program.notices.latest is None


@pytest.mark.parametrize("first", [False, True])
def test_news_that_are_told_while_something_waits_to_be_written_stay_when_that_is_over(
    desk: Desk, chat: Chat, first: bool
) -> None:
    news = StoreFailed(translate("Test", "The file was damaged and is kept as x."))
    fault = StoreFailed(FULL, waits=True)
    for event in (news, fault) if first else (fault, news):
        desk.program.dispatch(event)
    told = [desk.notice.sentence, *desk.notice.more]
    assert told == ([news.sentence, FULL] if first else [FULL, news.sentence])
    desk.program.dispatch(StoreRecovered())
    assert (desk.notice.sentence, desk.notice.more) == (news.sentence, ())


def test_an_error_that_is_over_goes_with_the_next_question(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.engine.fail("prompt_too_long")
    desk.settle()
    assert desk.program.notices.latest is not None
    chat.send("Two")
    assert desk.program.notices.latest is None


def test_a_conversation_that_could_not_be_kept_is_still_there_when_people_come_back(desk: Desk, chat: Chat) -> None:
    desk.take_from_store = lambda event: desk.program.dispatch(
        Kept(event.request, on_disk=False) if isinstance(event, Kept) else event
    )
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.conversations.new()
    desk.take_from_store = lambda event: desk.program.dispatch(
        ConversationRead(event.request, first, (), ()) if isinstance(event, ConversationRead) else event
    )
    desk.program.conversations.open(first)
    assert [text for _, text, _ in texts(desk.program)] == ["One", "1"]


def test_a_new_answer_without_a_word_leaves_the_old_one(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "old")
    old = chat.turns[1].message
    chat.answer_again()
    desk.answer()
    assert texts(desk.program)[1] == ("assistant", "old", "done")
    assert chat.turns[1].message == old
    assert "nothing to say" in desk.told


def test_undo_brings_back_what_was_written_after_the_deletion(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "old")
    first = chat.conversation_id
    chat.answer_again()
    desk.program.conversations.delete(first)
    desk.engine.prompt()
    desk.engine.write("new")
    desk.engine.finish("cancelled")
    desk.settle()
    desk.program.conversations.undo_delete()
    assert texts(desk.program)[1] == ("assistant", "new", "done")


def test_undo_stays_while_people_go_on_elsewhere(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    desk.program.conversations.delete(chat.conversation_id)
    desk.program.sampling.change(temperature=0.4)
    say(desk, "Two", "2")
    desk.program.sampling.change(temperature=0.5)
    assert desk.notice.remedy == "undo_delete"


def test_the_conversation_of_the_last_time_gives_way_to_one_that_was_begun_meanwhile(
    desk: Desk, chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    say(desk, "One", "1")
    desk.program.stop()
    later = Desk(tmp_path / "home", monkeypatch)
    held: list[Event] = []
    later.take_from_store = lambda event: (
        held.append(event) if isinstance(event, ConversationRead) else later.program.dispatch(event)
    )
    try:
        later.program.conversations.start()
        later.load(model)
        later.program.chat.send("Two")
        for event in held:
            later.program.dispatch(event)
        assert [text for _, text, _ in texts(later.program)] == ["Two", ""]
    finally:
        later.program.stop()


@pytest.mark.parametrize("ending", ["died", "unloaded", "another model"])
def test_an_answer_keeps_the_model_that_wrote_it(desk: Desk, chat: Chat, other_model: Path, ending: str) -> None:
    chat.send("One")
    wrote = desk.program.session.ref
    assert wrote is not None
    desk.engine.prompt()
    desk.engine.write("half")
    desk.settle()
    match ending:
        case "died":
            desk.engine.die(desk.engine.question.request)
        case "unloaded":
            desk.program.session.unload()
        case _:
            desk.begin_load(other_model)
            desk.engine.finish("cancelled")
            desk.engine.loaded()
    desk.settle()
    kept = stored(desk, chat.turns[1].message)
    assert (kept.model, kept.model_name) == (wrote, "tiny")


def test_an_old_answer_keeps_its_model_when_a_new_one_comes_to_nothing(
    desk: Desk, chat: Chat, other_model: Path
) -> None:
    say(desk, "One", "old")
    wrote = desk.program.session.ref
    desk.load(other_model)
    chat.answer_again()
    desk.engine.prompt()
    desk.settle()
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    kept = stored(desk, chat.turns[1].message)
    assert (kept.model, kept.model_name, kept.seed) == (wrote, "tiny", 7)


def test_going_on_forgets_nothing_of_the_first_part_before_there_is_a_second(
    desk: Desk, chat: Chat, commands: list[StoreCommand]
) -> None:
    half_an_answer(desk, "Half")
    commands.clear()
    chat.go_on()
    (question,) = (command for command in commands if isinstance(command, KeepQuestion))
    assert question.answer.metrics is not None
    assert (question.answer.seed, len(question.answer.settings)) == (7, 1)


def test_an_answer_that_was_cut_off_goes_on_with_its_seed(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    chat.send("One")
    desk.engine.prompt(seed=1234)
    desk.engine.write("half")
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    kept = stored(desk, chat.turns[1].message)
    assert (kept.seed, len(kept.settings)) == (1234, 1)
    later = again()
    later.program.chat.go_on()
    assert later.engine.question.settings.seed == 1234


def test_what_an_answer_is_made_with_is_kept_before_it_ends(
    desk: Desk, chat: Chat, commands: list[StoreCommand]
) -> None:
    chat.send("One")
    desk.engine.prompt(seed=99)
    desk.settle()
    assert not any(isinstance(command, EndAnswer) for command in commands)
    kept = stored(desk, chat.turns[1].message)
    assert (kept.seed, kept.model) == (99, desk.program.session.ref)


def test_what_is_wrong_with_the_store_is_told_until_people_have_read_it(desk: Desk, chat: Chat) -> None:
    newer = translate("Test", "The chats were written by a newer Tokenlight.")
    desk.program.dispatch(StoreOpened((), usable=False, problems=(newer,)))
    say(desk, "One", "1")
    assert desk.notice.sentence == newer


def test_sliders_that_are_moved_after_a_question_came_to_nothing_are_for_new_chats_again(
    desk: Desk, chat: Chat
) -> None:
    chat.send("One")
    desk.engine.fail("prompt_too_long")
    desk.settle()
    desk.program.sampling.change(temperature=0.45)
    desk.program.conversations.new()
    assert desk.program.settings.values.sampling.temperature == 0.45


def test_answering_again_without_the_models_file_is_one_sentence_and_the_old_answer_stays(
    desk: Desk, chat: Chat, tmp_path: Path, again: Callable[[], Desk]
) -> None:
    file = write_tiny_llama(tmp_path / "short-lived.gguf")
    desk.load(file)
    say(desk, "One", "old")
    desk.program.session.unload()
    file.unlink()
    told: list[Notice | None] = []
    desk.program.notices.changed.connect(lambda: told.append(desk.program.notices.latest))
    chat.answer_again()
    desk.until(lambda: not chat.busy)
    assert [each for each in told if each is not None] == [desk.notice]
    assert "short-lived.gguf" in desk.told
    assert desk.notice.remedy == "open_model"
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "old", "done")]
    assert chat.can_answer_again
    assert texts(again().program) == [("user", "One", "done"), ("assistant", "old", "done")]


def test_whether_everything_is_kept_is_asked_only_where_something_was_said(desk: Desk, model: Path) -> None:
    answers, told = desk.program.answers, list[Sentence | None]()
    answers.settled.connect(told.append)
    desk.program.conversations.start()
    desk.load(model)
    assert not answers.settle()
    assert told == []
    say(desk, "One", "1")
    assert answers.settle()
    assert told == [None]
    desk.take_from_store = lambda event: desk.program.dispatch(
        msgspec.structs.replace(event, problem=FULL) if isinstance(event, Kept) else event
    )
    assert answers.settle()
    assert told == [None, FULL]
