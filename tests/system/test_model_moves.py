"""Files of a model are renamed, or moved to the trash, all of them or none."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from app.system.model_moves import NotMoved, NoTrash, rename_together, trash_of_module, trash_together


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    made = [tmp_path / f"a-{number}.gguf" for number in range(3)]
    for number, path in enumerate(made):
        path.write_text(str(number))
    return [str(path) for path in made]


def renamed(path: str) -> str:
    return path.replace("/a-", "/b-")


def there(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_all_have_their_new_names(parts: list[str], tmp_path: Path) -> None:
    rename_together([(path, renamed(path)) for path in parts])
    assert there(tmp_path) == {"b-0.gguf": "0", "b-1.gguf": "1", "b-2.gguf": "2"}


def test_what_fails_in_the_middle_is_undone(parts: list[str], tmp_path: Path) -> None:
    (tmp_path / "b-2.gguf").write_text("somebody's")
    with pytest.raises(NotMoved) as caught:
        rename_together([(path, renamed(path)) for path in parts])
    assert isinstance(caught.value.reason, FileExistsError) and caught.value.stuck == ()
    assert there(tmp_path) == {"a-0.gguf": "0", "a-1.gguf": "1", "a-2.gguf": "2", "b-2.gguf": "somebody's"}


def test_nothing_is_replaced_by_a_link_that_leads_nowhere_either(parts: list[str], tmp_path: Path) -> None:
    (tmp_path / "b-0.gguf").symlink_to("nowhere")
    with pytest.raises(NotMoved):
        rename_together([(parts[0], renamed(parts[0]))])
    assert (tmp_path / "b-0.gguf").is_symlink() and Path(parts[0]).is_file()


def test_two_names_of_one_file_are_two_names(parts: list[str]) -> None:
    os.link(parts[0], renamed(parts[0]))
    with pytest.raises(NotMoved):
        rename_together([(parts[0], renamed(parts[0]))])
    assert Path(parts[0]).exists()


def test_what_cannot_be_undone_is_told(parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.rename

    def fails(old: str, new: str) -> None:
        if old == parts[2] or new == parts[1]:
            raise OSError(errno.EIO, "broken disk")
        rename(old, new)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(NotMoved) as caught:
        rename_together([(path, renamed(path)) for path in parts])
    assert caught.value.stuck == (parts[1],) and caught.value.file == parts[2]
    assert there(tmp_path) == {"a-0.gguf": "0", "b-1.gguf": "1", "a-2.gguf": "2"}


def test_a_trash_that_fails_in_the_middle_gives_back_what_it_has(parts: list[str], tmp_path: Path) -> None:
    bin_ = tmp_path / "Trash"
    (bin_ / "files").mkdir(parents=True)
    (bin_ / "info").mkdir()

    def move(path: str) -> str:
        if path == parts[2]:
            raise NoTrash
        place = bin_ / "files" / Path(path).name
        (bin_ / "info" / f"{place.name}.trashinfo").write_text("note")
        Path(path).rename(place)
        return str(place)

    with pytest.raises(NotMoved) as caught:
        trash_together(parts, move)
    assert caught.value.stuck == () and len(there(tmp_path)) == 3
    assert not list((bin_ / "info").iterdir()) and not list((bin_ / "files").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="only there names may be no text")
def test_a_name_that_is_no_text_is_one_in_the_trash_and_stays_where_that_fails(tmp_path: Path) -> None:
    path, told = tmp_path / "bad\udcff.gguf", list[str]()
    path.write_bytes(b"it")
    (tmp_path / "bad\ufffd.gguf").write_bytes(b"another")

    def refuse(this: str) -> str:
        told.append(this)
        raise NoTrash(this)

    with pytest.raises(NotMoved):
        trash_together([str(path)], refuse)
    assert told == [str(tmp_path / "2 bad\ufffd.gguf")] and path.read_bytes() == b"it"
    assert (tmp_path / "bad\ufffd.gguf").read_bytes() == b"another"


def test_what_a_trash_does_not_tell_the_place_of_is_told(parts: list[str], tmp_path: Path) -> None:
    def move(path: str) -> str:
        if path == parts[1]:
            raise NoTrash
        Path(path).rename(tmp_path.parent / "away")
        return ""

    with pytest.raises(NotMoved) as caught:
        trash_together(parts, move)
    assert caught.value.stuck == (parts[0],)


def test_a_trash_whose_module_is_not_there_is_none() -> None:
    with pytest.raises(NoTrash):
        trash_of_module("app.no_such_trash")("/x.gguf")
