from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QIcon, QPixmap, QResizeEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton, QToolButton

from app.core.commands import Load
from app.core.job_events import ModelsListed
from app.core.metrics import DeviceMemory
from app.core.model import FoundModel
from app.core.words import Sentence
from app.gui.widgets.words import hint_of
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_the_menu_lists_the_models_that_are_there_and_why_one_cannot_be_used(ready: Stage) -> None:
    folder = ready.desk.program.paths.models
    folder.mkdir(parents=True)
    write_tiny_llama(folder / "good.gguf", seed=2)
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
    assert (first.text().split(" ·")[0], first.isChecked()) == ("tiny", True)
    assert hint_of(str(model)) in first.toolTip()
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


def test_the_menu_tells_whose_a_model_is_and_which_parts_are_there(ready: Stage, tmp_path: Path) -> None:
    found = [
        FoundModel(str(tmp_path / "a.gguf"), 1, "own", kind="chat"),
        FoundModel(str(tmp_path / "b.gguf"), 1, "theirs", kind="chat", origin="lm_studio"),
        FoundModel(str(tmp_path / "c.gguf"), 1, "cached", kind="chat", origin="hub_cache", parts=3, parts_wanted=3),
        FoundModel(str(tmp_path / "e.gguf"), 1, "unread", is_read=False),
        FoundModel(
            str(tmp_path / "d.gguf"), 1, "half", parts=2, parts_wanted=3, problem=Sentence("T", "Incomplete.")
        ),
    ]
    ready.desk.program.models.take(ModelsListed(tuple(found)))
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    texts = {action.text().split(" ·")[0]: action.text().split("\t")[0].split(" · ")[3:] for action in menu.actions()}
    assert (texts["own"], texts["theirs"], texts["cached"]) == ([], ["LM Studio"], ["Hugging Face"])
    assert texts["half"] == ["2 of 3 parts present"]
    (unread,) = [action for action in menu.actions() if action.text().startswith("unread")]
    assert (unread.isEnabled(), "being looked at" in unread.toolTip()) == (False, True)


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
    models.refresh()
    stage.desk.until(lambda: models.folder == there)
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
    assert "a very small model, to try the program" in menu.actions()[0].text()
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


def unload(stage: Stage) -> None:
    menu = stage.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text().startswith("Unload")).trigger()
    stage.settle()


def test_the_menu_opens_under_its_button_and_begins_where_it_begins(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "model_button")
    menu, places = button.menu(), []

    def look() -> None:
        places.append(menu.geometry())
        menu.close()

    QTimer.singleShot(0, look)  # the click waits until the menu is closed
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    (place,) = places
    corner = button.mapToGlobal(button.rect().bottomLeft())
    most = button.screen().availableGeometry().right() - place.width()  # all of it is on the screen
    assert (place.left(), place.top()) == (min(corner.x(), most), corner.y() + 1)
    assert button.layoutDirection() == menu.layoutDirection() == Qt.LayoutDirection.LeftToRight


def test_the_arrow_of_the_button_stands_after_its_text(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "model_button")
    with_arrow = button.grab().toImage()
    half = QRect(0, 0, with_arrow.width() // 2, with_arrow.height())
    clear = QPixmap(button.iconSize())
    clear.fill(Qt.GlobalColor.transparent)
    button.setIcon(QIcon(clear))
    without = button.grab(QRect(0, 0, with_arrow.width(), with_arrow.height())).toImage()
    assert with_arrow != without
    assert with_arrow.copy(half) == without.copy(half)


def test_looking_at_the_menu_and_choosing_a_file_touch_no_file_here(
    ready: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[object] = []
    for name in ("stat", "lstat"):
        asked = getattr(os, name)

        def look(path: object, asked: object = asked, **how: object) -> object:
            if threading.current_thread() is threading.main_thread():
                touched.append(path)
            return asked(path, **how)  # type: ignore[operator]

        monkeypatch.setattr(os, name, look)
    ready.find_as(QToolButton, "model_button").menu().aboutToShow.emit()
    ready.triggers("open_model_action")
    ready.find_as(QFileDialog).close()
    assert touched == []


def test_figures_of_the_button_s_name_are_grouped_as_everywhere(ready: Stage) -> None:
    assert ready.find("model_button").accessibleName().endswith("context 4,096")


def test_unloading_says_what_is_free_again_and_loads_again_at_a_click(ready: Stage, model: Path) -> None:
    info = ready.desk.program.session.model
    assert info is not None
    memory = (DeviceMemory("CPU", 92 << 20, 180 << 20, 23 << 20),)
    session = ready.desk.program.session
    assert session.ref is not None
    session._loaded = (msgspec.structs.replace(info, memory=memory), session.ref)
    unload(ready)
    assert ready.engine.unloaded == 1
    assert ready.reads("model_button") == "No model loaded"
    assert "loads tiny again" in ready.find("model_button").accessibleName()
    assert ready.reads("notice_text") == "tiny was unloaded: 295 MiB are free again."
    assert ready.reads("notice_action") == "Load"
    loads = len(ready.engine.all(Load))
    ready.clicks("notice_action")
    ready.desk.until(lambda: len(ready.engine.all(Load)) > loads)
    assert not ready.sees("notice_bar")
    assert ready.engine.load.path == str(model)


def test_a_model_is_called_as_people_call_it_when_it_is_unloaded(ready: Stage) -> None:
    ref = ready.desk.program.session.ref
    assert ref is not None
    ready.desk.program.model_notes.call(ref.identity, "Scribe")
    unload(ready)
    assert ready.reads("notice_text") == "Scribe was unloaded: its memory is free again."


def test_unloading_gives_the_memory_back_and_the_next_question_loads_again(ready: Stage, model: Path) -> None:
    unload(ready)
    assert ready.engine.unloaded == 1
    assert ready.reads("notice_text") == "tiny was unloaded: its memory is free again."
    loads = len(ready.engine.all(Load))
    ready.sends("Hi")
    ready.desk.until(lambda: len(ready.engine.all(Load)) > loads)
    assert ready.engine.load.path == str(model)
    assert not ready.sees("notice_bar")


def test_a_file_that_cannot_be_used_is_named_in_the_notice_and_in_the_menu(ready: Stage, tmp_path: Path) -> None:
    folder = ready.desk.program.paths.models
    folder.mkdir(parents=True)
    broken = folder / "broken.gguf"
    broken.write_text("<html>")
    ready.window.model_dropped.emit(broken)
    ready.desk.until(lambda: ready.desk.program.notices.latest)
    assert ready.reads("notice_text").startswith("“broken.gguf”: ")
    ready.desk.program.models.refresh()
    ready.desk.until(lambda: ready.desk.program.models.found)
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.aboutToShow.emit()
    hint = next(action.toolTip() for action in menu.actions() if action.text().startswith("broken"))
    assert str(broken) in hint


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


def test_the_model_that_is_loaded_already_is_not_loaded_again(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "model_button")
    button.menu().aboutToShow.emit()
    loads = len(ready.engine.all(Load))
    next(action for action in button.menu().actions() if action.isChecked()).trigger()
    ready.settle()
    assert len(ready.engine.all(Load)) == loads


def test_a_menu_in_sight_takes_many_models_at_once(ready: Stage, tmp_path: Path) -> None:
    models = ready.desk.program.models
    menu = ready.find_as(QToolButton, "model_button").menu()
    menu.popup(ready.window.mapToGlobal(ready.window.rect().center()))
    laid_out = menu.height()
    sizes: list[int] = []
    menu.installEventFilter(watcher := _Resizes(menu, sizes))
    found = [FoundModel(str(tmp_path / f"{number}.gguf"), 1, f"m{number}", is_read=False) for number in range(40)]
    models.take(ModelsListed(tuple(found)))
    assert len(menu.actions()) > 40
    assert menu.isVisible() and menu.height() > laid_out
    assert len(sizes) <= 2
    menu.removeEventFilter(watcher)
    menu.close()


class _Resizes(QObject):
    """Notes how high a widget becomes."""

    def __init__(self, parent: QObject, sizes: list[int]) -> None:
        super().__init__(parent)
        self._sizes = sizes

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if isinstance(event, QResizeEvent):
            self._sizes.append(event.size().height())
        return False
