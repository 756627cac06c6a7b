"""Models are renamed and moved to the trash on the terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from app.core.errors import ExitCode
from app.system.instance import Instance
from app.system.model_moves import NoTrash
from tests.cli.conftest import CommandLine
from tests.ggufs import write_split_llama, write_tiny_llama


@pytest.fixture
def own(line: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = line.desk.program.paths.models
    folder.mkdir(parents=True)
    write_tiny_llama(folder / "apple-F16.gguf")
    added = tmp_path / "added"
    added.mkdir()
    write_tiny_llama(added / "zebra.gguf", layers=3)
    monkeypatch.setattr(line.desk.program.models, "_folders", (folder, added))
    return folder


class Person(io.StringIO):
    """Somebody before a screen, who types this."""

    def isatty(self) -> bool:
        return True


def trashed(tmp_path: Path) -> list[str]:
    folder = tmp_path / "data" / "Trash" / "files"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("word", ["apple-F16.gguf", "APPLE-f16", "apple", "{own}/apple-F16.gguf"])
def test_a_model_is_named_by_its_file_or_its_name(line: CommandLine, own: Path, word: str) -> None:
    line.desk.program.settings.change(last_model=str(own / "apple-F16.gguf"))
    assert line.run("models", "rename", word.format(own=own), "pear") == 0, line.err
    assert line.out == f"{own / 'pear.gguf'}\n" and [path.name for path in own.iterdir()] == ["pear.gguf"]
    assert line.desk.program.settings.values.last_model == str(own / "pear.gguf")


@pytest.mark.parametrize(
    ("words", "name", "state"),
    [
        (("rename", "apple", "pear", "--json"), "pear.gguf", "renamed"),
        (("--json", "trash", "apple", "--yes"), None, "in_trash"),
    ],
)
def test_a_program_is_told_where_a_file_was_and_is(
    line: CommandLine, own: Path, words: tuple[str, ...], name: str | None, state: str
) -> None:
    assert line.run("models", *words) == 0, line.err
    path = None if name is None else str(own / name)
    assert line.lines() == [{"model": str(own / "apple-F16.gguf"), "path": path, "state": state}]


def test_what_uses_a_model_is_said_before_it_is_renamed(line: CommandLine, own: Path) -> None:
    (own / "link.gguf").symlink_to(own / "apple-F16.gguf")
    assert line.run("models", "rename", "apple-F16", "pear") == 0, line.err
    assert "A link leads to it and will lead nowhere" in line.err and "link.gguf" in line.err
    assert line.out == f"{own / 'pear.gguf'}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only there names may be no text")
@pytest.mark.parametrize("word", ["{own}/bad\udcff.gguf", "bad\udcff.gguf", "bad\udcff"])
@pytest.mark.parametrize("deed", [("rename", "good"), ("trash", "--yes")])
def test_a_model_whose_name_is_no_text_can_be_named(
    line: CommandLine, own: Path, tmp_path: Path, word: str, deed: tuple[str, str]
) -> None:
    (own / "apple-F16.gguf").rename(own / "bad\udcff.gguf")
    assert line.run("models", deed[0], word.format(own=own), deed[1]) == 0, line.err
    names = [path.name for path in own.iterdir()]
    assert names == (["good.gguf"] if deed[0] == "rename" else [])
    assert len(trashed(tmp_path)) == (deed[0] == "trash")


def test_any_part_names_all_of_them(line: CommandLine, own: Path) -> None:
    paths = write_split_llama(own)
    assert line.run("models", "rename", str(paths[1]), "new.gguf") == 0, line.err
    assert line.out == f"{own / 'new-00001-of-00003.gguf'}\n" and len(list(own.glob("new-*"))) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rename", "apple", "a/b"), "Leave / out"),
        (("rename", "apple", ""), "Type a name"),
        (("rename", "apple", "apple-F16"), "called so already"),
        (("rename", "plum", "pear"), "There is no model “plum” in "),
        (("rename", "zebra", "pear"), "not in Tokenlight's own models folder"),
        (("trash", "zebra", "--yes"), "not in Tokenlight's own models folder"),
        (("trash", "apple"), "add --yes"),
    ],
)
def test_what_cannot_be_is_one_sentence(line: CommandLine, own: Path, words: tuple[str, ...], told: str) -> None:
    assert line.run("models", *words) == ExitCode.WRONG_USE
    assert told in line.err and line.out == ""
    assert [path.name for path in own.iterdir()] == ["apple-F16.gguf"]


def test_a_name_of_several_is_not_guessed(line: CommandLine, own: Path) -> None:
    (own / "org").mkdir()
    write_tiny_llama(own / "org" / "apple-F16.gguf", seed=2)
    assert line.run("models", "trash", "apple", "--yes") == ExitCode.WRONG_USE
    assert "several models" in line.err and str(own / "org" / "apple-F16.gguf") in line.err


def test_it_goes_to_the_trash_once_somebody_says_so(
    line: CommandLine, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "link.gguf").symlink_to(own / "apple-F16.gguf")
    monkeypatch.setattr(sys, "stdin", Person("no\n"))
    assert line.run("models", "trash", "apple") == ExitCode.INTERRUPTED
    assert "A link leads to it" in line.err and "Nothing was changed." in line.err and not trashed(tmp_path)


def test_yes_moves_it(line: CommandLine, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Person("y\n"))
    assert line.run("models", "trash", "apple") == 0, line.err
    assert "[y/N]" in line.err and line.out == f"In the trash: {own / 'apple-F16.gguf'}\n"
    assert trashed(tmp_path) == ["apple-F16.gguf"] and not list(own.iterdir())


def test_without_a_question(line: CommandLine, own: Path, tmp_path: Path) -> None:
    write_split_llama(own)
    assert line.run("models", "trash", "split", "--yes") == 0, line.err
    assert "Its 3 files go together" in line.err and len(trashed(tmp_path)) == 3


def test_where_there_is_no_trash_the_file_stays(
    line: CommandLine, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_path: str) -> str:
        raise NoTrash

    files = line.desk.program.library_files
    monkeypatch.setattr(files, "_tools", files._tools._replace(trash=none))
    assert line.run("models", "trash", "apple", "--yes") == ExitCode.MODEL_UNUSABLE
    assert "There is no trash" in line.err and (own / "apple-F16.gguf").exists()


def test_while_a_window_is_open_it_is_done_there(line: CommandLine, own: Path) -> None:
    window = Instance(line.desk.program.paths.data)
    assert window.acquire()
    try:
        assert line.run("models", "trash", "apple", "--yes") == ExitCode.WRONG_USE
    finally:
        window.close()
    assert "window of Tokenlight is open" in line.err and (own / "apple-F16.gguf").exists()
