"""Presets of whole chats in use: in a chat, for a new one, taken back; and what becomes of their model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.chat_preset import ChatPreset, PresetModel
from app.core.commands import Load
from app.core.sampling import PRESETS, SamplingSettings
from app.services.file_names import short_path
from app.services.program import Program
from app.services.wishes import Wish
from tests.desk import Desk

COOL = SamplingSettings(temperature=0.2, seed=7, max_tokens=99)
KIND = "Be kind."


@pytest.fixture
def program(desk: Desk, model: Path) -> Program:
    desk.program.conversations.start()
    desk.load(model)
    desk.program.chat_presets.save("Kind", ChatPreset(KIND, COOL))
    return desk.program


def ask(desk: Desk, text: str = "Hi") -> None:
    desk.program.chat.send(text)
    desk.answer("Hello")


def model_of(path: Path, identity: str = "") -> PresetModel:
    return PresetModel("Other", str(path), identity)


def keep_model(program: Program, path: Path) -> None:
    program.chat_presets.save("Other", ChatPreset(KIND, model=model_of(path)))


def looked(desk: Desk) -> None:
    """Wait for what was asked about files."""
    desk.until(lambda: desk.program.preset_models._wanted is None or desk.program.preset_models._waiting)


def test_all_parts_are_used_and_kept(desk: Desk, program: Program) -> None:
    ask(desk)
    program.preset_use.use("Kind")
    head = program.chat.shown.head
    assert (head.system_prompt, head.settings) == (KIND, COOL)
    assert program.sampling.values == COOL
    assert (desk.told, desk.notice.remedy) == ("“Kind” is used in this chat.", "undo_preset")
    program.chat.send("And?")
    assert desk.engine.chat.messages[0].text == KIND
    assert desk.engine.question.settings == COOL


@pytest.mark.parametrize(
    ("preset", "prompt", "temperature"),
    [(ChatPreset(KIND), KIND, 0.8), (ChatPreset(sampling=COOL), "Be brief.", 0.2), (ChatPreset(""), "", 0.8)],
)
def test_parts_that_a_preset_leaves_out_stay(
    desk: Desk, program: Program, preset: ChatPreset, prompt: str, temperature: float
) -> None:
    ask(desk)
    program.system_prompt.save("Be brief.")
    program.chat_presets.save("Part", preset)
    program.preset_use.use("Part")
    assert (program.system_prompt.text, program.sampling.values.temperature) == (prompt, temperature)


def test_a_use_is_taken_back_whole(desk: Desk, program: Program) -> None:
    program.system_prompt.save("Be brief.")
    ask(desk)
    program.sampling.change(top_k=7)
    before = program.sampling.values
    program.preset_use.use("Kind")
    program.preset_use.undo()
    head = program.chat.shown.head
    assert (head.system_prompt, head.settings) == ("Be brief.", before)
    assert program.sampling.values == before
    assert program.notices.latest is None


def test_a_use_is_taken_back_in_its_own_chat(desk: Desk, program: Program) -> None:
    ask(desk)
    first = program.conversations.open_id
    program.preset_use.use("Kind")
    program.preset_use.new_chat()
    now = program.sampling.values
    program.preset_use.undo()
    assert program.sampling.values == now
    program.conversations.open(first)
    assert (program.system_prompt.text, program.sampling.values) == ("", SamplingSettings())


def test_a_preset_is_copied_and_not_linked(desk: Desk, program: Program) -> None:
    ask(desk)
    program.preset_use.use("Kind")
    program.chat_presets.save("Kind", ChatPreset("Be cruel."))
    program.chat_presets.delete("Kind")
    assert (program.system_prompt.text, program.sampling.values) == (KIND, COOL)


def test_a_new_chat_begins_with_a_preset_and_the_next_one_without(desk: Desk, program: Program) -> None:
    ask(desk)
    program.preset_use.begin("Kind")
    assert program.chat.shown.is_new
    assert (program.system_prompt.text, program.sampling.values) == (KIND, COOL)
    assert program.notices.latest is None
    program.sampling.change(top_k=7)  # in this chat alone
    ask(desk)
    program.preset_use.new_chat()
    assert (program.system_prompt.text, program.sampling.values) == ("", SamplingSettings())


def test_a_new_chat_that_was_prepared_already_can_be_brought_back(desk: Desk, program: Program) -> None:
    program.system_prompt.save("Be brief.")
    program.preset_use.begin("Kind")
    assert desk.notice.remedy == "undo_preset"
    program.preset_use.undo()
    assert (program.system_prompt.text, program.sampling.values) == ("Be brief.", SamplingSettings())
    assert program.settings.values.chats.unsent_prompt == "Be brief."


def test_new_chats_start_with_the_preset_that_is_set_for_them(
    desk: Desk, program: Program, again: Callable[[], Desk]
) -> None:
    ask(desk)
    program.chat_presets.start_with("Kind")
    program.preset_use.new_chat()
    assert (program.system_prompt.text, program.sampling.values) == (KIND, COOL)
    ask(desk)
    assert program.conversations.heads[0].system_prompt == KIND
    program.preset_use.new_chat()
    later = again().program
    assert later.chat.shown.is_new
    assert (later.system_prompt.text, later.sampling.values) == (KIND, COOL)
    later.chat_presets.start_with(None)
    later.chat.send("Hi")
    later.preset_use.new_chat()
    assert (later.system_prompt.text, later.sampling.values) == ("", SamplingSettings())


def test_a_sampling_preset_goes_on_as_before_in_chats_of_their_own(desk: Desk, program: Program) -> None:
    program.sampling.use_preset("Creative")
    ask(desk)
    program.preset_use.use("Kind")
    program.preset_use.new_chat()
    assert program.sampling.values == PRESETS["Creative"]
    assert program.sampling.preset == "Creative"


def test_the_chat_as_it_is_can_be_saved_and_used_elsewhere(desk: Desk, program: Program) -> None:
    program.sampling.change(top_k=7)
    preset = program.preset_use.current(" \n")
    assert preset.system_prompt == ""
    assert preset.sampling == program.sampling.values
    assert preset.model is not None and preset.model.path == desk.loaded_path
    assert program.session.ref is not None and preset.model.identity == program.session.ref.identity


def test_a_model_that_is_loaded_already_is_not_loaded_again(desk: Desk, program: Program) -> None:
    model = program.preset_use.current("").model
    program.chat_presets.save("Same", ChatPreset(model=model))
    program.preset_use.use("Same")
    desk.settle()
    assert program.session.phase == "ready"
    assert len(desk.engine.all(Load)) == 1


def test_another_model_is_loaded_in_the_usual_way(desk: Desk, program: Program, other_model: Path) -> None:
    keep_model(program, other_model)
    ask(desk)
    program.preset_use.use("Other")
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.path == str(other_model)
    desk.engine.loaded()
    desk.settle()
    assert program.session.phase == "ready"
    program.preset_use.undo()
    desk.until(lambda: len(desk.engine.all(Load)) == 3)
    assert program.system_prompt.text == ""
    assert desk.engine.load.path != str(other_model)


def test_an_answer_that_is_being_written_is_never_ended_for_a_model(
    desk: Desk, program: Program, other_model: Path
) -> None:
    keep_model(program, other_model)
    program.chat.send("Hi")
    desk.engine.prompt()
    desk.engine.write("Hel")
    desk.settle()
    program.preset_use.begin("Other")
    program.chat.send("In the new chat")
    looked(desk)
    assert desk.engine.cancelled == []
    assert len(desk.engine.all(Load)) == 1
    desk.engine.write("lo")
    desk.engine.finish()
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    first = next(run for run in program.conversations.heads if run.title == "Hi")
    program.conversations.open(first.id)
    assert program.chat.turns[-1].text == "Hello"
    asked_before = desk.engine.question.request
    desk.engine.loaded()
    desk.settle()
    assert desk.engine.question.request != asked_before
    assert desk.engine.chat.messages[-1].text == "In the new chat"
    assert desk.loaded_path == str(other_model)


def test_people_are_told_that_a_model_waits_for_an_answer(desk: Desk, program: Program, other_model: Path) -> None:
    keep_model(program, other_model)
    program.chat.send("Hi")
    desk.engine.prompt()
    program.preset_use.use("Other")
    assert [each.english() for each in desk.notice.more] == ["Its model is loaded once the answer is written."]


def test_a_model_that_somebody_chose_meanwhile_goes_before_the_one_that_waits(
    desk: Desk, program: Program, model: Path, other_model: Path
) -> None:
    keep_model(program, other_model)
    program.chat.send("Hi")
    desk.engine.prompt()
    program.preset_use.use("Other")
    looked(desk)
    program.session.use(Wish(model))
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    desk.engine.finish("cancelled")
    desk.engine.loaded()
    desk.settle()
    assert desk.loaded_path == str(model)
    assert len(desk.engine.all(Load)) == 2


def test_a_use_that_is_taken_back_loads_nothing_later(desk: Desk, program: Program, other_model: Path) -> None:
    keep_model(program, other_model)
    program.chat.send("Hi")
    desk.engine.prompt()
    program.preset_use.use("Other")
    looked(desk)
    program.preset_use.undo()
    desk.answer("Hello")
    assert program.session.phase == "ready"
    assert len(desk.engine.all(Load)) == 1


def test_of_a_model_that_is_gone_one_sentence_says_which_and_the_rest_is_used(
    desk: Desk, program: Program, tmp_path: Path
) -> None:
    keep_model(program, tmp_path / "gone.gguf")
    ask(desk)
    program.preset_use.use("Other")
    desk.until(lambda: desk.notice.more)
    assert program.system_prompt.text == KIND
    (said,) = (each.english() for each in desk.notice.more)
    gone = short_path(tmp_path / "gone.gguf")
    assert said == (
        f"The model of “Other” is no longer at {gone}: open it where it is now, then update the chat preset."
    )
    assert desk.notice.remedy == "undo_preset"
    assert program.session.phase == "ready"
    program.preset_use.undo()
    assert program.system_prompt.text == ""


def test_of_a_model_that_is_gone_a_new_chat_says_it_too(desk: Desk, program: Program, tmp_path: Path) -> None:
    keep_model(program, tmp_path / "gone.gguf")
    program.chat_presets.start_with("Other")
    ask(desk)
    program.preset_use.new_chat()
    desk.until(lambda: program.notices.latest)
    assert desk.told.startswith("The model of “Other” is no longer at")
    assert desk.notice.remedy == "open_model"
    assert program.system_prompt.text == KIND


def test_a_model_that_was_moved_is_found_by_what_it_is(
    desk: Desk, program: Program, tmp_path: Path, other_model: Path
) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    moved = folder / "elsewhere.gguf"
    moved.write_bytes(other_model.read_bytes())
    program.settings.change(model_folders=(str(folder),))
    program.models.refresh()
    desk.until(lambda: any(found.path == str(moved) for found in program.models.found))
    identity = program.models._identities[str(moved)]
    program.chat_presets.save("Moved", ChatPreset(model=model_of(tmp_path / "gone.gguf", identity)))
    program.preset_use.use("Moved")
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.path == str(moved)


def renamed(program: Program, path: Path) -> Path:
    """Give a file another name, as the library does, of which no search has heard yet."""
    new = path.rename(path.with_name("renamed.gguf"))
    program.session.follow(frozenset({str(path)}), str(new))
    program.chat_presets.follow(frozenset({str(path)}), str(new))
    return new


def test_taking_a_use_back_loads_the_model_where_its_file_is_now(
    desk: Desk, program: Program, tmp_path: Path, model: Path, other_model: Path
) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(model.read_bytes())
    desk.load(mine)
    keep_model(program, other_model)
    program.preset_use.use("Other")
    desk.until(lambda: desk.engine.load.path == str(other_model))
    desk.engine.loaded()
    desk.settle()
    new = renamed(program, mine)
    program.preset_use.undo()
    desk.until(lambda: desk.engine.load.path == str(new))


@pytest.mark.parametrize("is_looked_for", [True, False])
def test_a_model_that_waits_for_an_answer_is_loaded_where_its_file_is_by_then(
    desk: Desk, program: Program, tmp_path: Path, other_model: Path, is_looked_for: bool
) -> None:
    other = tmp_path / "other-of-mine.gguf"
    other.write_bytes(other_model.read_bytes())
    keep_model(program, other)
    program.chat.send("Hi")
    desk.engine.prompt()
    program.preset_use.use("Other")
    if not is_looked_for:
        looked(desk)
    new = renamed(program, other)
    looked(desk)
    desk.engine.finish()
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    assert desk.engine.load.path == str(new)
