"""The system prompt of a chat: changed, taken back, kept, and taken along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.core.chat_preset import ChatPreset, ChatSettings
from app.services.program import Program
from app.services.system_prompt import (
    LONGEST_DRAFT,
    LONGEST_LINE,
    LONGEST_PROMPT,
    MOST_DRAFT_BYTES,
    MOST_DRAFTS,
    too_long,
)
from tests.desk import Desk

BRIEF, KIND = "Be brief.", "Be kind."


@pytest.fixture
def program(desk: Desk, model: Path) -> Program:
    desk.program.conversations.start()
    desk.load(model)
    return desk.program


def sent(desk: Desk) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in desk.engine.chat.messages]


def stored(program: Program) -> str:
    """Return what the list of chats says of the one that is shown."""
    heads = {head.id: head for head in program.conversations.heads}
    return heads[program.conversations.open_id].system_prompt


def ask(desk: Desk, text: str = "Hi") -> None:
    desk.program.chat.send(text)
    desk.answer("Hello")


def test_a_new_chat_begins_with_an_empty_one(program: Program) -> None:
    assert (program.system_prompt.text, program.system_prompt.draft) == ("", None)


def test_a_text_goes_with_the_first_message_and_is_kept(desk: Desk, program: Program) -> None:
    assert program.system_prompt.save(BRIEF)
    assert desk.told == "The system prompt goes with the first message."
    program.chat.send("Hi")
    assert sent(desk) == [("system", BRIEF), ("user", "Hi")]
    assert stored(program) == BRIEF
    assert program.settings.values.chats.unsent_prompt is None


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_text_is_none(desk: Desk, program: Program, blank: str) -> None:
    program.system_prompt.save(BRIEF)
    assert program.system_prompt.save(blank)
    assert program.system_prompt.text == ""
    program.chat.send("Hi")
    assert sent(desk) == [("user", "Hi")]


def test_what_cannot_be_stored_is_cleaned(program: Program) -> None:
    program.system_prompt.save("a\ud83d\x00b")
    assert program.system_prompt.text == "a\ufffdb"


def test_a_change_in_mid_chat_holds_from_the_next_answer_on(desk: Desk, program: Program) -> None:
    ask(desk)
    program.system_prompt.save(BRIEF)
    assert desk.told == "The new system prompt holds from the next answer on."
    assert stored(program) == BRIEF
    program.chat.answer_again()
    assert sent(desk) == [("system", BRIEF), ("user", "Hi")]


def test_an_answer_that_is_being_written_goes_on_as_it_was_asked(desk: Desk, program: Program) -> None:
    program.chat.send("Hi")
    desk.engine.prompt()
    desk.engine.write("Hel")
    desk.settle()
    commands = len(desk.engine.sent)
    program.system_prompt.save(BRIEF)
    assert len(desk.engine.sent) == commands
    assert sent(desk) == [("user", "Hi")]
    desk.engine.write("lo")
    desk.engine.finish()
    desk.settle()
    assert program.chat.turns[-1].text == "Hello"
    program.chat.send("And?")
    assert sent(desk)[0] == ("system", BRIEF)


def test_a_question_that_waits_for_an_answer_is_sent_with_the_new_text(desk: Desk, program: Program) -> None:
    program.chat.send("One")
    program.queue.add("Two")
    program.system_prompt.save(BRIEF)
    desk.answer("1")
    assert sent(desk) == [("system", BRIEF), ("user", "One"), ("assistant", "1"), ("user", "Two")]


def test_the_same_text_changes_nothing_and_says_nothing(desk: Desk, program: Program) -> None:
    ask(desk)
    program.system_prompt.save(BRIEF)
    program.notices.dismiss()
    assert not program.system_prompt.save(BRIEF)
    assert program.notices.latest is None


def test_a_change_can_be_taken_back(desk: Desk, program: Program) -> None:
    ask(desk)
    program.system_prompt.save(BRIEF)
    program.system_prompt.save(KIND)
    assert desk.notice.remedy == "undo_system_prompt"
    program.system_prompt.undo()
    assert (program.system_prompt.text, stored(program)) == (BRIEF, BRIEF)
    assert program.notices.latest is None
    program.system_prompt.undo()
    assert program.system_prompt.text == BRIEF


def test_a_change_is_taken_back_in_its_own_chat_though_another_one_is_shown(desk: Desk, program: Program) -> None:
    ask(desk)
    changed = program.conversations.open_id
    program.system_prompt.save(BRIEF)
    program.conversations.new()
    program.system_prompt.undo()
    assert program.system_prompt.text == ""
    program.conversations.open(changed)
    assert (program.system_prompt.text, stored(program)) == ("", "")


def test_a_change_in_a_chat_that_is_gone_is_not_taken_back(desk: Desk, program: Program) -> None:
    ask(desk)
    program.system_prompt.save(BRIEF)
    program.conversations.delete(program.conversations.open_id)
    program.system_prompt.undo()
    assert program.system_prompt.text == ""


def test_each_chat_has_its_own(desk: Desk, program: Program) -> None:
    program.system_prompt.save(BRIEF)
    ask(desk)
    first = program.conversations.open_id
    program.conversations.new()
    assert program.system_prompt.text == ""
    program.system_prompt.save(KIND)
    ask(desk)
    program.conversations.open(first)
    assert program.system_prompt.text == BRIEF


def test_a_fork_takes_it_along_and_changes_alone(desk: Desk, program: Program) -> None:
    program.system_prompt.save(BRIEF)
    ask(desk)
    first = program.conversations.open_id
    program.branches.fork(program.chat.turns[-1])
    assert program.system_prompt.text == BRIEF
    program.system_prompt.save(KIND)
    program.conversations.open(first)
    assert program.system_prompt.text == BRIEF


def test_what_is_set_for_new_chats_is_followed_until_somebody_chooses_another(program: Program) -> None:
    told: list[str] = []
    program.system_prompt.changed.connect(lambda: told.append(program.system_prompt.text))
    program.settings.change(system_prompt=BRIEF)
    program.system_prompt.look_again()
    assert told == [BRIEF]
    program.system_prompt.save(KIND)
    program.settings.change(system_prompt="Be long.")
    program.system_prompt.look_again()
    assert told == [BRIEF, KIND]
    program.system_prompt.undo()
    assert program.system_prompt.text == "Be long."


def test_a_preset_for_new_chats_goes_before_the_text_that_is_set_for_them(program: Program) -> None:
    chats = ChatSettings({"Kind": ChatPreset(KIND), "Empty": ChatPreset("")}, "Kind")
    program.settings.change(system_prompt=BRIEF, chats=chats)
    assert program.system_prompt.text == KIND
    program.chat_presets.start_with("Empty")
    assert program.system_prompt.text == ""
    program.chat_presets.start_with(None)
    assert program.system_prompt.text == BRIEF


def test_what_is_typed_and_not_saved_stays_with_its_chat(desk: Desk, program: Program) -> None:
    ask(desk)
    first = program.conversations.open_id
    program.system_prompt.write("Be br")
    program.conversations.new()
    assert program.system_prompt.draft is None
    program.system_prompt.write("Be k")
    program.conversations.open(first)
    assert program.system_prompt.text == ""
    assert program.system_prompt.state.conversation == first
    assert str(program.system_prompt.draft) == "Be br"
    program.system_prompt.save(BRIEF)
    assert program.system_prompt.draft is None
    program.conversations.new()
    assert program.system_prompt.draft == "Be k"


def test_what_is_typed_in_a_new_chat_goes_along_when_that_is_sent(desk: Desk, program: Program) -> None:
    program.system_prompt.write("Be br")
    program.chat.send("Hi")
    assert sent(desk) == [("user", "Hi")]
    assert program.system_prompt.draft == "Be br"
    desk.answer("Hello")
    program.conversations.new()
    assert program.system_prompt.draft is None


def test_typing_the_saved_text_again_leaves_nothing_to_keep(program: Program) -> None:
    program.system_prompt.save(BRIEF)
    program.system_prompt.write("Be")
    program.system_prompt.write(BRIEF)
    assert program.system_prompt.draft is None
    assert program.settings.values.chats.prompt_drafts == {}


def test_only_the_latest_unsaved_texts_are_kept(desk: Desk, program: Program) -> None:
    for number in range(MOST_DRAFTS + 3):
        ask(desk)
        program.system_prompt.write(f"Be {number}")
        program.conversations.new()
    drafts = list(program.settings.values.chats.prompt_drafts.values())
    assert drafts == [f"Be {number}" for number in range(3, MOST_DRAFTS + 3)]


@pytest.mark.parametrize("sign", ["x", "\x01", "日", "🙂"])
def test_unsaved_texts_are_kept_however_long_as_far_as_the_settings_file_can_be_read_again(
    desk: Desk, program: Program, again: Callable[[], Desk], sign: str
) -> None:
    for number in range(12):
        ask(desk)
        program.system_prompt.write(f"{number}{sign * LONGEST_DRAFT}")
        assert program.system_prompt.draft == f"{number}{sign * LONGEST_DRAFT}"[:LONGEST_DRAFT]
        program.conversations.new()
    drafts = program.settings.values.chats.prompt_drafts
    assert len(msgspec.json.encode(drafts)) <= MOST_DRAFT_BYTES
    assert again().program.settings.values.chats.prompt_drafts == drafts


def test_everything_is_there_again_after_a_restart(desk: Desk, program: Program, again: Callable[[], Desk]) -> None:
    program.system_prompt.save(BRIEF)
    ask(desk)
    program.system_prompt.write("Be br and")
    prompt = again().program.system_prompt
    assert (prompt.text, prompt.draft) == (BRIEF, "Be br and")


def test_a_new_chat_has_its_text_again_after_a_restart(program: Program, again: Callable[[], Desk]) -> None:
    program.system_prompt.save(BRIEF)
    program.system_prompt.write("Be br and")
    desk = again()
    prompt = desk.program.system_prompt
    assert (prompt.text, prompt.draft) == (BRIEF, "Be br and")
    desk.program.chat.send("Hi")
    assert sent(desk)[0] == ("system", BRIEF)


def test_a_question_that_came_to_nothing_leaves_the_text_in_the_new_chat(
    desk: Desk, program: Program, again: Callable[[], Desk]
) -> None:
    program.system_prompt.save(BRIEF)
    program.chat.send("Hi")
    desk.engine.fail("prompt_too_long")
    desk.settle()
    assert program.chat.turns == ()
    assert program.system_prompt.text == BRIEF
    assert again().program.system_prompt.text == BRIEF


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x\n" * (LONGEST_PROMPT // 2), ""),
        ("x\n" * (LONGEST_PROMPT // 2) + "y", "100,001 characters"),
        ("x" * LONGEST_LINE, ""),
        ("a\n" + "x" * (LONGEST_LINE + 1), "more than 5,000 characters"),
    ],
)
def test_a_text_that_could_not_be_worked_with_is_refused_with_the_numbers(text: str, says: str) -> None:
    problem = too_long(text)
    assert says in (problem.english() if problem is not None else "")
    assert (problem is None) is (not says)
