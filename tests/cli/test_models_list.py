"""What `models` tells of each model beside its file: license, template, use, and what people say of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.services.model_check import check_model
from tests.cli.conftest import CommandLine
from tests.ggufs import copy_with, write_vocab_only
from tests.services.asking import say


@pytest.fixture
def shelf(line: CommandLine, model: Path) -> Path:
    """One model with a license that has answered, and one that is not for chat, in the program's own folder."""
    folder = line.desk.program.paths.models
    folder.mkdir(parents=True)
    line.desk.program.models._folders = (folder,)
    copy_with(model, folder / "tiny.gguf", set={"general.license": "mit"})
    write_vocab_only(folder / "words.gguf")
    return folder


def told(line: CommandLine, *words: str) -> dict[str, dict[str, object]]:
    assert line.run("models", *words, "--json") == 0, line.err
    return {Path(each["path"]).stem: each for each in line.lines()[0]}


def test_it_tells_what_the_file_says_and_what_is_unknown_is_null(line: CommandLine, shelf: Path) -> None:
    tiny = told(line)["tiny"]
    assert (tiny["license"], tiny["has_template"], tiny["last_used"]) == ("mit", True, None)
    assert (tiny["favourite"], tiny["note"], tiny["decode_tokens_per_s"]) == (False, "", None)
    words = told(line, "list")["words"]
    assert (words["license"], words["favourite"]) == (None, False) and words["identity"]
    assert line.run("models", "list") == 0
    assert "    License mit, chat template in the file, last used –\n" in line.out and line.err == ""
    assert not list(line.desk.program.paths.data.glob("*.sqlite3*")), "nothing is made by looking"


def test_it_tells_notes_names_favourites_and_use_while_a_window_has_them_open(line: CommandLine, shelf: Path) -> None:
    program = line.desk.program
    program.conversations.start()
    ref = check_model(shelf / "tiny.gguf")[1]
    assert ref is not None
    program.model_notes.star(ref.identity, is_favourite=True)
    program.model_notes.call(ref.identity, "Letters")
    program.model_notes.write(ref.identity, "one\ntwo")
    line.desk.load(shelf / "tiny.gguf")
    say(line.desk, "One", "1")
    tiny = told(line)["tiny"]
    assert (tiny["name"], tiny["name_before"], tiny["note"]) == ("Letters", "tiny", "one\ntwo")
    assert tiny["favourite"] is True and str(tiny["last_used"]).endswith("+00:00")


def test_it_prints_them_too(line: CommandLine, shelf: Path) -> None:
    program = line.desk.program
    program.conversations.start()
    (words,) = [each for each in program.models.list_now() if each.path.endswith("words.gguf")]
    program.model_notes.write(words.identity, "of no\nuse\x1b[2J")
    program.model_notes.star(words.identity, is_favourite=True)
    assert line.run("models") == 0
    assert "    Favourite\n    Note: of no use␛[2J\n" in line.out


def test_a_folder_that_is_away_is_no_error_and_no_empty_one(line: CommandLine, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    line.desk.program.settings.change(model_folders=(str(tmp_path / "empty"), str(tmp_path / "away")))
    assert set(told(line)) == {"tiny", "words"}
    assert line.err.startswith(f"Not here now: {tmp_path / 'away'}. ") and "empty" not in line.err
    shutil.rmtree(shelf)
    assert line.run("models") == 0
    assert "No model was found" in line.out and "Not here now" in line.err


def test_a_file_that_holds_the_same_model_as_one_above_says_so(line: CommandLine, shelf: Path) -> None:
    assert line.run("models") == 0 and "The same model as" not in line.out
    shutil.copy(shelf / "tiny.gguf", shelf / "copy.gguf")
    assert line.run("models") == 0
    assert line.out.count("The same model as") == 1
    copy, tiny = (f"    {shelf / name}.gguf\n" for name in ("copy", "tiny"))
    assert f"{tiny}    The same model as {shelf / 'copy.gguf'}\n" in line.out and copy in line.out
    assert told(line)["tiny"]["identity"] == told(line)["copy"]["identity"]
