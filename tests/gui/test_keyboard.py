from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.gui.widgets.tab_stops import tab_stops
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WIDE, NARROW, SMALLEST = (1280, 800), (1050, 700), (900, 600)


def press(stage: Stage, keys: str) -> None:
    QTest.keySequence(in_use(stage), QKeySequence(keys))


def in_use(stage: Stage) -> QWidget:
    """Return what has the focus, in a window that need not be the active one; the window where nothing has it."""
    focus: QWidget | None = stage.window.focusWidget()
    return stage.window if focus is None else focus


def walk(stage: Stage) -> list[QWidget]:
    """Press Tab until the focus is back where it began, and return where it was."""
    begin = in_use(stage)
    seen = [begin]
    for _ in range(500):
        QTest.keyClick(in_use(stage), Qt.Key.Key_Tab)
        if in_use(stage) is begin:
            return seen
        seen.append(in_use(stage))
    raise AssertionError(f"Tab goes in circles without the beginning: {seen[-3:]}")


def menus(menu: object) -> list[QMenu]:
    """Return a menu and those inside of it."""
    assert isinstance(menu, QMenu)
    return [menu, *menu.findChildren(QMenu)]


def fill(stage: Stage) -> None:
    stage.sends("Hi")
    stage.desk.answer("Hello")


def test_tab_reaches_everything_that_can_be_used_and_each_has_a_name(ready: Stage) -> None:
    fill(ready)
    reached = walk(ready)
    missing = [each for each in tab_stops(ready.window, usable=True) if each not in reached]
    assert [f"{type(each).__name__} {each.objectName()}" for each in missing] == []
    nameless = [each for each in reached if not (each.accessibleName() or str(each.property("text") or ""))]
    assert [f"{type(each).__name__} {each.objectName()}" for each in nameless] == []


def test_tab_goes_from_the_left_over_the_middle_to_the_right(ready: Stage) -> None:
    fill(ready)
    panes = [ready.find(name) for name in ("history_pane", "chat_surface", "side_panel")]
    stops = [stop for stop in tab_stops(ready.window, usable=True) if any(pane.isAncestorOf(stop) for pane in panes)]
    places = [next(place for place, pane in enumerate(panes) if pane.isAncestorOf(stop)) for stop in stops]
    assert places == sorted(places)
    assert set(places) == {0, 1, 2}


def test_what_has_the_focus_looks_different(ready: Stage) -> None:
    fill(ready)
    ready.window.activateWindow()
    ready.bot.waitUntil(ready.window.isActiveWindow)
    alike = []
    for stop in tab_stops(ready.window, usable=True):
        ready.window.setFocus()
        frame = stop.parentWidget() if stop.objectName() == "composer" else stop
        assert frame is not None
        before = frame.grab().toImage()
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        if frame.grab().toImage() == before:
            alike.append(f"{type(stop).__name__} {stop.objectName()}")
    assert alike == []


def test_no_two_shortcuts_of_the_window_are_the_same(stage: Stage) -> None:
    actions = stage.window.findChildren(QAction)
    keys = [key.toString() for action in actions for key in action.shortcuts() if not key.isEmpty()]
    assert len(keys) == len(set(keys)) > 5


def test_every_action_is_in_the_menu(stage: Stage) -> None:
    menu = stage.find("menu_button").findChild(QMenu)
    assert isinstance(menu, QMenu)
    actions = [action for each in menus(menu) for action in each.actions()]
    offered = {action.objectName() for action in actions}
    assert {action.objectName() for action in stage.window.actions()} <= offered
    assert all(action.text() for action in actions if not action.isSeparator())


def test_no_two_entries_of_a_menu_share_a_letter(stage: Stage) -> None:
    for menu in menus(stage.find("menu_button").findChild(QMenu)):
        letters = [action.text().lower().split("&", 1)[1][0] for action in menu.actions() if "&" in action.text()]
        assert sorted(letters) == sorted(set(letters))
        assert len(menu.actions()) <= 14


def test_the_theme_that_was_chosen_carries_a_tick(stage: Stage) -> None:
    themes = stage.window.actions_by_name.themes

    def ticked() -> list[str]:
        return [name for name, action in themes.items() if action.isChecked()]

    for choice in ("dark", "contrast", "system", "light"):
        stage.triggers(f"{choice}_theme_action")
        stage.triggers(f"{choice}_theme_action")  # which takes no tick away
        assert ticked() == [choice] == [stage.themes.choice]
    stage.triggers("theme_action")
    assert ticked() == ["dark"]


def test_there_is_nothing_to_copy_in_an_empty_chat(ready: Stage) -> None:
    copy = ready.window.actions_by_name["copy_answer_action"]
    assert not copy.isEnabled()
    fill(ready)
    assert copy.isEnabled()
    ready.desk.program.branches.delete(ready.desk.program.chat.turns[1])
    assert not copy.isEnabled()
    ready.triggers("undo_delete_action")
    assert copy.isEnabled()
    ready.triggers("new_chat_action")
    assert not copy.isEnabled()


def test_esc_stops_an_answer_and_does_nothing_else(ready: Stage) -> None:
    press(ready, "Esc")
    assert ready.engine.cancelled == []
    ready.sends("Hi")
    press(ready, "Esc")
    assert ready.engine.cancelled == [ready.engine.question.request]


def test_esc_closes_a_drawer_before_it_stops_an_answer(ready: Stage) -> None:
    ready.sends("Hi")
    ready.window.resize(*SMALLEST)
    press(ready, "F8")
    assert ready.sees("history_pane")
    press(ready, "Esc")
    assert not ready.sees("history_pane")
    assert ready.engine.cancelled == []
    press(ready, "Esc")
    assert ready.engine.cancelled == [ready.engine.question.request]


def test_the_keys_for_the_outer_panes_hide_and_show_them(stage: Stage) -> None:
    stage.window.resize(*WIDE)
    press(stage, "F8")
    assert not stage.sees("history_pane")
    assert stage.sees("header_new_chat_button")
    press(stage, "F8")
    assert stage.sees("history_pane")
    assert not stage.sees("header_new_chat_button")
    press(stage, "F9")
    assert not stage.sees("side_panel")
    stage.clicks("panel_button")
    assert stage.sees("side_panel")


def test_a_narrow_window_shows_the_left_pane_as_a_drawer_over_the_middle(ready: Stage) -> None:
    ready.window.resize(*SMALLEST)
    assert not ready.sees("history_pane")
    width = ready.find("chat_surface").width()
    ready.clicks("history_button")
    drawer = ready.find("history_pane")
    assert drawer.isVisible()
    assert ready.find("chat_surface").width() == width
    assert drawer.isAncestorOf(in_use(ready))
    ready.bot.waitUntil(lambda: drawer.mapTo(ready.window, drawer.rect().topLeft()).x() == 0)
    QTest.mouseClick(ready.find("scrim"), Qt.MouseButton.LeftButton, pos=QPoint(600, 300))
    assert not drawer.isVisible()
    assert not ready.find("scrim").isVisible()


def test_tab_stays_in_an_open_drawer_and_closing_gives_the_focus_back(ready: Stage) -> None:
    ready.window.resize(*SMALLEST)
    ready.composer.setFocus()
    press(ready, "F8")
    drawer = ready.find("history_pane")
    assert drawer.isAncestorOf(in_use(ready))
    assert all(drawer.isAncestorOf(each) for each in walk(ready))
    QTest.keyClick(in_use(ready), Qt.Key.Key_Backtab)
    assert drawer.isAncestorOf(in_use(ready))
    press(ready, "Esc")
    assert in_use(ready) is ready.composer


def test_the_smallest_window_has_both_panes_as_drawers_and_one_at_a_time(ready: Stage) -> None:
    ready.window.resize(*SMALLEST)
    assert not ready.sees("history_pane")
    assert not ready.sees("side_panel")
    ready.clicks("history_button")
    assert ready.sees("history_pane")
    press(ready, "F9")
    assert ready.sees("side_panel")
    assert not ready.sees("history_pane")


def test_a_drawer_that_gets_room_stands_beside_the_middle(ready: Stage, qapp: QApplication) -> None:
    ready.window.resize(*NARROW)
    ready.clicks("panel_button")
    ready.window.resize(*WIDE)
    assert ready.sees("side_panel")
    assert not ready.find("scrim").isVisible()
    middle, right = ready.find("chat_surface"), ready.find("side_panel")
    assert middle.geometry().right() < right.geometry().left()


def test_a_pane_that_is_a_drawer_is_there_again_when_the_window_is_wide_the_next_time(ready: Stage) -> None:
    ready.window.resize(*SMALLEST)
    ready.window.close()
    values = ready.desk.program.settings.values
    assert (values.history_shown, values.panel_shown) == (True, True)


def test_a_drawer_appears_at_once_where_motion_is_to_be_reduced(ready: Stage) -> None:
    ready.window.panes.moves = False
    ready.window.resize(*NARROW)
    ready.clicks("panel_button")
    assert ready.find("side_panel").geometry().right() == NARROW[0] - 1
