"""The keyboard stays where it can do no harm, and keys where people write do what is said of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QPlainTextEdit, QPushButton, QToolButton, QWidget

from app.gui.chat.system_prompt_dialog import SystemPromptDialog
from app.gui.chat.transcript_keys import message_keys
from tests.gui.conftest import Stage
from tests.gui.test_message_keys import again, menu_of, press, say, shown, transcript

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def in_use(stage: Stage) -> QWidget:
    focus: QWidget | None = stage.window.focusWidget()
    assert focus is not None
    return focus


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return])
def test_the_keyboard_stays_on_the_arrows_between_versions(ready: Stage, key: Qt.Key) -> None:
    say(ready, "One", "1")
    again(ready, "uno")
    ready.find("earlier_button").setFocus()
    QTest.keyClick(in_use(ready), key)
    ready.settle()
    assert shown(ready) == ["One", "1"]
    assert in_use(ready) is ready.find("later_button")
    QTest.keyClick(in_use(ready), key)
    ready.settle()
    assert shown(ready) == ["One", "uno"]
    assert in_use(ready) is ready.find("earlier_button")


@pytest.mark.parametrize("name", ["answer_again_button"])
def test_a_button_that_goes_gives_the_keyboard_to_no_other_button(ready: Stage, name: str) -> None:
    say(ready, "One", "1")
    ready.find(name).setFocus()
    QTest.keyClick(in_use(ready), Qt.Key.Key_Return)
    assert ready.desk.program.chat.busy
    assert not isinstance(in_use(ready), QAbstractButton)


def test_after_a_question_that_waited_is_sent_the_keyboard_is_in_the_composer(ready: Stage) -> None:
    ready.sends("One")
    ready.engine.prompt()
    ready.engine.write("Half")
    ready.sends("Two")
    ready.clicks("stop_button")
    ready.engine.finish("cancelled")
    ready.settle()
    send = ready.find("queued_send_button")
    send.setFocus()
    QTest.keyClick(send, Qt.Key.Key_Return)
    assert shown(ready)[-2] == "Two"
    assert in_use(ready) is ready.composer


def test_a_row_that_goes_leaves_the_keyboard_to_the_composer(ready: Stage) -> None:
    ready.sends("One")
    ready.sends("Two")
    ready.find("queued_edit_button").setFocus()
    ready.desk.answer("1")
    ready.settle()
    assert in_use(ready) is ready.composer


def test_after_a_system_prompt_is_saved_the_keyboard_is_in_the_composer(ready: Stage) -> None:
    ready.find("panel_button").setFocus()
    ready.triggers("system_prompt_action")
    text = ready.find_as(QPlainTextEdit, "system_prompt_text")
    QTest.keyClicks(text, "Be brief.")
    QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not ready.find_as(SystemPromptDialog).isVisible()
    assert in_use(ready) is ready.composer


DIALOGS = ("trash_action", "system_prompt_action", "preferences_action", "keyboard_action")


@pytest.mark.parametrize("action", DIALOGS)
def test_enter_presses_every_button_of_a_dialog_as_space_does(ready: Stage, action: str) -> None:
    say(ready, "One", "1")
    ready.triggers(action)
    ready.settle()
    dialog = next(each for each in ready.window.findChildren(QDialog) if each.isVisible())
    buttons = [
        each
        for each in dialog.findChildren(QAbstractButton)
        if isinstance(each, QPushButton | QToolButton) and each.isVisible() and each.isEnabled()
        if not (isinstance(each, QToolButton) and each.menu() is not None)
    ]
    assert buttons
    for button in buttons:
        pressed: list[bool] = []
        button.clicked.disconnect()
        button.clicked.connect(lambda _checked=False, pressed=pressed: pressed.append(True))
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_Return)
        assert pressed == [True], button.objectName()
    dialog.close()


def test_a_question_ends_with_no_empty_lines(ready: Stage) -> None:
    ready.types("One")
    ready.presses(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    ready.sends("")
    ready.desk.answer("1")
    ready.settle()
    assert shown(ready)[0] == "One"
    press(ready, "Alt+Up")
    press(ready, "Alt+Up")
    press(ready, "Return")
    text = ready.find_as(QPlainTextEdit, "turn_editor_text")
    QTest.keyClick(text, Qt.Key.Key_Return)
    assert not ready.find("turn_editor_use").isEnabled()
    QTest.keyClicks(text, "more")
    QTest.keyClick(text, Qt.Key.Key_Return)
    assert "Ctrl+Return: Ask" in ready.find("turn_editor_keys").accessibleName()
    QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert shown(ready)[0] == "One\nmore"


def test_esc_leaves_the_editor_before_it_stops_an_answer(ready: Stage) -> None:
    say(ready, "One", "1")
    ready.sends("Two")
    ready.window.parts.chat_page.turn_actions.edit(ready.desk.program.chat.turns[1])
    press(ready, "Esc")
    assert not ready.sees("turn_editor")
    assert ready.engine.cancelled == []


def test_what_was_deleted_last_is_undone_before_what_was_written_earlier(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    ready.types("x")
    ready.presses(Qt.Key.Key_Backspace)
    ready.desk.program.branches.delete(ready.desk.program.chat.turns[2])
    ready.composer.setFocus()
    press(ready, "Ctrl+Z")
    assert (shown(ready), ready.composer.toPlainText()) == (["One", "1", "Two", "2"], "")
    press(ready, "Ctrl+Z")
    assert ready.composer.toPlainText() == "x"


def test_what_was_written_after_a_deletion_is_undone_first(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    ready.desk.program.branches.delete(ready.desk.program.chat.turns[2])
    ready.composer.setFocus()
    ready.types("x")
    press(ready, "Ctrl+Z")
    assert (shown(ready), ready.composer.toPlainText()) == (["One", "1"], "")
    press(ready, "Ctrl+Z")
    assert shown(ready) == ["One", "1", "Two", "2"]


def test_a_key_means_the_same_with_a_message_at_hand_as_elsewhere_in_the_window(ready: Stage) -> None:
    same = {"Ctrl+R"}  # writes an answer again: the one at hand, or else the last one
    at_message = {key.toString() for each in message_keys() for key in each.keys} - same
    in_window = {key.toString() for action in ready.window.findChildren(QAction) for key in action.shortcuts()}
    assert not at_message & in_window
    say(ready, "One", "**1**")
    press(ready, "Alt+Up")
    press(ready, "Alt+C")
    assert QGuiApplication.clipboard().text() == "**1**"
    press(ready, "F2")
    assert not ready.sees("turn_editor") and ready.sees("conversation_title_field")


def test_the_menu_opens_at_the_message(ready: Stage) -> None:
    say(ready, "One", "1")
    ready.window.move(-400, 0)  # the menu has room on the screen
    press(ready, "Alt+Up")
    press(ready, "Alt+Up")
    press(ready, "Menu")
    view, menu = transcript(ready).viewport(), menu_of(ready)
    left = view.mapFromGlobal(menu.pos()).x()
    menu.close()
    card = transcript(ready).places.turn(0)
    assert card.center().x() < left <= card.right()
