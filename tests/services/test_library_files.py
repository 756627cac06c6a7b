"""Models in our own folder get other names and move to the trash, after it was said what uses them."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from app.core.chat_preset import ChatPreset, PresetModel
from app.core.commands import Load
from app.core.download import DownloadFile, DownloadWanted
from app.core.found_file import FoundFile
from app.core.kept_comparison import KeptComparison
from app.core.model import FoundModel, LoadOptions
from app.services.library_files import LibraryFiles
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.services.own_files import begin, done, found, hindered, said


def test_only_files_in_our_own_folder_are_ours(files: LibraryFiles, own: Path, tmp_path: Path) -> None:
    def refusal(path: Path, origin: str = "own") -> str:
        model = msgspec.convert({"path": str(path), "size": 1, "name": "a", "origin": origin}, FoundModel)
        sentence = files.refusal(model)
        return sentence.english() if sentence is not None else ""

    assert refusal(own / "apple.gguf") == refusal(own / "org" / "repo" / "a.gguf") == ""
    assert refusal(tmp_path / "added" / "a.gguf").startswith("This file is not in Tokenlight's own models folder")
    assert refusal(Path(f"{own}2") / "a.gguf") != ""
    assert "belongs to LM Studio" in refusal(tmp_path / "a.gguf", "lm_studio")
    assert "belongs to Ollama" in refusal(own / "a.gguf", "ollama")


def test_a_file_behind_a_link_in_our_folder_is_not_ours(
    files: LibraryFiles, desk: Desk, own: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_tiny_llama(elsewhere / "pear.gguf")
    (own / "behind").symlink_to(elsewhere)
    begin(desk, "pear.gguf")
    assert "not in Tokenlight's own models folder" in hindered(files)
    files.move_to_trash()
    files.rename("plum")
    assert not files.is_busy and (elsewhere / "pear.gguf").exists()


def test_a_folder_that_belongs_to_another_program_stays_so(
    files: LibraryFiles, desk: Desk, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = FoundFile(str(own / "apple.gguf"), 1, 1, "lm_studio")
    monkeypatch.setattr(type(files._tools.others), "find", lambda _others: (theirs,))
    begin(desk)
    assert "belongs to LM Studio" in hindered(files)


def came_of(desk: Desk) -> tuple[str | None, str | None]:
    """Return what is known of the file in the engine: its repository and its checksum."""
    ref = desk.program.session.ref
    assert ref is not None
    return ref.repository, ref.sha256


def test_a_new_name_is_followed_by_all_who_keep_the_old_one(files: LibraryFiles, desk: Desk, own: Path) -> None:
    program, old = desk.program, str(own / "apple.gguf")
    source = DownloadWanted("org/apple", "a" * 40, (DownloadFile("apple.gguf", 1, "1" * 64),))
    program.library_files._tools.sources.note(own / "apple.gguf", source)
    desk.load(own / "apple.gguf")
    assert came_of(desk) == ("org/apple", "1" * 64)
    identity = program.session.ref.identity if program.session.ref is not None else ""
    program.settings.remember_model(
        identity, msgspec.structs.replace(program.settings.model(identity), options=LoadOptions(context=512))
    )
    program.chat_presets.save("Mine", ChatPreset(model=PresetModel("apple", old, identity)))
    program.settings.change(comparison=KeptComparison(models=((old, "Q4_K"), ("/other.gguf", ""))))
    program.planner.planning.choose_model(old)
    begin(desk)
    assert "loaded again under its new name" in said(files, "rename") and "“Mine”" in said(files, "rename")
    files.rename("  pear.gguf ")
    assert done(desk) == "" and files.done_path == str(own / "pear.gguf")
    assert [path.name for path in own.iterdir()] == ["pear.gguf"]
    new = str(own / "pear.gguf")
    desk.until(lambda: desk.engine.load.path == new)
    desk.engine.loaded()
    desk.settle()
    assert desk.engine.load.options.context == 512 and desk.loaded_path == new
    assert came_of(desk) == ("org/apple", "1" * 64)
    assert program.settings.values.last_model == new
    preset = program.chat_presets.all["Mine"].model
    assert preset == PresetModel("apple", new, identity)
    kept = program.settings.values.comparison
    assert kept is not None and kept.models == ((new, "Q4_K"), ("/other.gguf", ""))
    assert program.planner.planning.path == new
    assert program.preset_models.want(preset) is False  # it is loaded already
    desk.until(lambda: (entry := program.models.entry_of(new, None)) is not None and entry.source == source)


def test_a_loaded_model_is_unloaded_before_its_file_moves(
    files: LibraryFiles, desk: Desk, own: Path, trash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.load(own / "apple.gguf")
    begin(desk)
    assert "unloaded first" in said(files, "trash")
    seen: list[bool] = []

    def move(_path: str) -> str:
        seen.append(desk.engine.alive)
        return ""

    monkeypatch.setattr(files, "_tools", files._tools._replace(trash=move))
    unload, told = desk.engine.unload, list[int]()
    monkeypatch.setattr(desk.engine, "unload", lambda: told.append(1))
    files.move_to_trash()
    assert files.is_busy and told and not seen  # the engine has not let go of it yet
    assert not files._doing.is_busy
    unload()
    assert done(desk) == "" and seen == [False]


def test_what_is_in_the_trash_is_wanted_no_more(files: LibraryFiles, desk: Desk, own: Path, trash: Path) -> None:
    desk.load(own / "apple.gguf")
    begin(desk)
    files.move_to_trash()
    assert done(desk) == "" and files.done_path == ""
    assert [path.name for path in trash.iterdir()] == ["apple.gguf"] and not list(own.iterdir())
    session = desk.program.session
    assert session.model is None and session.wish is None and session.phase == "no_model" and session.name is None
    assert desk.program.settings.values.last_model is None
    assert desk.told == "“apple” is in the trash of this system." and desk.notice.remedy is None
    desk.program.notices.dismiss()
    assert desk.program.notices.latest is None  # nobody offers to load it again
    desk.until(lambda: not desk.program.models.found)
    assert len(desk.engine.all(Load)) == 1


def test_while_it_answers_or_is_loaded_it_waits(files: LibraryFiles, desk: Desk, own: Path, trash: Path) -> None:
    desk.begin_load(own / "apple.gguf")
    begin(desk)
    assert "being loaded" in hindered(files)
    desk.engine.loaded()
    desk.settle()
    assert hindered(files) == ""
    desk.program.chat.send("Hello?")
    desk.settle()
    desk.engine.prompt()
    desk.settle()
    assert "writing or reading now" in hindered(files)
    files.move_to_trash()
    files.rename("pear")
    assert not files.is_busy and (own / "apple.gguf").exists() and not desk.engine.unloaded
    desk.engine.write("Hi")
    desk.engine.finish()
    desk.settle()
    assert hindered(files) == ""


def test_the_chats_it_wrote_in_are_named(files: LibraryFiles, desk: Desk, own: Path) -> None:
    desk.program.start(None)
    desk.until(lambda: desk.program.models.has_looked)
    if desk.program.session.model is None:
        desk.until(lambda: desk.engine.all(Load))
        desk.engine.loaded()
        desk.settle()
    for number in range(4):
        desk.program.conversations.new()
        desk.program.chat.send(f"Question {number}")
        desk.settle()
        desk.answer("yes")
    begin(desk)
    assert "4 chats were written with it: “Question 3”, “Question 2”, “Question 1” …" in said(files, "trash")
    assert "go on with it" in said(files, "rename")


def test_an_answer_is_reproduced_with_the_model_that_has_another_name_now(
    files: LibraryFiles, desk: Desk, own: Path
) -> None:
    desk.program.conversations.start()
    desk.load(own / "apple.gguf")
    desk.program.chat.send("Hello?")
    desk.settle()
    desk.answer("yes")
    turn = desk.program.chat.turns[-1]
    desk.program.session.unload()
    begin(desk)
    files.rename("pear")
    assert done(desk) == ""
    found(desk, "pear.gguf")
    loads = len(desk.engine.all(Load))
    assert desk.program.reproducing.begin(turn, loads=True)
    desk.until(lambda: len(desk.engine.all(Load)) > loads)
    assert desk.engine.load.path == str(own / "pear.gguf")


def test_presets_find_a_copy_that_lies_elsewhere(files: LibraryFiles, desk: Desk, own: Path) -> None:
    begin(desk)
    identity = desk.program.models.identity_of(str(own / "apple.gguf"))
    desk.program.chat_presets.save("Mine", ChatPreset(model=PresetModel("apple", "/elsewhere.gguf", identity)))
    assert "will not find it any more: “Mine”" in said(files, "trash")
    shutil.copyfile(own / "apple.gguf", own / "copy.gguf")
    found(desk, "copy.gguf")
    begin(desk)
    assert f"will take the same model at {own / 'copy.gguf'}: “Mine”" in said(files, "trash")
