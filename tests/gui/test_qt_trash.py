"""The real trash of a desktop, in a folder of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from app.gui.qt_trash import move_to_trash
from app.system.model_moves import NotMoved, NoTrash, trash_together

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the trash of other systems is theirs")


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The trash of a user who never had one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data" / "of mine"))
    return tmp_path / "data" / "of mine" / "Trash"


def test_a_file_lies_in_the_trash_with_where_it_came_from(trash: Path, tmp_path: Path) -> None:
    file = tmp_path / "sp ace ümlaut 日本 😀 100%#.gguf"
    file.write_text("weights")
    place = Path(move_to_trash(str(file)))
    assert place.parent == trash / "files" and place.read_text() == "weights" and not file.exists()
    note = (trash / "info" / f"{place.name}.trashinfo").read_text("utf-8")
    assert f"Path={file}" in unquote(note)


def test_two_of_one_name_both_stay(trash: Path, tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / "a.gguf").write_text(str(number))
        move_to_trash(str(tmp_path / "a.gguf"))
    assert sorted(path.read_text() for path in (trash / "files").iterdir()) == ["0", "1"]


def test_of_a_link_only_the_link_goes(trash: Path, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_text("weights")
    (tmp_path / "link.gguf").symlink_to(tmp_path / "a.gguf")
    move_to_trash(str(tmp_path / "link.gguf"))
    assert (tmp_path / "a.gguf").read_text() == "weights" and not (tmp_path / "link.gguf").is_symlink()
    assert [path.name for path in (trash / "files").iterdir()] == ["link.gguf"]


def test_where_there_is_no_trash_the_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").write_text("a file where the trash would be")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = tmp_path / "a.gguf"
    file.write_text("weights")
    with pytest.raises(NoTrash):
        move_to_trash(str(file))
    assert file.read_text() == "weights"


def test_what_failed_in_the_middle_is_back_and_the_trash_knows_nothing_of_it(trash: Path, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_text("weights")
    with pytest.raises(NotMoved) as caught:
        trash_together([str(tmp_path / "a.gguf"), str(tmp_path / "missing.gguf")], move_to_trash)
    assert isinstance(caught.value.reason, FileNotFoundError) and caught.value.stuck == ()
    assert (tmp_path / "a.gguf").read_text() == "weights"
    assert not list((trash / "files").iterdir()) and not list((trash / "info").iterdir())
