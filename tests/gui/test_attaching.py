"""Files are attached by button, key, drop and paste, and are a part of the message until somebody removes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QFrame, QPlainTextEdit

from app.core.attached_files import framed
from app.core.commands import Generate
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.widgets.drop_cover import DropCover
from app.system import documents
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage
from tests.gui.counting import counts, status
from tests.gui.test_composer import button_of, rows

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
CONTENT = "Grüße\nfrom a file"
FRAME = framed("notes.md", CONTENT)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text(CONTENT, "utf-8")
    return path


def data_of(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drops(stage: Stage, *paths: Path) -> None:
    data, copies = data_of(*paths), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(stage.window, QDragEnterEvent(QPoint(10, 10), copies, data, buttons, keys))
    assert stage.sees("drop_cover")
    QApplication.sendEvent(stage.window, QDropEvent(QPointF(10, 10), copies, data, buttons, keys))
    assert not stage.sees("drop_cover")


def pastes(stage: Stage, *paths: Path) -> None:
    QGuiApplication.clipboard().setMimeData(data_of(*paths))
    QTest.keySequence(stage.composer, QKeySequence(QKeySequence.StandardKey.Paste))


def chooses(stage: Stage, *paths: Path) -> None:
    dialog = stage.window.findChild(QFileDialog, "attach_dialog")
    assert dialog is not None
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.close()


def by_button(stage: Stage, *paths: Path) -> None:
    stage.clicks("attach_button")
    chooses(stage, *paths)


def by_action(stage: Stage, *paths: Path) -> None:
    stage.triggers("attach_action")
    chooses(stage, *paths)


@pytest.mark.parametrize("way", [drops, pastes, by_button, by_action])
def test_a_file_is_attached_in_every_way_and_goes_before_what_is_said_of_it(
    ready: Stage, notes: Path, way: Callable[..., None]
) -> None:
    way(ready, notes)
    assert ready.find("file_reading").accessibleName() == "Reading notes.md …"
    ready.desk.until(lambda: rows(ready))
    assert rows(ready) == [f"notes.md · {len(CONTENT)} characters · – tokens"]
    ready.sends("What is this?")
    assert ready.engine.chat.messages[0].text == f"{FRAME}\n\nWhat is this?"
    assert rows(ready) == []


def test_files_that_are_dropped_with_a_model_are_attached_beside_it(
    ready: Stage, notes: Path, tmp_path: Path
) -> None:
    model = tmp_path / "other.GGUF"
    model.write_bytes(b"GGUF")
    loaded: list[Path] = []
    ready.window.model_dropped.connect(loaded.append)
    data, keys = data_of(notes, model), Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(1, 1), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, keys)
    QApplication.sendEvent(ready.window, enter)
    said = "Let go to load this model and attach the other files to your message"
    assert ready.find_as(DropCover).accessibleName() == said
    drops(ready, notes, model)
    assert loaded == [model]
    ready.desk.until(lambda: rows(ready))
    assert rows(ready) == [f"notes.md · {len(CONTENT)} characters · – tokens"]


def test_a_model_that_is_dropped_alone_is_no_file_of_the_message(ready: Stage, tmp_path: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    drops(ready, tmp_path / "other.gguf")
    assert ready.desk.program.attaching.reading == ()


def test_whoever_attaches_a_file_from_another_page_sees_the_message_that_gets_it(ready: Stage, notes: Path) -> None:
    ready.triggers("planner_action")
    assert ready.window.page == "planner"
    drops(ready, notes)
    assert ready.window.page == "chat"
    ready.desk.until(lambda: rows(ready))


def test_a_drag_that_goes_away_leaves_the_window_as_it_was(ready: Stage, notes: Path) -> None:
    data = data_of(notes)  # the event does not own it
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(1, 1), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(ready.window, enter)
    QApplication.sendEvent(ready.window, QDragLeaveEvent())
    assert not ready.sees("drop_cover")


def test_nothing_is_sent_without_a_file_that_is_still_read(ready: Stage, notes: Path) -> None:
    drops(ready, notes)
    ready.sends("What is this?")
    assert ready.engine.all(Generate) == []
    assert not ready.find("send_button").isEnabled()
    ready.clicks("leave_file_button")
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[0].text == "What is this?"


def test_the_same_file_is_attached_once(ready: Stage, notes: Path) -> None:
    for _ in range(2):
        drops(ready, notes)
        assert ready.desk.program.notices.latest is None  # nothing is said of what is attached once
        ready.desk.until(lambda: not ready.desk.program.attaching.reading)
    assert len(rows(ready)) == 1
    assert "“notes.md” is attached already." in ready.desk.told


def test_a_file_that_no_room_is_left_for_is_named_and_not_taken(ready: Stage, tmp_path: Path) -> None:
    size = 600_000
    for name in ("first.txt", "second.txt"):
        (tmp_path / name).write_text(name[0] * size, "utf-8")
    drops(ready, tmp_path / "first.txt", tmp_path / "second.txt")
    ready.desk.until(lambda: not ready.desk.program.attaching.reading)
    assert ready.desk.told == (
        "“second.txt” does not fit into the message, which may have 1,000,000 characters: attach a part of it, "
        "or remove something from the message."
    )
    assert len(rows(ready)) == 1 and rows(ready)[0].startswith("first.txt")


def test_a_file_can_be_read_and_removed_again(ready: Stage, notes: Path) -> None:
    drops(ready, notes)
    ready.desk.until(lambda: rows(ready))
    QTest.mouseClick(button_of(ready, "show_pasted_button"), Qt.MouseButton.LeftButton)
    viewer = ready.window.findChild(PasteViewer)
    assert viewer is not None and viewer.windowTitle() == "notes.md"
    shown = viewer.findChild(QPlainTextEdit)
    assert shown is not None and shown.toPlainText() == CONTENT
    viewer.close()
    QTest.mouseClick(button_of(ready, "remove_pasted_button"), Qt.MouseButton.LeftButton)
    assert rows(ready) == []


def test_a_file_that_does_not_fit_is_said_with_the_numbers_before_it_is_sent(ready: Stage, notes: Path) -> None:
    drops(ready, notes)
    ready.desk.until(lambda: rows(ready))
    counts(ready, CONTEXT, CONTEXT + 20)
    assert rows(ready) == [f"notes.md · {len(CONTENT)} characters · {CONTEXT:,} tokens"]
    assert status(ready).startswith("Too long by 21 tokens")
    assert ready.sees("larger_context_button")
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.all(Generate) == []


def test_what_cannot_be_read_is_told_and_the_draft_stays(ready: Stage, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    ready.types("What is this?")
    drops(ready, tmp_path / "picture.png")
    ready.desk.until(lambda: not ready.desk.program.attaching.reading)
    assert "“picture.png” is neither text nor a PDF" in ready.desk.told
    assert (rows(ready), ready.composer.toPlainText()) == ([], "What is this?")


def test_a_file_is_undone_in_turn_with_what_was_typed(ready: Stage, notes: Path) -> None:
    drops(ready, notes)
    ready.desk.until(lambda: rows(ready))
    QTest.keySequence(ready.composer, QKeySequence(QKeySequence.StandardKey.Undo))
    assert rows(ready) == []
    QTest.keySequence(ready.composer, QKeySequence(QKeySequence.StandardKey.Redo))
    assert len(rows(ready)) == 1


def test_a_question_that_comes_back_has_its_files_apart(ready: Stage) -> None:
    page = ready.window.parts.chat_page
    page.composer.give_back(f"{FRAME}\n\nWhat is this?")
    assert rows(ready) == [f"notes.md · {len(CONTENT)} characters · – tokens"]
    assert ready.composer.toPlainText() == "What is this?"


def test_a_program_that_could_not_start_the_reader_says_so(
    ready: Stage, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(documents, "Child", refuse)
    drops(ready, notes)
    ready.desk.until(lambda: not ready.desk.program.attaching.reading)
    assert "no process could be started" in ready.desk.told


def test_a_sent_message_shows_its_files_apart_and_opens_them(ready: Stage) -> None:
    page = ready.window.parts.chat_page
    page.composer.give_back(f"{FRAME}\n\nWhat is this?")
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("It is text.")
    block = page.transcript.turns.blocks[0]
    assert block.text == "What is this?"
    assert ready.transcript_text().startswith(f"**notes.md**\n\n```\n{CONTENT}\n```\n\nWhat is this?")
    assert ready.desk.program.chat.shown.head.title == "What is this?"
    spot = page.transcript._spots_in_view()[0]
    assert spot.spot.kind == "file" and spot.spot.value == f"notes.md · {len(CONTENT)} characters"
    QTest.mouseClick(page.transcript.viewport(), Qt.MouseButton.LeftButton, pos=spot.spot.rect.center().toPoint())
    viewer = ready.window.findChild(PasteViewer)
    assert viewer is not None and viewer.windowTitle() == "notes.md"
    viewer.close()


def test_a_message_of_nothing_but_a_file_is_called_by_its_name(ready: Stage) -> None:
    page = ready.window.parts.chat_page
    page.composer.give_back(FRAME)
    ready.presses(Qt.Key.Key_Return)
    assert page.transcript.turns.blocks[0].text == ""
    assert ready.desk.program.chat.shown.head.title == "notes.md"


def test_the_menu_of_the_composer_pastes_files(ready: Stage, notes: Path) -> None:
    QGuiApplication.clipboard().setMimeData(data_of(notes))
    menu = ready.composer.createStandardContextMenu()
    paste = next(action for action in menu.actions() if action.objectName() == "edit-paste")
    assert paste.isEnabled()
    paste.trigger()
    menu.deleteLater()
    ready.desk.until(lambda: rows(ready))
    assert rows(ready) == [f"notes.md · {len(CONTENT)} characters · – tokens"]


def test_what_is_dragged_over_the_composer_is_the_windows(ready: Stage, notes: Path) -> None:
    data, keys = data_of(notes), Qt.KeyboardModifier.NoModifier
    over = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, keys)
    QApplication.sendEvent(ready.composer.viewport(), over)
    assert ready.sees("drop_cover")
    QApplication.sendEvent(ready.window, QDragLeaveEvent())


def test_every_file_that_waits_to_be_read_has_a_row(ready: Stage, tmp_path: Path) -> None:
    paths = [tmp_path / f"{letter}.txt" for letter in "abcde"]
    for path in paths:
        path.write_text(path.name, "utf-8")
    drops(ready, *paths)
    reading = [row for row in ready.window.findChildren(QFrame, "file_reading") if row.isVisibleTo(ready.window)]
    assert [row.accessibleName() for row in reading] == [f"Reading {path.name} …" for path in paths]
    ready.desk.until(lambda: len(rows(ready)) == len(paths))
    assert not ready.find("file_reading_list").isVisibleTo(ready.window)


def test_a_sent_message_says_how_many_tokens_its_files_had(ready: Stage) -> None:
    page = ready.window.parts.chat_page
    page.composer.give_back(f"{FRAME}\n\n{framed('b.txt', 'x')}\n\nWhat is this?")
    ready.presses(Qt.Key.Key_Return)
    assert next(spot.spot.value for spot in page.transcript._spots_in_view()).endswith("characters")
    ready.engine.prompt(files=(1234, 1))
    ready.settle()
    assert [spot.spot.value for spot in page.transcript._spots_in_view()] == [
        "notes.md · 1,234 tokens",
        "b.txt · 1 token",
    ]


@pytest.mark.parametrize("name", ["remove_pasted_button", "leave_file_button"])
def test_whoever_takes_a_file_away_goes_on_writing(ready: Stage, notes: Path, name: str) -> None:
    drops(ready, notes)
    if name == "remove_pasted_button":
        ready.desk.until(lambda: rows(ready))
    button = ready.find(name)
    button.setFocus()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    focus = ready.window.focusWidget()
    assert focus is ready.composer
    QTest.keyClicks(focus, "What is this?")
    assert ready.composer.toPlainText() == "What is this?"


def test_the_row_of_a_file_that_was_read_leaves_the_keyboard_to_the_draft(ready: Stage, notes: Path) -> None:
    drops(ready, notes)
    ready.find("leave_file_button").setFocus()
    ready.desk.until(lambda: rows(ready))
    assert ready.window.focusWidget() is ready.composer


def test_a_picture_that_is_pasted_is_told(ready: Stage) -> None:
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(0)
    QGuiApplication.clipboard().setImage(image)
    QTest.keySequence(ready.composer, QKeySequence(QKeySequence.StandardKey.Paste))
    assert ready.desk.told.startswith("Pictures cannot be attached")
    assert ready.composer.toPlainText() == ""


def test_files_are_taken_as_copies_whatever_is_proposed(ready: Stage, notes: Path) -> None:
    data, move = data_of(notes), Qt.DropAction.MoveAction
    both, shift = Qt.DropAction.CopyAction | move, Qt.KeyboardModifier.ShiftModifier
    enter = QDragEnterEvent(QPoint(10, 10), both, data, Qt.MouseButton.LeftButton, shift)
    drop = QDropEvent(QPointF(10, 10), both, data, Qt.MouseButton.LeftButton, shift)
    for event in (enter, drop):
        event.setDropAction(move)
        QApplication.sendEvent(ready.window, event)
        assert event.isAccepted()
        assert event.dropAction() == Qt.DropAction.CopyAction
    ready.desk.until(lambda: rows(ready))
