"""The models on this machine, narrowed and ordered, and the folders that are looked into."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.services.library import Library
from app.system.model_search import folder_state
from tests.desk import Desk
from tests.ggufs import write_split_llama, write_tiny_llama, write_vocab_only


@pytest.fixture
def shelf(desk: Desk, tmp_path: Path) -> Library:
    """Two models, a vocabulary and a model of which a part is missing."""
    folder = tmp_path / "models of mine"
    folder.mkdir()
    write_tiny_llama(folder / "Zebra-F16.gguf", layers=2)
    write_tiny_llama(folder / "apple-F16.gguf", layers=5)
    write_vocab_only(folder / "vocabulary.gguf")
    write_split_llama(folder)[-1].unlink()
    desk.program.models._folders = (tmp_path / "own",)
    desk.program.conversations.start()
    library = Library(desk.program.models, desk.program.session, desk.program.settings, desk.program.model_notes)
    library.add_folder(str(folder))
    desk.until(lambda: len(library.rows) == 4 and not library.is_searching)
    return library


def names(library: Library) -> list[str]:
    return [Path(row.path).name.partition("-F16")[0] for row in library.rows]


def test_what_can_be_chatted_with_comes_first_whatever_the_order(shelf: Library) -> None:
    assert names(shelf)[:2] == ["apple", "Zebra"]
    assert all(row.problem is not None for row in shelf.rows[2:])
    shelf.order("size")
    assert names(shelf)[:2] == ["apple", "Zebra"]
    assert shelf.rows[0].size > shelf.rows[1].size
    shelf.order("parameters")
    assert names(shelf)[:2] == ["apple", "Zebra"]
    assert (shelf.rows[0].parameters or 0) > (shelf.rows[1].parameters or 0)


def test_all_words_narrow_in_any_order_and_case(shelf: Library) -> None:
    shelf.narrow("F16 ZEB")
    assert names(shelf) == ["Zebra"] and shelf.all_of_them == 4
    shelf.narrow("zebra apple")
    assert shelf.rows == ()
    shelf.narrow("  ")
    assert len(shelf.rows) == 4


def test_a_folder_is_added_once_kept_and_taken_away_without_being_touched(
    shelf: Library, desk: Desk, tmp_path: Path
) -> None:
    (folder,) = shelf.folders
    shelf.add_folder(f"{folder}/")
    assert shelf.folders == (folder,) == desk.program.settings.values.model_folders
    assert not shelf.is_empty(folder) and shelf.state_of(folder) == "there"
    shelf.remove_folder(str(tmp_path / "away"))
    shelf.remove_folder(folder)
    desk.until(lambda: shelf.rows == ())
    assert not desk.program.settings.values.model_folders and len(list(Path(folder).iterdir())) == 5


def test_it_tells_which_is_loaded_once(shelf: Library, desk: Desk) -> None:
    told: list[str] = []
    shelf.changed.connect(lambda: told.append(shelf.loaded))
    desk.load(Path(shelf.rows[0].path))
    assert shelf.loaded == shelf.rows[0].path and told == [shelf.loaded]
    shelf.close()
    desk.program.models.changed.emit()
    assert told == [shelf.loaded]


def test_a_folder_that_is_away_is_told_from_an_empty_one_and_what_is_said_of_its_models_stays(
    shelf: Library, desk: Desk, tmp_path: Path
) -> None:
    (folder,) = shelf.folders
    shelf.notes.star(shelf.rows[0].identity, is_favourite=True)
    shelf.add_folder(str(tmp_path / "nothing in it"))
    (tmp_path / "nothing in it").mkdir()
    Path(folder).rename(tmp_path / "unplugged")
    shelf.refresh()
    desk.until(lambda: shelf.state_of(folder) == "missing")
    empty = str(tmp_path / "nothing in it")
    assert shelf.missing == (folder,) and shelf.state_of(empty) == "there" and shelf.is_empty(empty)
    assert shelf.rows == () and not desk.program.notices.latest
    (tmp_path / "unplugged").rename(folder)
    shelf.refresh()
    desk.until(lambda: len(shelf.rows) == 4 and not shelf.is_searching)
    assert not shelf.missing and shelf.notes.of(shelf.rows[0].identity).favourite


def test_a_look_notices_a_folder_that_goes_and_comes_though_no_model_is_in_it(desk: Desk, tmp_path: Path) -> None:
    models, folder = desk.program.models, tmp_path / "empty"
    models._folders = (tmp_path / "own",)
    folder.mkdir()
    desk.program.settings.change(model_folders=(str(folder),))
    models.refresh()
    desk.until(lambda: models.folder_states == {str(folder): "there"})
    assert not models._has_changed()
    folder.rmdir()
    assert models._has_changed()


def test_a_folder_that_may_not_be_read_is_no_missing_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_folder: str) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "file").touch()
    assert folder_state(str(tmp_path)) == "there"
    assert [folder_state(str(tmp_path / name)) for name in ("away", "file", "a\0b")] == ["missing"] * 3
    monkeypatch.setattr("app.system.model_search.os.scandir", refuse)
    assert folder_state(str(tmp_path)) == "closed"


def test_a_loaded_copy_from_elsewhere_is_the_model_that_is_listed(shelf: Library, desk: Desk, tmp_path: Path) -> None:
    listed = shelf.rows[0].path
    desk.load(Path(shutil.copy(listed, tmp_path / "copy.gguf")))
    assert shelf.loaded == listed
