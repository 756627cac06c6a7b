"""Links in folders of models: other disks are searched, circles end, and nothing leads out into the whole system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.system import model_search
from app.system.model_search import find_models


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were looked into."""
    looked: list[str] = []
    real = os.scandir

    def note(folder: str) -> object:
        looked.append(str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", note)
    return looked


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF")
    return path


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target, target_is_directory=True)
    return path


def test_models_that_lie_on_another_disk_are_found_wherever_the_link_is(tmp_path: Path) -> None:
    """Folders of models outgrow disks: people move them, and leave a link to the folder, or to one in it."""
    touch(tmp_path / "disk" / "big" / "x.gguf")
    touch(tmp_path / "other" / "y.gguf")
    (tmp_path / "home").mkdir()
    models = link(tmp_path / "home" / "models", tmp_path / "disk" / "big")
    assert find_models([models]) == [models / "x.gguf"]
    inner = link(tmp_path / "disk" / "big" / "more", tmp_path / "other")
    assert find_models([models]) == [models / "more" / "y.gguf", models / "x.gguf"]
    assert find_models([inner]) == [inner / "y.gguf"]


def test_a_link_to_the_root_or_to_any_folder_around_it_leads_nowhere(tmp_path: Path, entered: list[str]) -> None:
    models = tmp_path / "around" / "models"
    found = touch(models / "x.gguf")
    touch(tmp_path / "around" / "private" / "not_asked_for.gguf")
    link(models / "all", Path(tmp_path.anchor))
    link(models / "sub" / "up", tmp_path)
    link(models / "sub" / "beside", tmp_path / "around")
    link(models / "sub" / "itself", models / "sub")
    assert find_models([models]) == [found]
    assert entered == [str(models), str(models / "sub")]


def test_of_a_folder_that_is_a_link_what_is_around_either_end_is_not_entered(tmp_path: Path) -> None:
    found = touch(tmp_path / "disk" / "models" / "x.gguf")
    touch(tmp_path / "disk" / "private.gguf")
    touch(tmp_path / "home" / "private.gguf")
    models = link(tmp_path / "home" / "models", found.parent)
    link(found.parent / "up", tmp_path / "disk")
    link(found.parent / "back", tmp_path / "home")
    assert find_models([models]) == [models / "x.gguf"]


def test_links_in_a_circle_and_two_to_one_place_are_gone_through_once(tmp_path: Path, entered: list[str]) -> None:
    touch(tmp_path / "a" / "x.gguf")
    touch(tmp_path / "b" / "y.gguf")
    link(tmp_path / "a" / "to_b", tmp_path / "b")
    link(tmp_path / "b" / "to_a", tmp_path / "a")
    link(tmp_path / "a" / "to_b_too", tmp_path / "b")
    assert [path.name for path in find_models([tmp_path / "a"])] == ["y.gguf", "x.gguf"]
    assert len(entered) == 2


def test_however_much_lies_behind_a_link_nothing_of_the_folder_itself_is_hidden(
    tmp_path: Path, entered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_search, "MOST_BEHIND_LINKS", 3)
    for number in range(9):
        touch(tmp_path / "system" / str(number) / "s.gguf")
    touch(tmp_path / "models" / "deep" / "er" / "x.gguf")
    link(tmp_path / "models" / "a", tmp_path / "system")
    found = find_models([tmp_path / "models"])
    assert tmp_path / "models" / "deep" / "er" / "x.gguf" in found
    assert len(found) == 3 and len(entered) == 6


def test_no_more_folders_are_gone_through_than_a_search_may(
    tmp_path: Path, entered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_search, "MOST_FOLDERS", 4)
    for number in range(9):
        touch(tmp_path / str(number) / "x.gguf")
    assert len(find_models([tmp_path])) == 3 and len(entered) == 4
