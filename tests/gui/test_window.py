from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QMenu,
    QMessageBox,
    QWidget,
)
from shiboken6 import isValid

from app.core.commands import Load
from app.core.errors import UserError
from app.core.words import translate
from app.gui.application import Errors, refuse_without_screen
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

NAMES = [
    "composer",
    "send_button",
    "stop_button",
    "transcript",
    "new_chat_button",
    "model_button",
    "load_progress",
    "prefill_progress",
    "notice_bar",
    "ttft_value",
    "prefill_rate_value",
    "decode_rate_value",
    "kv_gauge",
    "kv_value",
    "stop_reason_value",
    "temperature_slider",
    "temperature_box",
    "top_k_slider",
    "top_k_box",
    "top_p_slider",
    "top_p_box",
    "min_p_slider",
    "min_p_box",
    "repeat_penalty_slider",
    "repeat_penalty_box",
    "seed_box",
    "max_tokens_box",
    "when_full_box",
    "preset_box",
]


def test_every_agreed_name_is_there_and_says_what_it_is(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.fail("prompt_too_long")
    ready.settle()
    assert [name for name in NAMES if not ready.find(name).accessibleName()] == []


def test_the_theme_can_be_changed_by_an_action_of_the_agreed_name(stage: Stage) -> None:
    assert stage.find_as(QAction, "theme_action").text()


def test_everything_that_can_be_used_has_an_accessible_name(ready: Stage) -> None:
    nameless = [
        widget
        for kind in (QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox)
        for widget in ready.window.findChildren(kind)
        if not widget.accessibleName()
        and not getattr(widget, "text", str)()
        and not widget.objectName().startswith("qt_")
        and type(widget).__name__ != "QScrollBar"
    ]
    assert nameless == []


def test_labels_never_interpret_what_they_show(ready: Stage) -> None:
    with_text = [each for each in ready.window.findChildren(QLabel) if each.text()]
    assert with_text
    assert {each.textFormat() for each in with_text} == {Qt.TextFormat.PlainText}


def test_without_a_model_the_window_says_what_to_do(stage: Stage) -> None:
    assert stage.reads("model_button") == "No model"
    assert stage.sees("open_model_button")
    assert not stage.sees("notice_bar")


def test_loading_is_shown_with_its_progress_and_the_name(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    stage.engine.progress(42)
    stage.settle()
    assert stage.sees("load_progress")
    assert stage.find("load_progress").property("value") == 42
    stage.engine.loaded()
    stage.settle()
    assert not stage.sees("load_progress")
    assert stage.reads("model_button").startswith("tiny")


def test_a_load_can_be_stopped(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    stage.clicks("cancel_load_button")
    assert stage.engine.cancelled == [stage.engine.load.request]


def test_an_engine_that_died_can_be_restarted_from_the_notice(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.engine.die(ready.engine.question.request)
    ready.settle()
    assert ready.sees("notice_bar")
    assert "Your chat is safe" in ready.reads("notice_text")
    ready.clicks("notice_action")
    ready.desk.until(lambda: len(ready.engine.all(Load)) == 2)
    assert not ready.sees("notice_bar")
    assert ready.transcript_text() == "Hi\n\nHalf"


def test_the_lines_of_the_log_can_be_read(ready: Stage) -> None:
    ready.engine.die()
    ready.settle()
    ready.clicks("notice_details")
    box = ready.find_as(QMessageBox)
    assert box.detailedText() == "a line of a log"
    assert box.textFormat() is Qt.TextFormat.PlainText
    box.close()


def test_a_notice_can_be_dismissed(ready: Stage) -> None:
    ready.engine.die()
    ready.settle()
    ready.clicks("notice_close")
    assert not ready.sees("notice_bar")


def test_a_chosen_file_is_loaded(stage: Stage, model: Path) -> None:
    stage.clicks("open_model_button")
    dialog = stage.find_as(QFileDialog)
    dialog.fileSelected.emit(str(model))
    dialog.close()
    stage.desk.until(lambda: stage.engine.sent)
    assert stage.engine.load.path == str(model)


def test_a_model_without_a_template_gets_the_one_that_is_chosen(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.fail("template_missing")
    ready.settle()
    ready.clicks("notice_action")
    names = ready.desk.program.templates.names()
    menu = next(each for each in ready.window.findChildren(QMenu) if [a.text() for a in each.actions()] == names)
    menu.actions()[0].trigger()
    menu.close()
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.template == ready.desk.program.resources.template(names[0])


def drop(stage: Stage, path: Path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(10, 10), Qt.DropAction.CopyAction, data, buttons, keys)
    enter.ignore()
    QApplication.sendEvent(stage.window, enter)
    if enter.isAccepted():
        event = QDropEvent(QPointF(10, 10), Qt.DropAction.CopyAction, data, buttons, keys)
        QApplication.sendEvent(stage.window, event)
    return enter.isAccepted()


def test_a_dropped_model_is_loaded(stage: Stage, model: Path) -> None:
    assert drop(stage, model)
    stage.desk.until(lambda: stage.engine.sent)
    assert stage.engine.load.path == str(model)


def test_both_panels_can_be_hidden_and_stay_hidden_the_next_time(stage: Stage) -> None:
    assert stage.sees("ttft_value")
    stage.triggers("panel_action")
    assert not stage.sees("ttft_value")
    stage.triggers("history_action")
    assert not stage.sees("history_pane")
    stage.window.close()
    values = stage.desk.program.settings.values
    assert (values.panel_shown, values.history_shown) == (False, False)


def test_an_error_that_nobody_expected_is_logged_and_told_once(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    errors = Errors(stage.desk.program)
    for _ in range(3):
        try:
            raise ZeroDivisionError
        except ZeroDivisionError as error:
            errors.take_one(error)
    assert "ZeroDivisionError" in stage.reads("notice_text")
    assert caplog.text.count("An error that nobody expected") == 1


def test_nothing_calls_the_window_after_it_was_closed(ready: Stage) -> None:
    ready.sends("Hi")
    ready.window.close()
    ready.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(ready.window)
    ready.desk.answer("Hello")
    ready.engine.die()
    ready.settle()
    assert ready.desk.program.chat.turns[1].text == "Hello"


def test_where_there_is_no_screen_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(UserError, match="no screen"):
        refuse_without_screen({"DISPLAY": ""})
    refuse_without_screen({"WAYLAND_DISPLAY": "wayland-0"})
    monkeypatch.setattr(sys, "platform", "win32")
    refuse_without_screen({})


def whole(stage: Stage, name: str) -> bool:
    widget: QWidget = stage.find(name)
    place = widget.rect().translated(widget.mapTo(stage.window, QPoint(0, 0)))
    return widget.isVisible() and stage.window.rect().contains(place)


def test_the_smallest_window_shows_the_composer_and_the_drawers_whole(stage: Stage) -> None:
    stage.window.panes.moves = False
    stage.window.resize(900, 600)
    assert whole(stage, "send_button")
    stage.triggers("panel_action")
    assert whole(stage, "ttft_value")
    assert whole(stage, "side_panel")
    stage.triggers("history_action")
    assert whole(stage, "history_pane")


def test_the_program_started_again_brings_the_window_to_the_front(stage: Stage, model: Path) -> None:
    stage.window.showMinimized()
    stage.desk.program.summoned.emit("")
    assert not stage.window.isMinimized()
    assert stage.window.isVisible()
    assert stage.engine.sent == []
    stage.desk.program.summoned.emit(str(model))
    stage.desk.until(lambda: stage.engine.sent)
    assert stage.engine.load.path == str(model)


def test_everything_that_people_should_know_of_a_load_is_read(ready: Stage, model: Path) -> None:
    ready.desk.begin_load(model)
    ready.engine.loaded(remarks=(translate("Test", "The first."), translate("Test", "The second.")))
    ready.desk.settle()
    assert ready.reads("notice_text") == "The first. The second."
    assert not ready.sees("notice_action")


def test_a_window_is_never_larger_than_its_screen(stage: Stage) -> None:
    saved = stage.window.saved_geometry()
    stage.window.resize(3000, 2000)
    stage.window.use_geometry(stage.window.saved_geometry())
    assert stage.window.screen().availableGeometry().contains(stage.window.geometry())
    stage.window.use_geometry(saved)
    assert stage.window.screen().availableGeometry().contains(stage.window.geometry())


def test_a_window_that_has_no_frame_yet_leaves_room_for_one(stage: Stage) -> None:
    window = stage.window
    free = window.screen().availableGeometry().height()
    window.hide()
    window.resize(800, free)
    window.use_geometry("")
    assert free - 60 < window.height() < free - 15, "a bar with its title stands over it"


@pytest.mark.parametrize("width", [1280, 1279, 1135, 1062, 988, 839, 701, 700])
def test_answers_stand_exactly_above_the_composer(ready: Stage, width: int) -> None:
    ready.window.resize(width, 700)
    ready.sends("Hello")
    ready.settle()
    page = ready.window.parts.chat_page
    place = page.transcript.places.footer()
    assert place is not None
    place.translate(page.transcript.viewport().mapTo(page, QPoint(0, 0)))
    below = page.composer.rect().translated(page.composer.mapTo(page, QPoint(0, 0)))
    assert (place.left(), place.right()) == (below.left(), below.right())
