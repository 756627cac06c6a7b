"""Which file is looked at, chosen out of the models that are here by the names people know."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from app.core.model import FoundModel
from app.gui.file_view.choice_menu import MOST_MODELS, others
from app.services.models import Models
from tests.ggufs import write_tiny_llama
from tests.gui.file_view.conftest import Viewer

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def here(viewer: Viewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of somebody who has two models."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_tiny_llama(folder / "apple & pear.gguf")
    write_tiny_llama(folder / "zebra.gguf", layers=3)
    models = viewer.stage.desk.program.models
    monkeypatch.setattr(models, "_folders", (folder,))
    models.refresh()
    viewer.stage.desk.until(lambda: len(models.found) == 2 and not models.is_reading)
    viewer.stage.triggers("models_action")
    viewer.stage.clicks("models_inspect_tab")
    return folder


def entries(viewer: Viewer) -> list[str]:
    menu = viewer.menu()
    assert menu is not None
    return [action.text() for action in menu.actions()]


def chooses(viewer: Viewer, button: str, start: str) -> None:
    """Choose what begins with some words in the menu of a button."""
    viewer.stage.clicks(button)
    menu = viewer.menu()
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith(start)).trigger()
    menu.close()
    viewer.rests()


def test_two_models_that_are_here_are_compared_without_looking_for_files(viewer: Viewer, here: Path) -> None:
    chooses(viewer, "file_view_begin_button", "apple && pear")
    assert viewer.stage.reads("file_view_title1") == "apple & pear"
    viewer.stage.clicks("file_view_compare_button")
    assert entries(viewer) == ["zebra · F16", "", "Another file…"]
    menu = viewer.menu()
    assert menu is not None and str(here / "zebra.gguf") in menu.actions()[0].toolTip()
    menu.close()
    chooses(viewer, "file_view_compare_button", "zebra")
    assert viewer.stage.reads("file_view_title2") == "2: zebra"
    assert viewer.stage.reads("file_view_path1") == str(here / "apple & pear.gguf")


def test_any_other_file_is_one_entry_further(viewer: Viewer, here: Path) -> None:
    viewer.browses("file_view_begin_button")
    (dialog,) = [each for each in viewer.stage.window.findChildren(QFileDialog) if each.isVisible()]
    dialog.close()
    assert here.is_dir()


def test_what_is_most_alike_is_offered_first() -> None:
    models = [
        FoundModel("/a.gguf", 1, "alpha", architecture="llama", quantisation="Q4_0"),
        FoundModel("/b.gguf", 1, "beta", architecture="qwen2"),
        FoundModel("/c.gguf", 1, "omega", architecture="llama"),
        FoundModel("/d.gguf", 1, "omega", architecture="llama", quantisation="Q8_0"),
    ]
    assert [each.path for each in others(models, [Path("/d.gguf")])] == ["/c.gguf", "/a.gguf", "/b.gguf"]
    assert [each.path for each in others(models, [])] == ["/a.gguf", "/b.gguf", "/c.gguf", "/d.gguf"]


def test_a_menu_of_very_many_stays_short(viewer: Viewer, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(FoundModel(str(here / f"{number}.gguf"), 1, f"model {number:03}") for number in range(500))
    monkeypatch.setattr(Models, "found", many)
    viewer.stage.clicks("file_view_begin_button")
    assert len(entries(viewer)) == MOST_MODELS + 2 and entries(viewer)[-1] == "Another file…"
