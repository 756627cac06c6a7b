from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QToolButton

from app.core.commands import Load
from app.core.events import ModelsListed
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_the_menu_lists_the_models_that_are_there_and_why_one_cannot_be_used(ready: Stage, model: Path) -> None:
    folder = ready.desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "good.gguf").write_bytes(model.read_bytes())
    (folder / "bad.gguf").write_text("<html>")
    ready.desk.program.models.refresh()
    ready.desk.until(lambda: ready.desk.program.models.found)
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    by_text = {action.text().split(" ·")[0]: action for action in menu.actions()}
    assert not by_text["bad"].isEnabled()
    assert "web page" in by_text["bad"].toolTip()
    loads = len(ready.engine.all(Load))
    by_text["good"].trigger()
    ready.desk.until(lambda: len(ready.engine.all(Load)) > loads)
    assert ready.engine.load.path == str(folder / "good.gguf")


def test_the_loaded_model_is_listed_and_ticked_wherever_it_was_opened(ready: Stage, model: Path) -> None:
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    first = menu.actions()[0]
    assert (first.text().split(" ·")[0], first.isChecked(), first.toolTip()) == ("tiny", True, str(model))
    assert menu.actions()[1].isSeparator()


def test_a_loaded_model_that_is_listed_under_another_path_is_ticked_once(stage: Stage, model: Path) -> None:
    folder = stage.desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "link.gguf").symlink_to(model)
    stage.load(model)
    stage.desk.program.models.take(ModelsListed(stage.desk.program.models.list_now([folder])))
    menu = stage.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()[:2]] == [True, False]
    assert menu.actions()[1].isSeparator()


def test_the_dialog_starts_where_the_loaded_model_lies(ready: Stage, model: Path) -> None:
    ready.triggers("open_model_action")
    dialog = ready.find_as(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == model.parent
    dialog.close()


def test_the_dialog_starts_in_the_first_folder_that_exists(stage: Stage, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    models = stage.desk.program.models
    models._folders = (tmp_path / "none", there)
    stage.triggers("open_model_action")
    dialog = stage.find_as(QFileDialog)
    assert Path(dialog.directory().absolutePath()) == there
    dialog.close()


def test_a_menu_that_is_open_shows_what_the_search_behind_it_finds(ready: Stage, model: Path) -> None:
    folder = ready.desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "new.gguf").write_bytes(model.read_bytes())
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.popup(ready.window.pos())
    assert not any(action.text().startswith("new") for action in menu.actions())
    ready.desk.until(lambda: ready.desk.program.models.found)
    assert any(action.text().startswith("new") for action in menu.actions())
    kept = menu.actions()
    ready.desk.program.models.changed.emit()
    assert menu.actions() == kept
    menu.close()
