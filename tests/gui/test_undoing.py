"""A chat that was deleted comes back by a button above everything and by Ctrl+Z; a chat is renamed from anywhere."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from app.core.words import translate
from app.gui.history.view import HistoryList
from app.gui.models.load_dialog import LoadOptionsDialog
from app.gui.notices import BRIEF_MS, OFFER_MS, NoticeBar
from app.services.notices import Notice
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
SMALLEST, WIDE = (900, 600), (1280, 800)
UNDO = Notice(translate("Test", "“Blue sky” was deleted."), level="hint", remedy="undo_delete", brief=True)
SAID = Notice(translate("Test", "Something small."), level="hint", brief=True)


@pytest.fixture
def chat(ready: Stage) -> Stage:
    """Return the stage with one chat, and the focus where a click on it leaves it."""
    ready.window.panes.moves = False
    ready.sends("Blue sky")
    ready.desk.answer("Hello")
    ready.composer.setFocus()
    return ready


def rows(stage: Stage) -> list[str]:
    model = stage.find_as(HistoryList).model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def in_use(stage: Stage) -> QWidget:
    """Return what has the focus; the window where nothing has it."""
    focus: QWidget | None = stage.window.focusWidget()
    return stage.window if focus is None else focus


def press(stage: Stage, keys: str) -> None:
    QTest.keySequence(in_use(stage), QKeySequence(keys))
    stage.settle()


def deletes(stage: Stage) -> None:
    chats = stage.find_as(HistoryList)
    chats.setFocus()
    chats.setCurrentIndex(chats.model().index(1, 0))
    press(stage, "Del")
    assert rows(stage) == []


def place(stage: Stage, name: str) -> QRect:
    widget = stage.find(name)
    return QRect(widget.mapTo(stage.window, QPoint()), widget.size())


def timer(stage: Stage) -> QTimer:
    found = stage.find_as(NoticeBar).findChild(QTimer)
    assert found is not None
    return found


def keys_in_menu(stage: Stage) -> list[str]:
    """Open the menu of the first chat with the right button and return which keys it promises: to open, rename, delete."""
    chats = stage.find_as(HistoryList)
    middle = chats.visualRect(chats.model().index(1, 0)).center()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(chats.viewport(), QContextMenuEvent(reason, middle, chats.viewport().mapToGlobal(middle)))
    menu = stage.find_as(QMenu, "conversation_menu")
    menu.close()
    texts = {action.objectName(): action.text() for action in menu.actions()}
    return [texts[name].partition("\t")[2] for name in ("open", "rename", "delete")]


@pytest.mark.parametrize("drawer", ["history_button", "panel_button"])
def test_what_can_be_undone_lies_above_a_drawer_and_beside_it(chat: Stage, drawer: str) -> None:
    chat.window.setMinimumSize(400, 300)  # on a small screen the right pane, too, is a drawer
    chat.window.resize(800, 600)
    chat.desk.program.notices.post(UNDO)
    chat.clicks(drawer)
    QApplication.sendPostedEvents()
    assert chat.sees("scrim")
    side = "history_pane" if drawer == "history_button" else "side_panel"
    button = place(chat, "notice_action")
    assert chat.window.childAt(button.center()) is chat.find("notice_action")
    assert not place(chat, "notice_text").united(place(chat, "notice_close")).intersects(place(chat, side))


def test_undo_is_reached_by_tab_out_of_a_drawer(chat: Stage) -> None:
    chat.window.resize(*SMALLEST)
    chat.clicks("history_button")
    deletes(chat)
    chat.clicks("history_button")  # the new chat that is shown instead closed it
    assert chat.sees("scrim")
    for _ in range(20):
        if in_use(chat) is chat.find("notice_action"):
            break
        QTest.keyClick(in_use(chat), Qt.Key.Key_Tab)
    assert chat.window.focusWidget() is chat.find("notice_action")
    QTest.keyClick(chat.find("notice_action"), Qt.Key.Key_Space)
    chat.settle()
    assert rows(chat)[1:] == ["Blue sky"]


def test_what_offers_something_stays_longer_and_waits_until_no_dialog_covers_it(chat: Stage) -> None:
    chat.desk.program.notices.post(SAID)
    assert timer(chat).interval() == BRIEF_MS
    chat.window.parts.chat_page.larger_context_wanted.emit()
    dialog = chat.find_as(LoadOptionsDialog)
    assert not timer(chat).isActive()
    chat.desk.program.notices.post(UNDO)
    assert not timer(chat).isActive()
    dialog.reject()
    assert timer(chat).isActive() and timer(chat).interval() == OFFER_MS == 2 * BRIEF_MS


@pytest.mark.parametrize("where", ["list", "composer", "button"])
def test_the_key_that_undoes_brings_a_deleted_chat_back(chat: Stage, where: str) -> None:
    deletes(chat)
    {"list": chat.find_as(HistoryList), "composer": chat.composer, "button": chat.find("panel_button")}[
        where
    ].setFocus()
    press(chat, "Ctrl+Z")
    assert rows(chat)[1:] == ["Blue sky"] and not chat.sees("notice_text")


def test_in_the_list_the_key_works_after_the_notice_has_gone_and_elsewhere_no_more(chat: Stage) -> None:
    chat.clicks("new_chat_button")
    chat.sends("Grass")
    chat.desk.answer("Green")
    chats = chat.find_as(HistoryList)
    chats.setFocus()
    chats.setCurrentIndex(chats.model().index(2, 0))
    press(chat, "Del")
    timer(chat).timeout.emit()
    chat.composer.setFocus()
    press(chat, "Ctrl+Z")
    assert rows(chat)[1:] == ["Grass"]
    chats.setFocus()
    press(chat, "Ctrl+Z")
    assert sorted(rows(chat)[1:]) == ["Blue sky", "Grass"]


def test_what_is_written_is_undone_first(chat: Stage) -> None:
    deletes(chat)
    chat.types("Hello")
    press(chat, "Ctrl+Z")
    assert (chat.composer.toPlainText(), rows(chat)) == ("", [])
    press(chat, "Ctrl+Z")
    assert rows(chat)[1:] == ["Blue sky"]


@pytest.mark.parametrize("size", [WIDE, SMALLEST])
def test_the_chat_that_is_shown_is_renamed_from_anywhere(chat: Stage, size: tuple[int, int]) -> None:
    chat.window.resize(*size)
    press(chat, "F2")
    assert chat.sees("history_pane")
    field = chat.find_as(QLineEdit, "conversation_title_field")
    assert chat.window.focusWidget() is field
    QTest.keyClicks(field, "Grass")
    QTest.keyClick(field, Qt.Key.Key_Return)
    chat.bot.waitUntil(lambda: rows(chat)[1:] == ["Grass"], timeout=60_000)
    assert chat.composer.toPlainText() == ""


def test_a_chat_that_has_not_begun_has_no_title_to_change(chat: Stage) -> None:
    assert chat.find_as(QAction, "rename_action").isEnabled()
    chat.clicks("new_chat_button")
    assert not chat.find_as(QAction, "rename_action").isEnabled()


def test_the_menu_of_a_row_promises_only_keys_that_work_from_where_the_focus_is(chat: Stage) -> None:
    assert keys_in_menu(chat) == ["", "F2", ""]
    chat.find_as(HistoryList).setFocus()
    assert keys_in_menu(chat) == ["", "F2", "Del"]
    chat.clicks("new_chat_button")
    chat.composer.setFocus()
    assert keys_in_menu(chat) == ["", "", ""]


def test_an_answer_without_text_leaves_the_clipboard_alone(ready: Stage) -> None:
    QGuiApplication.clipboard().setText("mine")
    ready.sends("Hi")
    press(ready, "Alt+C")
    assert QGuiApplication.clipboard().text() == "mine"
    ready.desk.answer("Hello")
    press(ready, "Alt+C")
    assert QGuiApplication.clipboard().text() == "Hello"


@pytest.mark.parametrize("where", ["list", "composer", "button"])
def test_a_deleted_folder_comes_back_by_button_and_key(chat: Stage, where: str) -> None:
    folders, chats = chat.desk.program.chat_folders, chat.find_as(HistoryList)
    folders.move(chat.desk.program.conversations.heads[0].id, folders.make("Skies"))
    assert rows(chat) == ["Skies", "Blue sky"]
    chats.setFocus()
    chats.setCurrentIndex(chats.model().index(0, 0))
    press(chat, "Del")
    assert rows(chat)[-1] == "Blue sky" and "Skies" not in rows(chat)
    assert "“Skies” was deleted" in chat.reads("notice_text")
    if where == "button":
        chat.clicks("notice_action")
    else:
        {"list": chats, "composer": chat.composer}[where].setFocus()
        press(chat, "Ctrl+Z")
    assert rows(chat) == ["Skies", "Blue sky"] and not chat.sees("notice_text")
