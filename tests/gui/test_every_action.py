"""Every action by menu, by its keys and by the palette: the table below has a line for each, or a test fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QMenu
from shiboken6 import isValid

from app.gui.actions import words_alone
from app.gui.palette.popup import PalettePopup
from app.gui.palette.rows import Role
from app.system.settings_file import Theme as Choice
from tests.gui.conftest import Stage
from tests.gui.test_keyboard import in_use, menus
from tests.gui.test_message_keys import at_hand, say
from tests.gui.test_palette import open_palette

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
Does = Callable[[Stage], Any]


class Line(NamedTuple):
    """What an action does, told by what is so afterwards and not before; `first` is what has to be done before."""

    is_done: Does
    first: Does = lambda _stage: None


def shows(kind: type[QDialog], name: str = "") -> Does:
    """Return whether a dialog is on the screen."""

    def is_shown(stage: Stage) -> bool:
        return any(
            each.isVisible() and (not name or each.objectName() == name) for each in stage.window.findChildren(kind)
        )

    return is_shown


def page(name: str) -> Does:
    return lambda stage: stage.window.page == name


def theme(name: Choice, other: Choice = "dark") -> Line:
    return Line(lambda stage: stage.themes.choice == name, lambda stage: stage.themes.choose(other))


def goes(action: str) -> Does:
    return lambda stage: stage.triggers(action)


def said(stage: Stage) -> None:
    say(stage, "One", "1")
    stage.composer.setFocus()


def in_pieces(stage: Stage) -> None:
    """Have an answer that was stopped before its end."""
    stage.sends("One")
    stage.engine.prompt()
    stage.engine.write("Half")
    stage.settle()
    stage.triggers("stop_action")
    stage.engine.finish("cancelled")
    stage.settle()


def several(*steps: Does) -> Does:
    def do(stage: Stage) -> None:
        for step in steps:
            step(stage)

    return do


def is_busy(stage: Stage) -> bool:
    return stage.desk.program.chat.busy


def text_size(stage: Stage) -> int:
    return stage.desk.program.settings.values.text_size


def finding(stage: Stage) -> None:
    """Look for a word that is there three times, of which the second is marked."""
    say(stage, "One", "One and one")
    stage.triggers("find_action")
    QTest.keyClicks(stage.find("find_line"), "one")
    stage.bot.waitUntil(lambda: "3" in stage.reads("find_count"), timeout=60_000)
    while "2" not in stage.reads("find_count"):
        QTest.keyClick(stage.find("find_line"), Qt.Key.Key_Return)


def finds(number: int) -> Does:
    """Whether the match of a number is marked."""
    return lambda stage: stage.sees("find_bar") and stage.reads("find_count").startswith(str(number))


def has_keyboard(name: str) -> Does:
    return lambda stage: in_use(stage).objectName() == name


def asks_for_a_printer(stage: Stage) -> bool:
    """Whether a printer can be chosen, or people are told why none can be reached on this machine."""
    latest = stage.desk.program.notices.latest
    return shows(QDialog, "print_dialog")(stage) or (latest is not None and "printer" in latest.sentence.english())


TABLE: dict[str, Line] = {
    "new_chat_action": Line(lambda stage: not stage.desk.program.chat.turns, said),
    "open_model_action": Line(shows(QFileDialog)),
    "inspect_file_action": Line(shows(QFileDialog)),
    "write_action": Line(
        lambda stage: stage.window.focusWidget() is stage.composer, lambda stage: stage.find("menu_button").setFocus()
    ),
    "previous_message_action": Line(lambda stage: at_hand(stage) == "1", said),
    "next_message_action": Line(
        lambda stage: at_hand(stage) == "1",
        several(said, goes("previous_message_action"), goes("previous_message_action")),
    ),
    "search_action": Line(has_keyboard("search_line"), said),
    "find_action": Line(has_keyboard("find_line"), said),
    "find_next_action": Line(finds(3), finding),
    "find_previous_action": Line(finds(1), finding),
    "attach_action": Line(shows(QFileDialog)),
    "system_prompt_action": Line(shows(QDialog, "system_prompt_dialog")),
    "rename_action": Line(
        lambda stage: any(
            each.isVisible() for each in stage.window.findChildren(QLineEdit, "conversation_title_field")
        ),
        said,
    ),
    "pin_action": Line(lambda stage: stage.desk.program.chat.shown.head.pinned, said),
    "move_action": Line(lambda stage: stage.find_as(QMenu, "move_menu").isVisible(), said),
    "new_folder_action": Line(lambda stage: bool(stage.desk.program.chat_folders.names), said),
    "delete_chat_action": Line(lambda stage: not stage.desk.program.conversations.heads, said),
    "undo_delete_action": Line(
        lambda stage: bool(stage.desk.program.conversations.heads), several(said, goes("delete_chat_action"))
    ),
    "trash_action": Line(shows(QDialog, "trash_dialog")),
    "print_action": Line(asks_for_a_printer, said),
    "save_pdf_action": Line(shows(QFileDialog), said),
    "export_chat_action": Line(shows(QFileDialog, "export_dialog"), said),
    "export_all_action": Line(shows(QFileDialog, "export_dialog"), said),
    "import_chats_action": Line(shows(QFileDialog, "import_dialog")),
    "go_on_action": Line(is_busy, in_pieces),
    "answer_again_action": Line(is_busy, said),
    "compare_action": Line(page("compare")),
    "inside_action": Line(page("inside")),
    "copy_answer_action": Line(
        lambda _stage: QGuiApplication.clipboard().text() == "1",
        several(said, lambda _stage: QGuiApplication.clipboard().setText("")),
    ),
    "pause_action": Line(lambda stage: stage.desk.program.step_mode.is_one_by_one),
    "one_token_action": Line(lambda stage: stage.desk.program.step_mode.is_one_by_one),
    "step_bar_action": Line(lambda stage: stage.window.parts.step_bar.isVisible()),
    "stop_action": Line(lambda stage: bool(stage.engine.cancelled), lambda stage: stage.sends("One")),
    "chat_page_action": Line(page("chat"), goes("planner_action")),
    "planner_action": Line(page("planner")),
    "models_action": Line(page("models")),
    "history_action": Line(lambda stage: not stage.sees("history_pane")),
    "panel_action": Line(lambda stage: not stage.sees("side_panel")),
    "light_theme_action": theme("light"),
    "dark_theme_action": theme("dark", other="light"),
    "contrast_theme_action": theme("contrast"),
    "system_theme_action": theme("system"),
    "theme_action": theme("light"),
    "larger_text_action": Line(lambda stage: text_size(stage) > 100),
    "smaller_text_action": Line(lambda stage: text_size(stage) < 100),
    "normal_text_action": Line(lambda stage: text_size(stage) == 100, goes("larger_text_action")),
    "preferences_action": Line(shows(QDialog, "preferences")),
    "palette_action": Line(lambda stage: any(each.isVisible() for each in stage.window.findChildren(PalettePopup))),
    "keyboard_action": Line(shows(QDialog, "keyboard_dialog")),
    "quit_action": Line(lambda stage: not isValid(stage.window) or not stage.window.isVisible()),
}


def by_menu(stage: Stage, action: QAction) -> None:
    """Click the entry of the menu that stands in the window's, or in one inside of that."""
    whole = stage.find("menu_button").findChild(QMenu)
    menu = next(each for each in menus(whole) if action in each.actions())
    menu.popup(stage.window.mapToGlobal(QPoint(10, 10)))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def by_keys(stage: Stage, action: QAction) -> None:
    """Press its keys where the keyboard is."""
    stage.window.activateWindow()
    stage.bot.waitUntil(stage.window.isActiveWindow, timeout=60_000)
    QTest.keySequence(in_use(stage), action.shortcuts()[0])


def by_palette(stage: Stage, action: QAction) -> None:
    """Type its words into the palette, go to it, and press Enter."""
    popup = open_palette(stage)
    QTest.keyClicks(popup.line, words_alone(action))
    rows = range(popup.list.model().rowCount())
    ids = [popup.list.model().index(row, 0).data(Role.FOUND).entry.id for row in rows]
    for _ in range(ids.index(action.objectName())):
        QTest.keyClick(popup.line, Qt.Key.Key_Down)
    QTest.keyClick(popup.line, Qt.Key.Key_Return)


WAYS = {"menu": by_menu, "keys": by_keys, "palette": by_palette}
WITHOUT_KEYS = {
    "move_action",
    "new_folder_action",
    "delete_chat_action",
    "trash_action",
    "save_pdf_action",
    "export_chat_action",
    "export_all_action",
    "import_chats_action",
    "light_theme_action",
    "dark_theme_action",
    "contrast_theme_action",
    "system_theme_action",
}
CASES = [
    (name, way)
    for name in TABLE
    for way in WAYS
    if not (way == "keys" and name in WITHOUT_KEYS) and (name, way) != ("palette_action", "palette")
]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_an_action_does_what_it_is_called_by_every_way(name: str, way: str, ready: Stage) -> None:
    action, line = ready.window.actions_by_name[name], TABLE[name]
    line.first(ready)
    assert action.isEnabled() and not line.is_done(ready)
    WAYS[way](ready, action)
    ready.bot.waitUntil(lambda: bool(line.is_done(ready)), timeout=60_000)


def test_no_action_is_without_a_line(stage: Stage) -> None:
    assert set(TABLE) == {action.objectName() for action in stage.window.actions_by_name.in_order}
    assert {name for name, keys in stage.window.actions_by_name.usual_keys.items() if not keys} == WITHOUT_KEYS
