"""The part of the page Models that shows what is here: facts, reasons, and what can be done with each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLabel, QListView, QListWidget

from app.core.commands import Load
from app.core.devices import MainMemory
from app.core.model import FoundModel
from app.core.model_kind import ModelKind
from app.core.words import translate
from app.gui.application import watch_front
from app.gui.discover.library_words import kind_of
from app.services import folder_watch
from tests.ggufs import write_split_llama, write_tiny_llama, write_vocab_only
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two models, a vocabulary and a model of which a part is missing."""
    made = tmp_path / "mine"
    made.mkdir()
    write_tiny_llama(made / "apple.gguf")
    write_tiny_llama(made / "zebra.gguf", layers=3)
    write_vocab_only(made / "words.gguf")
    write_split_llama(made)[-1].unlink()
    return made


@pytest.fixture
def here(stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page Models of somebody who has some."""
    program = stage.desk.program
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    program.planner.fits.note(())
    monkeypatch.setattr(program.models, "_folders", (folder.parent / "own",))
    program.settings.change(model_folders=(str(folder),))
    program.models.refresh()
    stage.desk.until(lambda: len(program.models.found) == 4 and not program.models.is_reading)
    stage.triggers("models_action")
    stage.desk.until(lambda: sum("fits" in row for row in rows(stage)) == 2)
    return stage


def rows(stage: Stage) -> list[str]:
    """Return what the list says."""
    model = stage.find_as(QListView, "library_list").model()
    return [str(model.index(row, 0).data()).replace("\u00a0", " ") for row in range(model.rowCount())]


def chooses(stage: Stage, name: str) -> None:
    """Choose a row by its name."""
    listed = stage.find_as(QListView, "library_list")
    number = [row.partition("\n")[0] for row in rows(stage)].index(name)
    listed.setCurrentIndex(listed.model().index(number, 0))


def facts(stage: Stage) -> dict[str, str]:
    """Return the facts of what is chosen."""
    said = [each.accessibleName() for each in stage.window.findChildren(QLabel, "library_fact")]
    return dict(each.split(": ", 1) for each in said)


def test_whoever_has_models_comes_to_them_and_sees_what_each_is(here: Stage, folder: Path) -> None:
    assert here.sees("library_part") and here.reads("library_state") == "4 models"
    first, second, *others = rows(here)
    assert first.startswith("apple\nF16 · ") and first.endswith(" · fits") and second.startswith("zebra\n")
    assert any("vocabulary only" in row for row in others) and any("2 of 3 parts present" in row for row in others)
    assert here.reads("library_title") == "apple" and here.reads("library_fit").startswith("Fits. ")
    told = facts(here)
    assert told["Architecture"] == "llama" and told["File"] == str(folder / "apple.gguf")
    assert told["Found in"] == "your model folders" and told["Chat template"] == "in the file"
    assert cut_off(here.find("library_part")) == []


def test_what_cannot_be_chatted_with_says_why_and_is_not_offered(here: Stage) -> None:
    chooses(here, "words")
    assert here.reads("library_problem") and not here.sees("library_fit")
    for name in ("library_load_button", "library_options_button", "library_plan_button"):
        assert not here.find(name).isEnabled()
    listed = here.find_as(QListView, "library_list")
    QTest.keyClick(listed, Qt.Key.Key_Return)
    assert not here.desk.engine.all(Load)


def test_it_is_loaded_by_its_button_and_by_enter(here: Stage, folder: Path) -> None:
    chooses(here, "zebra")
    QTest.keyClick(here.find_as(QListView, "library_list"), Qt.Key.Key_Return)
    assert here.window.page == "chat"
    here.desk.until(lambda: here.desk.engine.all(Load))
    assert here.desk.engine.load.path == str(folder / "zebra.gguf")
    here.engine.loaded()
    here.settle()
    here.triggers("models_action")
    assert not here.find("library_load_button").isEnabled() and here.reads("library_load_button") == "It is loaded"
    assert any(row.startswith("zebra\nloaded · ") for row in rows(here))


def test_its_options_its_plan_and_its_folder_are_a_click_away(
    here: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toLocalFile()))
    here.clicks("library_folder_button")
    assert opened == [str(folder)]
    here.clicks("library_options_button")
    dialog = here.find_as(QDialog, "load_options")
    assert dialog.isVisible()
    dialog.close()
    here.clicks("library_plan_button")
    assert here.window.page == "planner"
    assert here.desk.program.planner.planning.path == str(folder / "apple.gguf")


def test_words_narrow_the_list_and_what_is_chosen_stays(here: Stage) -> None:
    chooses(here, "zebra")
    here.find("library_line").setFocus()
    QTest.keyClicks(here.find("library_line"), "zeb")
    assert [row.partition("\n")[0] for row in rows(here)] == ["zebra"]
    assert here.reads("library_state") == "1 of 4 models" and here.reads("library_title") == "zebra"
    QTest.keyClicks(here.find("library_line"), "ra nothing")
    assert here.reads("library_state") == "None of your models is called so." and not here.sees("library_list")
    here.clicks("library_line_clear")
    assert len(rows(here)) == 4 and here.reads("library_title") == "zebra"


def test_a_file_that_vanishes_while_it_is_chosen_is_gone_from_the_list(here: Stage, folder: Path) -> None:
    chooses(here, "zebra")
    (folder / "zebra.gguf").unlink()
    here.desk.program.models.refresh()
    here.desk.until(lambda: len(rows(here)) == 3)
    assert here.reads("library_title") == "apple"
    shutil.rmtree(folder)
    here.desk.program.models.refresh()
    here.desk.until(lambda: not rows(here))
    assert here.reads("library_state").startswith("There is no model on this machine yet")
    assert not here.sees("library_title")
    here.clicks("library_find_button")
    assert here.sees("discover_part")


def test_folders_are_added_and_taken_away(here: Stage, folder: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    write_tiny_llama(more / "plum.gguf")
    here.clicks("library_folders_button")
    dialog = here.find_as(QDialog, "folders_dialog")
    listed = here.find_as(QListWidget, "folders_list")
    assert listed.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff, (
        "long paths are elided in the middle"
    )
    assert [listed.item(row).text() for row in range(listed.count())] == [str(folder)]
    here.clicks("folders_add_button")
    chooser = here.find_as(QFileDialog, "folders_chooser")
    chooser.fileSelected.emit(str(more))
    chooser.close()
    here.desk.until(lambda: len(rows(here)) == 5)
    listed.setCurrentRow(0)
    here.clicks("folders_remove_button")
    here.desk.until(lambda: len(rows(here)) == 1)
    assert here.desk.program.settings.values.model_folders == (str(more),)
    assert (folder / "apple.gguf").exists()
    dialog.close()


def test_every_kind_that_is_not_for_chat_has_a_word_of_its_own() -> None:
    kinds = [kind for kind in get_args(ModelKind) if kind != "chat"]
    reason = translate("Test", "It is for something else.")
    words = [kind_of(FoundModel("/a.gguf", 1, "a", problem=reason, kind=kind)) for kind in (*kinds, None)]
    assert len(set(words)) == len(words) and words[-1] == "cannot be used"


def test_folders_are_looked_at_while_the_models_are_seen_and_once_when_the_window_comes_to_the_front(
    here: Stage, folder: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "LOOK_S", 0.001)
    monkeypatch.setattr(folder_watch, "SHARE", 0)
    watch, looks = here.desk.program.models.watch, list[int]()
    has_changed = watch._has_changed

    def look() -> bool:
        looks.append(1)
        return has_changed()

    monkeypatch.setattr(watch, "_has_changed", look)
    watch_front(qapp, watch)
    watch.start(is_in_front=True)
    write_tiny_llama(folder / "berry.gguf")
    here.desk.until(lambda: any("berry" in row for row in rows(here)))
    here.window.show_page("chat")
    assert not watch._followers
    here.desk.until(lambda: not watch._waiting)  # the last one that was on its way
    write_tiny_llama(folder / "cherry.gguf")
    count = len(looks)
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    here.desk.until(lambda: any("cherry" in each.path for each in here.desk.program.models.found))
    assert len(looks) == count + 1
    watch.stop()
