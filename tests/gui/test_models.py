from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton, QToolButton

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


def test_a_very_small_model_is_called_what_it_is(ready: Stage) -> None:
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    assert menu.actions()[0].text().endswith("a very small model, to try the program")
    assert ready.reads("welcome_title") == "Ask tiny anything"
    assert ready.reads("welcome_text").startswith("A very small model, to try the program")


def test_without_a_model_the_welcome_has_one_sentence_and_one_button(stage: Stage) -> None:
    assert stage.sees("open_model_button")
    assert stage.reads("welcome_title") == "Open a model to begin"
    shown = [each for each in stage.find("page").findChildren(QPushButton) if each.isVisibleTo(stage.window)]
    assert stage.find("open_model_button") in shown
    assert not any(each.text().startswith("Explain") for each in shown)
    stage.clicks("open_model_button")
    stage.find_as(QFileDialog).close()


def test_a_load_shows_how_far_it_is_and_can_be_stopped(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    stage.engine.progress(42.0)
    stage.settle()
    assert [stage.find(name).property("value") for name in ("load_progress", "welcome_progress")] == [42, 42]
    assert stage.sees("load_progress") and stage.sees("welcome_progress")
    assert stage.reads("welcome_title") == "Loading tiny"
    assert not stage.sees("open_model_button")
    stage.clicks("cancel_load_button")
    assert stage.engine.cancelled == [stage.engine.load.request]
    stage.engine.fail("cancelled", stage.engine.load.request)
    stage.settle()
    assert not stage.sees("load_progress") and not stage.sees("welcome_progress")


def test_a_starter_prompt_of_a_model_that_is_being_loaded_is_answered_afterwards(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    starter = next(
        each for each in stage.window.findChildren(QPushButton) if each.text() == "Explain why the sky is blue."
    )
    assert starter.isVisibleTo(stage.window)
    QTest.mouseClick(starter, Qt.MouseButton.LeftButton)
    stage.engine.loaded()
    stage.settle()
    assert stage.engine.chat.messages[-1].text == "Explain why the sky is blue."


def test_unloading_gives_the_memory_back_and_the_next_question_loads_again(ready: Stage, model: Path) -> None:
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text().startswith("Unload")).trigger()
    ready.settle()
    assert ready.engine.unloaded == 1
    loads = len(ready.engine.all(Load))
    ready.sends("Hi")
    ready.desk.until(lambda: len(ready.engine.all(Load)) > loads)
    assert ready.engine.load.path == str(model)


def test_models_that_are_chosen_quickly_end_with_the_last_one(ready: Stage, model: Path, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.gguf", "b.gguf")]
    for path in paths:
        path.write_bytes(model.read_bytes())
    for path in (*paths, paths[0]):
        ready.window.model_dropped.emit(path)
    loads = len(ready.engine.all(Load))
    ready.desk.until(lambda: len(ready.engine.all(Load)) > loads)
    ready.engine.loaded()
    ready.settle()
    assert ready.desk.loaded_path == str(paths[0])
    assert ready.find("model_button").property("text") == "a · Q4_1"
