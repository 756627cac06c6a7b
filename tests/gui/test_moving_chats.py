"""Conversations go into files and come out of them in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QListWidget, QPushButton, QStyle

from app.gui.history.moving_dialog import PADDING_PX, ImportDialog
from app.gui.history.view import HistoryList
from app.services.importers.chat_file import ChatLines
from tests.gui.conftest import Stage
from tests.gui.test_message_keys import say
from tests.store.shelf import lose

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def talked(ready: Stage) -> Stage:
    """Return a window with two chats."""
    ready.desk.program.conversations.start()
    ready.settle()
    say(ready, "One", "*1*")
    ready.desk.program.conversations.new()
    say(ready, "Two", "2")
    return ready


def chooses(stage: Stage, action: str, name: str, path: Path) -> None:
    """Choose a file in the dialog that an action opens, once an earlier one is gone."""
    stage.bot.waitUntil(lambda: stage.window.findChild(QFileDialog, name) is None, timeout=60_000)
    stage.triggers(action)
    dialog = stage.find_as(QFileDialog, name)
    dialog.selectFile(str(path))
    dialog.accept()


def waits(stage: Stage) -> None:
    program = stage.desk.program
    stage.desk.until(lambda: not program.chat_export.is_busy and not program.chat_import.is_busy)
    stage.settle()


@pytest.mark.parametrize(("ending", "said"), [("json", '"chats":['), ("md", "## User\n\nTwo"), ("html", "<article")])
def test_the_ending_says_how_the_shown_chat_is_written(ending: str, said: str, talked: Stage, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    chooses(talked, "export_chat_action", "export_dialog", path)
    waits(talked)
    text = path.read_text(encoding="utf-8")
    assert said in text and "One" not in text
    assert talked.desk.told == f"Saved as {path}"


def test_a_place_that_cannot_be_written_is_told(talked: Stage, tmp_path: Path) -> None:
    program = talked.desk.program
    path = tmp_path / "a.json"
    chooses(talked, "export_chat_action", "export_dialog", path)
    waits(talked)
    path.unlink()
    path.mkdir()
    (path / "in the way").touch()
    assert program.chat_export.begin(path, program.conversations.heads, ChatLines())
    waits(talked)
    assert "could not be saved" in talked.desk.told


def test_what_could_not_be_read_of_chats_is_told_of_all_of_them(talked: Stage, tmp_path: Path) -> None:
    lose(tmp_path, "attachment")
    chooses(talked, "export_chat_action", "export_dialog", tmp_path / "one.json")
    waits(talked)
    assert talked.desk.told == "A part of “Two” could not be read; the rest of it is saved."
    chooses(talked, "export_all_action", "export_dialog", tmp_path / "all.json")
    waits(talked)
    parts = "Parts of 2 conversations could not be read; the rest of them is saved: "
    assert talked.desk.told == f"{parts}“Two”, “One”"
    for number in range(5):
        talked.desk.program.conversations.new()
        say(talked, f"More {number}", "1")
    chooses(talked, "export_all_action", "export_dialog", tmp_path / "more.json")
    waits(talked)
    assert "Parts of 7 conversations" in talked.desk.told
    assert "“One”" not in talked.desk.told and talked.desk.told.endswith(", …")


def test_all_chats_come_back_into_an_empty_window(talked: Stage, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    chooses(talked, "export_all_action", "export_dialog", path)
    assert talked.find_as(QLabel, "export_chats_dialog_said").text().startswith("0 of 2")
    waits(talked)
    assert not [each for each in talked.window.findChildren(QDialog) if each.isVisible()]
    path.write_bytes(path.read_bytes().replace(b'"title":"One"', b'"title":"Back"'))
    chooses(talked, "import_chats_action", "import_dialog", path)
    waits(talked)
    said = talked.find_as(QLabel, "import_chats_dialog_said").text().replace("\xa0", " ")
    assert "1 conversation was imported" in said and "1 is here already" in said
    assert [head.title for head in talked.desk.program.conversations.heads].count("Back") == 1
    assert not talked.find_as(QListWidget, "import_unread_list").isVisible()


def test_what_could_not_be_read_is_listed_with_its_reason(talked: Stage, tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    path.write_text("{}")
    chooses(talked, "import_chats_action", "import_dialog", path)
    waits(talked)
    listed = talked.find_as(QListWidget, "import_unread_list")
    assert listed.isVisible() and listed.count() == 1
    assert "no conversations that can be read here" in listed.item(0).text() and "no.json" in listed.item(0).text()


def test_an_import_is_stopped_by_its_button(talked: Stage, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    chooses(talked, "export_all_action", "export_dialog", path)
    waits(talked)
    chooses(talked, "import_chats_action", "import_dialog", path)
    button = talked.find_as(QPushButton, "import_chats_dialog_button")
    assert button.text() == "Stop"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert talked.desk.program.chat_import.report.is_cancelled and not talked.desk.program.chat_import.is_busy


def test_without_a_chat_there_is_nothing_to_export(ready: Stage) -> None:
    actions = ready.window.actions_by_name
    assert not actions["export_chat_action"].isEnabled() and not actions["export_all_action"].isEnabled()
    say(ready, "One", "1")
    assert actions["export_chat_action"].isEnabled() and actions["export_all_action"].isEnabled()


def test_every_line_of_what_could_not_be_read_is_seen(talked: Stage, tmp_path: Path) -> None:
    paths = [tmp_path / f"{'chats ' * 11}{'i' * length}.json" for length in range(0, 40, 2)]
    for path in paths:
        path.write_text("{}")
    talked.desk.program.chat_import.begin(paths)
    dialog = ImportDialog(talked.desk.program.chat_import, talked.window)
    dialog.open()
    waits(talked)
    listed = talked.find_as(QListWidget, "import_unread_list")
    heights = []
    for row in range(listed.count()):
        item, place = listed.item(row), listed.visualItemRect(listed.item(row))
        place.setWidth(min(place.width(), listed.viewport().width()))  # more of it is never seen
        room = place.adjusted(PADDING_PX, 5, -PADDING_PX, -5)
        margin = 2 * (listed.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, listed) + 1)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        needed = listed.fontMetrics().boundingRect(0, 0, room.width() - margin, 10_000, flags, item.text())
        assert needed.height() <= room.height(), item.text()
        heights.append(needed.height())
    assert len(set(heights)) > 1
    dialog.close()


def test_a_row_of_the_list_exports_its_chat_and_a_folder_the_chats_in_it(talked: Stage, tmp_path: Path) -> None:
    program, chats = talked.desk.program, talked.find_as(HistoryList)
    model = chats.model()
    say(talked, "More", "3")
    first = next(head.id for head in program.conversations.heads if head.title == "One")
    program.chat_folders.make("Empty")
    program.chat_folders.move(first, program.chat_folders.make("My work"))
    rows = {str(model.index(row, 0).data()): model.index(row, 0) for row in range(model.rowCount())}
    for row, entry, name, holds in (
        ("Two", "export", "Two.json", '"Two"'),
        ("My work", "export_folder", "My work.json", '"One"'),
    ):
        chats.show_menu(rows[row], chats.visualRect(rows[row]).center())
        chosen = {action.objectName(): action for action in chats.menu.actions() if action.isVisible()}
        assert {"export", "export_folder"} & set(chosen) == {entry}
        chosen[entry].trigger()
        chats.menu.hide()
        dialog = talked.find_as(QFileDialog, "export_dialog")
        assert [Path(path).name for path in dialog.selectedFiles()] == [name]
        dialog.selectFile(str(tmp_path / name))
        dialog.accept()
        waits(talked)
        talked.bot.waitUntil(lambda: talked.window.findChild(QFileDialog, "export_dialog") is None, timeout=60_000)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert f'"title":{holds}' in text and text.count('"title":') == 1
    chats.show_menu(rows["Empty"], chats.visualRect(rows["Empty"]).center())
    (entry_of_none,) = [action for action in chats.menu.actions() if action.objectName() == "export_folder"]
    assert entry_of_none.isVisible() and not entry_of_none.isEnabled()
    chats.menu.hide()
