"""Keys and the menu of the list of the models on this machine do what its buttons do, and what is listed of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QListView, QMenu

from app.gui.discover.library_menu import library_menu
from app.gui.discover.library_part import LibraryPart
from tests.gui.conftest import Stage
from tests.gui.discover.test_file_dialogs import here
from tests.gui.discover.test_library import chooses, rows
from tests.gui.test_message_keys import press, say

__all__ = ["here"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def listed(stage: Stage) -> QListView:
    found = stage.find_as(QListView, "library_list")
    found.setFocus()
    return found


def opened(stage: Stage) -> list[str]:
    return [each.objectName() for each in stage.window.findChildren(QDialog) if each.isVisible()]


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.objectName(): action for action in menu.actions() if not action.isSeparator()}


@pytest.mark.parametrize(("key", "dialog"), [("F2", "rename_model_dialog"), ("Del", "trash_model_dialog")])
def test_a_key_asks_for_the_name_or_the_trash_of_the_model_that_is_chosen(here: Stage, key: str, dialog: str) -> None:
    here.load(here.desk.program.paths.models / "apple.gguf")
    here.window.show_page("chat")
    say(here, "One", "1")
    here.triggers("models_action")
    listed(here)
    press(here, key)
    assert opened(here) == [dialog], "elsewhere F2 is the chat's"
    assert "apple" in here.reads("file_title")


@pytest.mark.parametrize("key", ["F2", "Del"])
def test_of_a_file_that_is_not_ours_a_key_says_why_not(here: Stage, key: str) -> None:
    chooses(here, "zebra")
    listed(here)
    assert not here.sees("library_file_refused")
    press(here, key)
    assert opened(here) == [] and "own models folder" in here.reads("library_file_refused")
    here.desk.program.models.changed.emit()
    assert here.sees("library_file_refused")
    chooses(here, "apple")
    assert not here.sees("library_file_refused")


@pytest.mark.parametrize("key", ["Menu", "Shift+F10"])
def test_the_menu_opens_by_key_with_its_first_entry_and_the_keys(here: Stage, key: str) -> None:
    listed(here)
    press(here, key)
    menu = here.find_as(QMenu, "library_menu")
    assert menu.activeAction() is menu.actions()[0]
    said = {name: action.text() for name, action in entries(menu).items()}
    assert said["library_rename_entry"] == "Rename its file…\tF2"
    assert said["library_trash_entry"].endswith("\tDel") and said["library_load_entry"].endswith("\tReturn")
    entries(menu)["library_trash_entry"].trigger()
    menu.close()
    assert opened(here) == ["trash_model_dialog"]


def test_an_entry_is_what_its_button_is_and_says_why_it_cannot_be_chosen(here: Stage) -> None:
    chooses(here, "zebra")
    menu = library_menu(here.find_as(LibraryPart).pane, here.window)
    for name, action in entries(menu).items():
        button = here.find(name.replace("_entry", "_button"))
        assert action.isEnabled() == button.isEnabled()
    trash = entries(menu)["library_trash_entry"]
    assert not trash.isEnabled() and "own models folder" in trash.toolTip().replace("<br>", " ")
    entries(menu)["library_star_entry"].trigger()
    assert rows(here)[0].startswith("★ zebra\n")


def test_a_right_click_is_for_the_row_under_the_pointer(here: Stage) -> None:
    view = listed(here)
    row = next(number for number, each in enumerate(rows(here)) if each.startswith("zebra"))
    place = view.visualRect(view.model().index(row, 0)).center()
    wanted: list[bool] = []
    here.find_as(LibraryPart).list.menu_wanted.connect(lambda _place, is_by_key: wanted.append(is_by_key))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=place)
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QCoreApplication.sendEvent(view.viewport(), asked)
    assert wanted == [False] and here.reads("library_title") == "zebra"
    here.find_as(QMenu, "library_menu").close()
