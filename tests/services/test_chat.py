from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import Generate, Load
from app.core.events import FailureKind
from app.services.chat import Chat
from app.services.turns import Turn
from tests.desk import Desk


@pytest.fixture
def chat(desk: Desk, model: Path) -> Chat:
    desk.load(model)
    return desk.program.chat


def messages(desk: Desk) -> list[tuple[str, str]]:
    prompt = desk.engine.question.prompt
    assert isinstance(prompt, ChatPrompt)
    return [(message.role, message.text) for message in prompt.messages]


def texts(chat: Chat) -> list[tuple[str, str, str]]:
    return [(turn.role, turn.text, turn.state) for turn in chat.turns]


def test_an_answer_grows_and_ends_with_the_text_of_the_engine(desk: Desk, chat: Chat) -> None:
    grown: list[str] = []
    chat.text_added.connect(lambda _turn, text: grown.append(text))
    chat.send("Why is the sky blue?")
    desk.engine.prompt()
    desk.engine.write("Because ")
    desk.engine.write("of scattering")
    desk.settle()
    assert texts(chat)[1] == ("assistant", "Because of scattering", "writing")
    desk.engine.finish(rest=".")
    desk.settle()
    assert texts(chat) == [
        ("user", "Why is the sky blue?", "done"),
        ("assistant", "Because of scattering.", "done"),
    ]
    assert "".join(grown) == "Because of scattering."
    assert chat.turns[1].author == "tiny"


def test_the_next_turn_sends_the_answer_as_the_tokens_it_was(desk: Desk, chat: Chat) -> None:
    desk.program.settings.change(system_prompt="Be brief.")
    chat.send("One")
    desk.answer("1", "!")
    chat.send("Two")
    assert messages(desk) == [("system", "Be brief."), ("user", "One"), ("assistant", "1!"), ("user", "Two")]
    answer = desk.engine.chat.messages[2]
    assert answer == PromptMessage("assistant", "1!", array("i", [0, 1]).tobytes())


def test_an_empty_system_prompt_is_no_message(desk: Desk, chat: Chat) -> None:
    desk.program.settings.change(system_prompt=" \n")
    chat.send("One")
    assert messages(desk) == [("user", "One")]


@pytest.mark.parametrize("text", ["", "  \n\t", "\x00"])
def test_a_blank_message_is_not_sent(desk: Desk, chat: Chat, text: str) -> None:
    assert not chat.send(text)
    assert chat.turns == ()


def test_lone_surrogates_and_nul_characters_never_leave(desk: Desk, chat: Chat) -> None:
    chat.send("a\ud83d\x00b")
    assert messages(desk) == [("user", "a\ufffdb")]


def test_a_second_send_while_an_answer_is_written_does_nothing(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    assert not chat.send("Two")
    assert len(desk.engine.all(Generate)) == 1
    assert len(chat.turns) == 2


def test_stopping_keeps_what_was_written(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.engine.prompt()
    desk.engine.write("Half")
    desk.settle()
    chat.stop()
    assert desk.engine.cancelled == [desk.engine.question.request]
    assert chat.busy
    desk.engine.finish("cancelled")
    desk.settle()
    assert not chat.busy
    assert texts(chat)[1] == ("assistant", "Half", "done")
    assert chat.turns[1].finished.stop_reason == "cancelled"


def test_after_a_stop_before_the_first_token_the_chat_goes_on(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    chat.stop()
    desk.engine.finish("cancelled")
    desk.settle()
    chat.send("Two")
    assert messages(desk) == [("user", "One"), ("user", "Two")]


def test_tokens_of_a_stopped_answer_never_land_in_the_next_one(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.engine.write("old")
    stale = desk.engine.question
    desk.settle()
    desk.program.conversations.new()
    chat.send("Two")
    desk.engine.sent.append(stale)
    desk.engine.write("late")
    desk.engine.finish("cancelled")
    desk.settle()
    assert texts(chat)[1] == ("assistant", "", "waiting")


def test_a_death_in_the_middle_keeps_question_and_partial_answer(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.engine.prompt()
    desk.engine.write("Half an ans")
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    assert texts(chat) == [("user", "One", "done"), ("assistant", "Half an ans", "interrupted")]
    assert not chat.busy
    assert desk.notice.remedy == "restart_engine"


def test_the_ids_of_an_interrupted_answer_are_not_passed_off_as_its_text(desk: Desk, chat: Chat, model: Path) -> None:
    chat.send("One")
    desk.engine.write("Half")
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    desk.load(model)
    chat.send("Two")
    assert desk.engine.chat.messages[1] == PromptMessage("assistant", "Half")


@pytest.mark.parametrize("kind", ["prompt_too_long", "template", "template_missing", "model", "wrong_use"])
def test_a_question_that_came_to_nothing_goes_back_to_the_draft(desk: Desk, chat: Chat, kind: FailureKind) -> None:
    drafts: list[str] = []
    chat.draft_returned.connect(drafts.append)
    chat.send("One")
    desk.answer("1")
    chat.send("A very long question")
    desk.engine.fail(kind, text="3,031 of 1,024 tokens.")
    desk.settle()
    assert drafts == ["A very long question"]
    assert [turn.text for turn in chat.turns] == ["One", "1"]
    assert desk.told == "3,031 of 1,024 tokens."


def test_without_a_template_a_choice_is_offered(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.engine.fail("template_missing")
    desk.settle()
    assert desk.notice.remedy == "choose_template"


def test_answering_again_shows_the_new_answer_at_once_and_keeps_the_old_one_beside_it(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.answer("old")
    chat.answer_again()
    assert messages(desk) == [("user", "One")]
    desk.engine.prompt()
    desk.settle()
    assert texts(chat)[1] == ("assistant", "", "waiting")
    desk.engine.write("new")
    desk.settle()
    assert chat.turns[1].text == "new"
    desk.engine.finish()
    desk.settle()
    assert texts(chat) == [("user", "One", "done"), ("assistant", "new", "done")]
    assert [turn.text for turn in chat.shown.versions(chat.turns[1])] == ["old", "new"]


@pytest.mark.parametrize("end", ["fail", "stop", "die"])
def test_answering_again_that_comes_to_nothing_brings_the_old_answer_back(desk: Desk, chat: Chat, end: str) -> None:
    chat.send("One")
    desk.answer("old")
    before = chat.turns[1].finished
    chat.answer_again()
    if end == "fail":
        desk.engine.fail("model")
    elif end == "stop":
        desk.engine.finish("cancelled")
    else:
        desk.engine.die(desk.engine.question.request)
    desk.settle()
    assert texts(chat)[1] == ("assistant", "old", "done")
    assert chat.turns[1].finished is before
    assert chat.can_answer_again


def test_a_slider_moved_in_mid_answer_reaches_the_engine(desk: Desk, chat: Chat) -> None:
    desk.program.sampling.change(temperature=0.5)
    assert desk.engine.moved_settings == []
    chat.send("One")
    desk.program.sampling.change(temperature=1.5)
    assert [change.settings.temperature for change in desk.engine.moved_settings] == [1.5]
    assert desk.engine.question.settings.temperature == 0.5


def test_a_new_chat_is_empty_and_the_old_answer_goes_on(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.program.conversations.new()
    assert chat.turns == ()
    assert not chat.busy
    assert desk.engine.cancelled == []


def test_a_hundred_sends_and_stops_in_a_row_leave_the_chat_usable(desk: Desk, chat: Chat) -> None:
    for number in range(100):
        assert chat.send(f"Question {number}")
        desk.engine.write("x")
        desk.settle()
        chat.stop()
        desk.engine.finish("cancelled")
        desk.settle()
    assert len(chat.turns) == 200
    assert desk.program.session.phase == "ready"


@pytest.mark.parametrize("end", ["die", "stop"])
def test_tokens_without_a_text_do_not_end_the_old_answer(desk: Desk, chat: Chat, end: str) -> None:
    chat.send("One")
    desk.answer("old")
    before = chat.turns[1].finished
    chat.answer_again()
    desk.engine.prompt()
    desk.engine.write("")
    desk.settle()
    assert texts(chat)[1] == ("assistant", "", "waiting")
    if end == "die":
        desk.engine.die(desk.engine.question.request)
    else:
        desk.engine.finish("cancelled")
    desk.settle()
    assert texts(chat)[1] == ("assistant", "old", "done")
    assert chat.turns[1].finished is before


def test_the_ids_of_tokens_without_a_text_belong_to_the_answer(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.answer("old")
    chat.answer_again()
    desk.engine.write("")
    desk.engine.write("new")
    desk.engine.write("")
    desk.settle()
    assert array("i", chat.turns[1].ids).tolist() == [0, 1, 2]


def test_a_new_answer_whose_only_text_was_held_back_is_kept_when_stopped(desk: Desk, chat: Chat) -> None:
    chat.send("One")
    desk.answer("old")
    chat.answer_again()
    chat.note_ttft(chat.turns[1], 12.0)
    desk.engine.write("")
    desk.engine.finish("cancelled", rest="new")
    desk.settle()
    assert texts(chat)[1] == ("assistant", "new", "done")
    assert chat.turns[1].ttft_ms is None


def test_what_goes_on_while_the_model_loads_is_said_in_words(desk: Desk, model: Path) -> None:
    chat, said = desk.program.chat, list[str]()

    def note(turn: Turn) -> None:
        said.append(turn.doing.english() if turn.doing is not None else "")

    chat.changed.connect(note)
    desk.begin_load(model)
    chat.send("Hi")
    for percent in (0.2, 40.1, 40.3):
        desk.engine.progress(percent)
        desk.settle()
    desk.engine.loaded()
    desk.settle()
    assert said == ["Loading tiny …", "Loading tiny: 40 %", ""]


@pytest.mark.parametrize("way", ["send", "answer again"])
def test_a_question_after_unloading_says_that_the_model_comes_back(desk: Desk, chat: Chat, way: str) -> None:
    chat.send("Hi")
    desk.answer("Hello")
    desk.program.session.unload()
    desk.settle()
    if way == "send":
        chat.send("And then?")
    else:
        chat.answer_again()
    turn = chat.turns[-1]
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert turn.doing is not None and turn.doing.english() == "Loading tiny …"
    desk.engine.loaded()
    desk.settle()
    assert turn.doing is None


def test_the_end_of_a_load_is_known_to_a_chat_that_was_not_shown_then(desk: Desk, model: Path) -> None:
    desk.begin_load(model)
    chat = desk.program.chat
    chat.send("Hi")
    waiting = chat.shown
    assert chat.turns[1].doing is not None
    desk.program.conversations.new()
    desk.engine.loaded()
    desk.settle()
    seen: list[object] = []
    chat.opened.connect(lambda: seen.append(chat.turns[1].doing))
    desk.program.conversations.open(waiting.head.id)
    desk.settle()
    assert seen == [None]
