"""Chats that stay on top, and folders of chats, as somebody arranges them in the list."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex, QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.gui.history.model import HistoryModel, Role
from app.gui.history.view import HistoryList
from app.gui.shortcuts import Shortcuts
from tests.gui.conftest import Stage
from tests.gui.history_panel import GPU, OLD, SAMPLING, SKY, Seen
from tests.gui.test_keyboard import press
from tests.gui.test_message_keys import say

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
DAYS = ["Today", "Blue sky", "Sampling", "Yesterday", "GPU plan"]


@pytest.fixture
def seen(qtbot: QtBot) -> Iterator[Seen]:
    made = Seen(qtbot, SKY, SAMPLING, GPU)
    yield made
    made.menu.hide()


def folder(seen: Seen, name: str) -> QModelIndex:
    model = seen.list.model()
    assert isinstance(model, HistoryModel)
    return model.index_of_folder(name)


def opens_menu(seen: Seen, index: QModelIndex) -> None:
    seen.list.show_menu(index, seen.list.visualRect(index).bottomLeft())


def entry(seen: Seen, name: str, text: str = "") -> None:
    """Choose an entry of the menu of folders."""
    menu = seen.find(QMenu, "move_menu")
    action = next(each for each in menu.actions() if each.objectName() == name and text in each.text())
    assert action.isVisible()
    action.trigger()
    seen.menu.hide()


def with_folder(seen: Seen, name: str, *chats: int) -> None:
    made = seen.folders.make(name)
    for chat in chats:
        seen.folders.move(chat, made)


def test_a_pinned_chat_stands_on_top_and_goes_back(seen: Seen) -> None:
    opens_menu(seen, seen.index(3))
    seen.chooses("pin")
    assert seen.texts() == ["Pinned", "GPU plan", "Today", "Blue sky", "Sampling"]
    assert seen.index(3).data(Qt.ItemDataRole.AccessibleTextRole) == "GPU plan, yesterday, pinned"
    opens_menu(seen, seen.index(3))
    seen.chooses("unpin")
    assert seen.texts() == DAYS


def test_a_new_folder_takes_the_chat_and_is_named_at_once(seen: Seen) -> None:
    opens_menu(seen, seen.index(2))
    entry(seen, "new_folder")
    assert seen.title_typed() == "New folder"
    seen.enters("Work")
    assert seen.texts() == ["Work", "Sampling", "Today", "Blue sky", "Yesterday", "GPU plan"]
    assert seen.folders.names == ("Work",)
    assert seen.index(2).data(Role.INSIDE) == "Work"
    said = seen.index(2).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Sampling, today, in the folder “Work”"


def test_a_chat_is_moved_by_its_menu_into_a_folder_and_out_of_it(seen: Seen) -> None:
    with_folder(seen, "Work")
    opens_menu(seen, seen.index(1))
    entry(seen, "folder_entry", "Work")
    assert seen.texts()[:2] == ["Work", "Blue sky"]
    opens_menu(seen, seen.index(1))
    entry(seen, "no_folder")
    assert seen.texts() == ["Work", *DAYS]


def test_a_folder_is_folded_by_a_click_and_by_keys(seen: Seen) -> None:
    with_folder(seen, "Work", 1)
    place = seen.list.visualRect(folder(seen, "Work")).center()
    QTest.mouseClick(seen.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert seen.texts()[:2] == ["Work", "Today"]
    seen.list.setCurrentIndex(folder(seen, "Work"))
    said = seen.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Folder “Work”, 1 chat, folded"
    for key, second in (
        (Qt.Key.Key_Right, "Blue sky"),
        (Qt.Key.Key_Right, "Blue sky"),
        (Qt.Key.Key_Left, "Today"),
        (Qt.Key.Key_Return, "Blue sky"),
    ):
        seen.presses(key)
        assert seen.texts()[1] == second


def test_a_folder_that_is_deleted_leaves_its_chats(seen: Seen) -> None:
    with_folder(seen, "Work", 1, 3)
    seen.list.setCurrentIndex(folder(seen, "Work"))
    seen.presses(Qt.Key.Key_Delete)
    assert seen.texts() == DAYS
    assert not [wish for wish in seen.service.wishes if wish[0] == "delete"]


def test_a_folder_is_renamed_with_its_chats_and_not_to_the_name_of_another(seen: Seen) -> None:
    with_folder(seen, "Work", 1)
    with_folder(seen, "Play")
    seen.list.setCurrentIndex(folder(seen, "Work"))
    seen.presses(Qt.Key.Key_F2)
    seen.enters("play")
    assert seen.folders.names == ("Play", "Work")
    seen.presses(Qt.Key.Key_F2)
    seen.enters("Office")
    assert seen.folders.names == ("Office", "Play")
    assert seen.texts()[:3] == ["Office", "Blue sky", "Play"]


def test_folders_have_names_that_differ(seen: Seen) -> None:
    assert [seen.folders.make("New folder") for _ in range(3)] == ["New folder", "New folder 2", "New folder 3"]


def test_the_keyboard_goes_over_folders_and_never_to_a_heading(seen: Seen) -> None:
    with_folder(seen, "Work", 3)
    seen.folders.pin(2, on=True)
    seen.presses(Qt.Key.Key_Home)
    order = [seen.list.currentIndex().data()]
    for _ in range(3):
        seen.presses(Qt.Key.Key_Down)
        order.append(seen.list.currentIndex().data())
    assert order == ["Sampling", "Work", "GPU plan", "Blue sky"]


def drop(seen: Seen, chat: int, index: QModelIndex) -> None:
    """Let go of a chat over a row; below all rows where the index is not valid."""
    assert isinstance(seen.list, HistoryList)
    assert seen.index(chat).flags() & Qt.ItemFlag.ItemIsDragEnabled
    seen.list.drop_on(chat, index)


def test_a_chat_is_dragged_into_a_folder_on_top_and_out(seen: Seen) -> None:
    with_folder(seen, "Work", 3)
    drop(seen, 1, folder(seen, "Work"))
    assert seen.index(1).data(Role.INSIDE) == "Work"
    drop(seen, 2, seen.index(3))
    assert seen.index(2).data(Role.INSIDE) == "Work"
    seen.folders.pin(3, on=True)
    drop(seen, 1, seen.list.model().index(0, 0))
    assert seen.index(1).data(Role.PINNED)
    drop(seen, 2, seen.index(1))
    assert seen.index(2).data(Role.PINNED)
    drop(seen, 2, QModelIndex())
    assert not seen.index(2).data(Role.PINNED) and seen.index(2).data(Role.INSIDE) == ""


def drags_over(seen: Seen, chat: int, index: QModelIndex, source: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drag a chat over a row and let it go there; offscreen no drag begins by itself."""
    seen.list.setCurrentIndex(seen.index(chat))
    data, place = seen.list.model().mimeData([seen.index(chat)]), seen.list.visualRect(index).center()
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for kind in (QDragMoveEvent, QDropEvent):
        monkeypatch.setattr(kind, "source", lambda _event: source)
    over = QDragMoveEvent(place, Qt.DropAction.CopyAction, data, buttons, keys)
    seen.list.dragMoveEvent(over)
    assert over.isAccepted() is (source is seen.list)
    seen.list.dropEvent(QDropEvent(QPointF(place), Qt.DropAction.CopyAction, data, buttons, keys))


def test_a_chat_that_is_let_go_over_a_folder_goes_into_it_and_what_is_dragged_from_elsewhere_does_not(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_folder(seen, "Work", 3)
    before = seen.texts()
    drags_over(seen, 1, folder(seen, "Work"), seen.host, monkeypatch)
    assert seen.texts() == before
    drags_over(seen, 1, folder(seen, "Work"), seen.list, monkeypatch)
    assert seen.index(1).data(Role.INSIDE) == "Work"
    drags_over(seen, 1, seen.index(2), seen.list, monkeypatch)
    assert seen.index(1).data(Role.INSIDE) == ""


def test_the_menu_of_the_open_chat_tells_the_keys_that_rename_it_from_anywhere(ready: Stage) -> None:
    say(ready, "One", "1")
    shortcuts = ready.window.findChild(Shortcuts)
    assert shortcuts is not None
    (key,) = ready.window.actions_by_name.usual_keys["print_action"]
    shortcuts.choose("print_action", ())
    shortcuts.choose("rename_action", (key,))
    chats = ready.find_as(HistoryList)
    ready.composer.setFocus()
    index = chats.model().index(1, 0)
    chats.show_menu(index, chats.visualRect(index).center())
    rename = next(each for each in chats.menu.actions() if each.objectName() == "rename")
    assert rename.text().endswith("\tCtrl+P")
    chats.menu.hide()
    press(ready, "Ctrl+P")
    assert chats.state() == HistoryList.State.EditingState


def test_in_ten_thousand_chats_a_pin_moves_one_row(qtbot: QtBot) -> None:
    seen = Seen(qtbot, SKY, SAMPLING, GPU, OLD)
    removed: list[int] = []
    seen.list.model().modelReset.connect(lambda: removed.append(1))
    seen.folders.pin(4, on=True)
    assert seen.texts()[:2] == ["Pinned", "Old words"] and removed == []
