"""Renaming a model and moving it to the trash, in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListView

from app.core.commands import Load
from app.system.model_moves import NoTrash
from tests.ggufs import write_split_llama, write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.discover.test_library import chooses, rows
from tests.gui.fitting import cut_off

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def here(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The page Models of somebody with two models in our own folder and one in a folder that was added."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    program, added = stage.desk.program, tmp_path / "added"
    program.paths.models.mkdir(parents=True)
    added.mkdir()
    write_tiny_llama(program.paths.models / "apple.gguf")
    write_split_llama(program.paths.models)
    write_tiny_llama(added / "zebra.gguf", layers=3)
    monkeypatch.setattr(program.models, "_folders", (program.paths.models,))
    program.settings.change(model_folders=(str(added),))
    program.models.refresh()
    stage.desk.until(lambda: len(program.models.found) == 3 and not program.models.is_reading)
    stage.triggers("models_action")
    stage.desk.until(lambda: len(rows(stage)) == 3)
    chooses(stage, "apple")
    return stage


def opens(stage: Stage, button: str, dialog: str) -> QDialog:
    """Open a dialog and wait until the file was looked at."""
    stage.clicks(button)
    found = stage.find_as(QDialog, dialog)
    stage.desk.until(lambda: stage.desk.program.library_files.is_ready)
    return found


def uses(stage: Stage) -> str:
    dialog = next(each for each in stage.window.findChildren(QDialog) if each.isVisible())
    return "\n".join(each.text() for each in dialog.findChildren(QLabel, "file_use") if each.isVisibleTo(dialog))


def types(stage: Stage, text: str) -> None:
    line = stage.find_as(QLineEdit, "rename_line")
    line.selectAll()
    line.insert(text)  # keys of a test are ASCII


def test_what_is_not_ours_cannot_be_changed_and_says_why(here: Stage) -> None:
    assert here.find("library_rename_button").isEnabled() and here.find("library_trash_button").isEnabled()
    chooses(here, "zebra")
    for name in ("library_rename_button", "library_trash_button"):
        button = here.find(name)
        assert not button.isEnabled() and "Tokenlight's own models folder" in button.toolTip().replace("<br>", " ")
        assert "own models folder" in button.accessibleDescription()


def test_a_new_name_is_in_the_list_and_stays_chosen(here: Stage) -> None:
    dialog = opens(here, "library_rename_button", "rename_model_dialog")
    line = here.find_as(QLineEdit, "rename_line")
    assert line.text() == "apple" and dialog.focusWidget() is line and here.reads("rename_ending") == ".gguf"
    assert not here.find("file_do_button").isEnabled()  # it is called so already
    types(here, "banana/")
    assert "Leave / out" in here.reads("rename_problem") and not here.find("file_do_button").isEnabled()
    assert cut_off(dialog) == []
    types(here, "バナナ")
    assert here.reads("rename_problem") == "" and here.reads("file_do_button") == "Rename"
    QTest.keyClick(line, Qt.Key.Key_Return)
    here.desk.until(lambda: not dialog.isVisible())
    here.desk.until(lambda: any(row.startswith("バナナ\n") for row in rows(here)))
    assert here.reads("library_title") == "バナナ"
    assert (here.desk.program.paths.models / "バナナ.gguf").exists()


def test_a_loaded_model_says_so_and_is_loaded_again_under_its_new_name(here: Stage) -> None:
    path = here.desk.program.paths.models / "apple.gguf"
    here.load(path)
    opens(here, "library_rename_button", "rename_model_dialog")
    assert "It is loaded: it is unloaded for this" in uses(here)
    types(here, "pear")
    assert here.reads("file_do_button") == "Unload and rename"
    loads = len(here.engine.all(Load))
    here.clicks("file_do_button")
    here.desk.until(lambda: len(here.engine.all(Load)) > loads)
    assert here.engine.load.path == str(path.with_name("pear.gguf")) and here.engine.unloaded == 1


def test_a_loaded_model_goes_to_the_trash_once_it_is_unloaded(here: Stage, tmp_path: Path) -> None:
    here.load(here.desk.program.paths.models / "apple.gguf")
    dialog = opens(here, "library_trash_button", "trash_model_dialog")
    assert here.reads("file_title") == "Move “apple” to the trash?" and "gives its memory back" in uses(here)
    assert here.reads("file_do_button") == "Unload and move to the trash"
    assert dialog.focusWidget() is here.find("file_cancel_button")
    assert cut_off(dialog) == []
    here.clicks("file_do_button")
    here.desk.until(lambda: not dialog.isVisible() and len(rows(here)) == 2)
    assert [path.name for path in (tmp_path / "data" / "Trash" / "files").iterdir()] == ["apple.gguf"]
    assert here.window.focusWidget() is here.find("library_list"), "no field of another model takes the next keys"
    assert here.desk.program.session.phase == "no_model" and here.reads("library_title") != "apple"


def test_while_an_answer_is_written_it_waits_and_goes_on_by_itself(here: Stage) -> None:
    here.load(here.desk.program.paths.models / "apple.gguf")
    here.desk.program.chat.send("Hello?")
    here.settle()
    here.engine.prompt()
    here.settle()
    opens(here, "library_trash_button", "trash_model_dialog")
    assert "It is writing or reading now" in here.reads("file_problem")
    assert not here.find("file_do_button").isEnabled() and uses(here) == ""
    here.engine.finish()
    here.settle()
    assert here.find("file_do_button").isEnabled() and not here.find("file_problem").isVisible()
    here.clicks("file_cancel_button")
    assert (here.desk.program.paths.models / "apple.gguf").exists()


def test_all_parts_go_and_a_trash_that_is_none_is_told(here: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    files, folder = here.desk.program.library_files, here.desk.program.paths.models

    def none(_path: str) -> str:
        raise NoTrash

    chooses(here, "split")
    tools = files._tools
    monkeypatch.setattr(files, "_tools", tools._replace(trash=none))
    dialog = opens(here, "library_trash_button", "trash_model_dialog")
    assert "Its 3 files go together" in uses(here)
    here.clicks("file_do_button")
    here.desk.until(lambda: not files.is_busy and files.is_ready)
    assert "There is no trash for the disk" in here.reads("file_problem") and dialog.isVisible()
    assert len(list(folder.glob("split*"))) == 3
    monkeypatch.setattr(files, "_tools", tools)
    here.clicks("file_do_button")
    here.desk.until(lambda: not dialog.isVisible())
    assert not list(folder.glob("split*"))


def test_a_failure_is_told_also_to_whoever_closed_the_dialog(here: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    files = here.desk.program.library_files

    def none(_path: str) -> str:
        raise NoTrash

    monkeypatch.setattr(files, "_tools", files._tools._replace(trash=none))
    dialog = opens(here, "library_trash_button", "trash_model_dialog")
    here.clicks("file_do_button")
    dialog.reject()
    here.desk.until(lambda: not files.is_busy)
    assert "There is no trash for the disk" in here.desk.told
    listed = here.find_as(QListView, "library_list")
    assert listed.isVisible()


def test_a_dialog_that_was_closed_listens_no_longer(here: Stage) -> None:
    opens(here, "library_rename_button", "rename_model_dialog").reject()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    here.desk.program.library_files.changed.emit()


def test_the_dialog_closes_with_the_window(here: Stage) -> None:
    opens(here, "library_rename_button", "rename_model_dialog")
    here.window.close()
    here.desk.program.session.changed.emit()


def test_a_model_that_vanishes_leaves_the_keyboard_in_no_field_of_another(here: Stage) -> None:
    program = here.desk.program
    name = here.find("library_name_line")
    name.setFocus()
    (program.paths.models / "apple.gguf").unlink()
    program.models.refresh()
    here.desk.until(lambda: len(rows(here)) == 2)
    assert here.window.focusWidget() is here.find("library_list")


def test_a_new_name_leaves_the_keyboard_where_it_was(here: Stage) -> None:
    here.find("library_rename_button").setFocus()
    dialog = opens(here, "library_rename_button", "rename_model_dialog")
    types(here, "pear")
    here.clicks("file_do_button")
    here.desk.until(lambda: not dialog.isVisible() and any(row.startswith("pear\n") for row in rows(here)))
    assert here.window.focusWidget() is here.find("library_rename_button")
