"""The trash as people look into it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QWidget

from app.core.conversation import Trashed
from app.core.store_events import TrashRead
from app.gui.history.trash_dialog import TrashDialog
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def trash(ready: Stage) -> Stage:
    """Return a window with a deleted chat and a deleted branch, whose trash is open."""
    ready.desk.program.conversations.start()
    ready.settle()
    for question, answer in (("One", "1"), ("Two", "2")):
        ready.sends(question)
        ready.desk.answer(answer)
        ready.settle()
    program = ready.desk.program
    program.branches.delete(program.chat.turns[2])
    program.conversations.new()
    ready.sends("Another chat")
    ready.desk.answer("yes")
    ready.settle()
    program.conversations.delete(program.conversations.open_id)
    ready.triggers("trash_action")
    ready.settle()
    return ready


def in_use(dialog: TrashDialog) -> QWidget:
    focus: QWidget | None = dialog.focusWidget()
    assert focus is not None
    return focus


def entries(stage: Stage) -> list[str]:
    listed = stage.find_as(QListWidget, "trash_list")
    return [listed.item(row).text().replace("\u00a0", " ") for row in range(listed.count())]


def test_it_lists_what_was_deleted_the_latest_first(trash: Stage) -> None:
    chat, branch = entries(trash)
    assert chat.startswith("Chat “Another chat”\n")
    assert branch.startswith("“Two” in “One”\n")
    assert all("2 messages" in entry for entry in (chat, branch))


@pytest.mark.parametrize(
    ("messages", "lanes", "said"),
    [
        (1, 3, "1 message · 3 lanes of comparisons"),
        (2, 1, "2 messages · 1 lane of a comparison"),
        (0, 2, "2 lanes of comparisons"),
    ],
)
def test_lanes_that_nobody_kept_are_told_apart(trash: Stage, messages: int, lanes: int, said: str) -> None:
    shown = trash.desk.program.trash
    item = Trashed(1, 1, "One", "Two", messages, 1, lanes)
    shown.take(TrashRead(shown._requests, (item,)))
    (entry,) = entries(trash)
    assert f"\n{said} · deleted" in entry


def test_what_is_brought_back_is_shown_and_gone_from_the_list(trash: Stage) -> None:
    trash.clicks("trash_restore_button")
    trash.settle()
    assert [turn.text for turn in trash.desk.program.chat.turns] == ["Another chat", "yes"]
    assert len(entries(trash)) == 1
    trash.clicks("trash_restore_button")
    trash.settle()
    assert [turn.text for turn in trash.desk.program.chat.turns] == ["One", "1", "Two", "2"]
    assert trash.sees("trash_empty")
    assert not trash.find("trash_restore_button").isEnabled()


def test_what_is_removed_for_good_does_not_come_back(trash: Stage) -> None:
    listed = trash.find_as(QListWidget, "trash_list")
    listed.setCurrentRow(1)
    trash.clicks("trash_erase_button")
    trash.clicks("trash_really_button")
    trash.settle()
    assert len(entries(trash)) == 1
    assert not trash.find("trash_erase_button").isEnabled()
    listed.setCurrentRow(0)
    trash.clicks("trash_erase_button")
    trash.clicks("trash_really_button")
    trash.settle()
    assert trash.find_as(QLabel, "trash_empty").text() == "The trash is empty."


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return])
def test_nothing_goes_for_good_by_one_key_however_often_it_is_pressed(trash: Stage, key: Qt.Key) -> None:
    dialog = trash.find_as(TrashDialog)
    trash.find("trash_erase_button").setFocus()
    for _ in range(5):
        QTest.keyClick(in_use(dialog), key)
        trash.settle()
    assert len(entries(trash)) == 2


def test_what_was_asked_about_goes_and_no_other_takes_the_keyboard(trash: Stage) -> None:
    dialog = trash.find_as(TrashDialog)
    trash.find("trash_erase_button").setFocus()
    QTest.keyClick(in_use(dialog), Qt.Key.Key_Space)
    assert in_use(dialog).objectName() == "trash_keep_button"
    trash.find("trash_really_button").setFocus()
    for _ in range(5):
        QTest.keyClick(in_use(dialog), Qt.Key.Key_Return)
        trash.settle()
    assert len(entries(trash)) == 1
    listed = trash.find_as(QListWidget, "trash_list")
    assert in_use(dialog) is listed and listed.selectedItems() == []
    assert [turn.text for turn in trash.desk.program.chat.turns] == []


def test_the_question_is_left_before_the_dialog(trash: Stage) -> None:
    dialog = trash.find_as(TrashDialog)
    trash.clicks("trash_erase_button")
    assert trash.find("trash_question").isVisibleTo(dialog)
    QTest.keyClick(in_use(dialog), Qt.Key.Key_Escape)
    assert dialog.isVisible() and not trash.find("trash_question").isVisibleTo(dialog)
    trash.clicks("trash_erase_button")
    trash.find_as(QListWidget, "trash_list").setCurrentRow(1)  # it was not asked about
    assert not trash.find("trash_question").isVisibleTo(dialog)
    QTest.keyClick(in_use(dialog), Qt.Key.Key_Escape)
    assert not dialog.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_key_presses_the_button_that_has_the_keyboard(trash: Stage, key: Qt.Key) -> None:
    trash.find("trash_restore_button").setFocus()
    QTest.keyClick(trash.find("trash_restore_button"), key)
    trash.settle()
    assert [turn.text for turn in trash.desk.program.chat.turns] == ["Another chat", "yes"]


def test_a_day_that_is_still_to_come_is_not_told(trash: Stage) -> None:
    assert all("deleted today" in entry for entry in entries(trash))
    connection = trash.desk.store.work.database.connection
    assert connection is not None
    connection.execute(
        "UPDATE deletion SET at_ms = at_ms + 2 * 86400000 WHERE number = (SELECT MAX(number) FROM deletion)"
    )
    trash.desk.program.trash.look()
    trash.settle()
    chat, branch = entries(trash)
    assert "deleted" not in chat and "deleted today" in branch


def test_a_button_has_one_mark_of_the_keyboard_and_a_row_has_room(trash: Stage) -> None:
    dialog, button = trash.find_as(TrashDialog), trash.find("trash_erase_button")
    dialog.activateWindow()
    trash.bot.waitUntil(dialog.isActiveWindow)
    dialog.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as Tab does
    button.setFocus(Qt.FocusReason.TabFocusReason)
    picture = button.grab().toImage()
    inside = {picture.pixel(x, y) for x in range(6, picture.width() - 6) for y in range(3, 8)}
    assert len(inside) == 1  # nothing is painted between the ring and the words
    listed = trash.find_as(QListWidget, "trash_list")
    row = listed.visualItemRect(listed.item(0))
    assert row.height() >= 2 * listed.fontMetrics().lineSpacing() + 8


def test_what_is_brought_back_is_offered_no_longer_and_the_dialog_keeps_its_size(trash: Stage) -> None:
    dialog = trash.find_as(TrashDialog)
    size = dialog.size()
    assert trash.reads("notice_text") == "“Another chat” was deleted."
    trash.clicks("trash_restore_button")
    trash.settle()
    latest = trash.desk.program.notices.latest
    assert latest is None or latest.remedy == "undo_branch", "the chat is back: there is nothing to undo of it"
    trash.clicks("trash_restore_button")
    trash.settle()
    assert trash.desk.program.notices.latest is None
    assert not trash.find_as(QAction, "undo_delete_action").isEnabled()
    QApplication.sendPostedEvents()
    assert trash.sees("trash_empty") and dialog.size() == size


@pytest.mark.parametrize("is_branch", [True, False])
@pytest.mark.parametrize("button", ["notice_action", "notice_close"])
def test_the_keyboard_goes_from_a_notice_to_where_people_write(ready: Stage, button: str, is_branch: bool) -> None:
    ready.sends("One")
    ready.desk.answer("1")
    program = ready.desk.program
    if is_branch:
        program.branches.delete(program.chat.turns[1])
    else:
        program.conversations.delete(program.conversations.open_id)
    ready.find(button).setFocus()
    QTest.keyClick(ready.find(button), Qt.Key.Key_Space)
    ready.settle()
    assert not ready.sees("notice_bar")
    assert ready.composer.hasFocus()
    assert len(program.chat.turns) == (2 if button == "notice_action" else is_branch)
