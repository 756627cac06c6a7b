"""Which file is looked at, chosen out of the models that are here by the names people know."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.model import FoundModel
from app.gui.file_view.choice_popup import others
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


def types(viewer: Viewer, button: str, words: str) -> None:
    """Press a button, type what is looked for and take the first that is found."""
    viewer.stage.clicks(button)
    popup = viewer.popup()
    assert popup is not None
    QTest.keyClicks(popup.line, words)
    QTest.keyPress(popup.line, Qt.Key.Key_Return)  # the list is gone before the key comes up
    viewer.rests()


def is_in_the_page(viewer: Viewer) -> bool:
    focus: QWidget | None = viewer.stage.window.focusWidget()
    return focus is not None and viewer.part.isAncestorOf(focus)


def test_two_models_that_are_here_are_compared_without_looking_for_files(viewer: Viewer, here: Path) -> None:
    types(viewer, "file_view_begin_button", "pear")
    assert viewer.stage.reads("file_view_title1") == "apple & pear" and is_in_the_page(viewer)
    viewer.stage.clicks("file_view_compare_button")
    assert viewer.offered() == ["Another file…", "zebra · F16"]
    popup = viewer.popup()
    assert popup is not None and popup.list.currentIndex().data() == "zebra · F16", "what Enter takes"
    assert str(here / "zebra.gguf") in popup.list.currentIndex().data(Qt.ItemDataRole.ToolTipRole)
    popup.close()
    types(viewer, "file_view_compare_button", "zebra")
    assert viewer.stage.reads("file_view_title2") == "2: zebra" and is_in_the_page(viewer)
    assert viewer.stage.reads("file_view_path1") == str(here / "apple & pear.gguf")
    viewer.stage.clicks("file_view_alone_button")
    viewer.rests()
    assert is_in_the_page(viewer)


def test_models_that_are_called_alike_are_told_apart_and_found_by_their_folders(
    viewer: Viewer, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = [FoundModel(f"/models/{place}/a.gguf", 1, "Alike", quantisation="Q4_0") for place in ("one", "two")]
    monkeypatch.setattr(Models, "found", tuple(alike))
    viewer.stage.clicks("file_view_begin_button")
    popup = viewer.popup()
    assert popup is not None and viewer.offered()[1:] == ["Alike · one · Q4_0", "Alike · two · Q4_0"]
    QTest.keyClicks(popup.line, "models/two")
    assert viewer.offered() == ["Alike · two · Q4_0"]
    QTest.keyClicks(popup.line, "x")
    assert popup.nothing.isVisible() and "Another file…" in popup.nothing.text()


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


def test_a_list_of_very_many_stays_on_the_screen_and_has_all_of_them(
    viewer: Viewer, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(FoundModel(str(here / f"{number}.gguf"), 1, f"model {number:03}") for number in range(500))
    monkeypatch.setattr(Models, "found", many)
    viewer.stage.clicks("file_view_begin_button")
    popup = viewer.popup()
    assert popup is not None and len(viewer.offered()) == 501 and viewer.offered()[0] == "Another file…"
    assert popup.screen().availableGeometry().contains(popup.frameGeometry()) and popup.height() < 500
