"""What people do with one message, by mouse and keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QMenu, QPlainTextEdit

from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def say(stage: Stage, question: str, answer: str) -> None:
    stage.sends(question)
    stage.desk.answer(answer)
    stage.settle()


def shown(stage: Stage) -> list[str]:
    return [turn.text for turn in stage.desk.program.chat.turns]


def hover(stage: Stage, place: int) -> None:
    """Put the mouse over a turn."""
    transcript = stage.window.parts.chat_page.transcript
    QTest.mouseMove(transcript.viewport(), QPoint(1, 1))
    QTest.mouseMove(transcript.viewport(), transcript.places.turn(place).center())


def choose(stage: Stage, place: int, words: str) -> None:
    """Choose an entry of the menu of a turn."""
    hover(stage, place)
    bar = stage.window.parts.chat_page.turn_actions.bars.bar_of(stage.desk.program.chat.turns[place])
    assert bar is not None
    QTest.mouseClick(bar.more_button, Qt.MouseButton.LeftButton)
    menu = bar.findChild(QMenu)
    assert menu is not None
    action = next(action for action in menu.actions() if action.text() == words)
    assert action.isEnabled()
    action.trigger()
    menu.close()


def test_a_question_is_edited_in_its_place_and_asked_anew(ready: Stage) -> None:
    say(ready, "One", "1")
    hover(ready, 0)
    ready.clicks("other_edit_button")
    text = ready.find_as(QPlainTextEdit, "turn_editor_text")
    assert (text.toPlainText(), text.hasFocus()) == ("One", True)
    assert not ready.find("turn_editor_use").isEnabled()
    text.setPlainText("Eins")
    QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not ready.sees("turn_editor")
    ready.desk.answer("I")
    ready.settle()
    assert shown(ready) == ["Eins", "I"]


def test_versions_are_stepped_through_by_their_buttons(ready: Stage) -> None:
    say(ready, "One", "1")
    assert not ready.sees("earlier_button")
    ready.clicks("answer_again_button")
    ready.desk.answer("uno")
    ready.settle()
    label = ready.find_as(QLabel, "version_label")
    assert (label.text(), label.accessibleName()) == ("2 / 2", "Version 2 of 2")
    assert not ready.find("later_button").isEnabled()
    ready.clicks("earlier_button")
    assert shown(ready) == ["One", "1"]
    assert ready.find("later_button").isEnabled()
    QTest.keyClick(ready.find("later_button"), Qt.Key.Key_Space)
    assert shown(ready) == ["One", "uno"]


def test_escape_puts_an_edit_away_and_the_words_are_there_the_next_time(ready: Stage) -> None:
    say(ready, "One", "1")
    ready.clicks("edit_button")
    text = ready.find_as(QPlainTextEdit, "turn_editor_text")
    QTest.keyClicks(text, " and more")
    QTest.keyClick(text, Qt.Key.Key_Escape)
    assert not ready.sees("turn_editor")
    assert shown(ready) == ["One", "1"]
    ready.clicks("edit_button")
    assert text.toPlainText() == "1 and more"
    ready.clicks("turn_editor_use")
    assert shown(ready) == ["One", "1 and more"]


def test_an_answer_can_be_made_to_begin_with_given_words(ready: Stage) -> None:
    say(ready, "One", "no")
    choose(ready, 1, "Answer again, beginning with…")
    text = ready.find_as(QPlainTextEdit, "beginning_text")
    assert not ready.find("beginning_use").isEnabled()
    QTest.keyClicks(text, "Yes,")
    QTest.keyClick(text, Qt.Key.Key_Escape)  # which keeps the words
    assert shown(ready) == ["One", "no"]
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    choose(ready, 1, "Answer again, beginning with…")
    text = ready.find_as(QPlainTextEdit, "beginning_text")
    assert text.toPlainText() == "Yes,"
    QTest.keyClick(text, Qt.Key.Key_Tab)
    assert text.toPlainText() == "Yes,"
    assert "Ctrl+Return" in text.accessibleDescription()
    QTest.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert shown(ready) == ["One", "Yes,"]
    assert ready.desk.engine.chat.continue_last


@pytest.mark.parametrize("end", ["stop", "fail"])
def test_given_words_are_there_again_when_the_answer_came_to_nothing(ready: Stage, end: str) -> None:
    say(ready, "One", "no")
    choose(ready, 1, "Answer again, beginning with…")
    QTest.keyClicks(ready.find_as(QPlainTextEdit, "beginning_text"), "Yes,")
    ready.clicks("beginning_use")
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    ready.settle()
    if end == "stop":
        ready.clicks("stop_button")
        ready.engine.finish("cancelled")
    else:
        ready.engine.fail("template")
    ready.settle()
    assert shown(ready) == ["One", "no"]
    choose(ready, 1, "Answer again, beginning with…")
    assert ready.find_as(QPlainTextEdit, "beginning_text").toPlainText() == "Yes,"
    ready.clicks("beginning_use")
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    ready.desk.answer(" it is")
    ready.settle()
    assert shown(ready) == ["One", "Yes, it is"]
    choose(ready, 1, "Answer again, beginning with…")
    assert ready.find_as(QPlainTextEdit, "beginning_text").toPlainText() == ""


def test_what_is_deleted_from_a_message_on_is_back_with_undo(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    choose(ready, 2, "Delete from here on")
    assert shown(ready) == ["One", "1"]
    ready.triggers("undo_delete_action")
    assert shown(ready) == ["One", "1", "Two", "2"]


def test_a_new_chat_begins_from_a_message(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    choose(ready, 1, "Begin a new chat from here")
    assert shown(ready) == ["One", "1"]
    assert len(ready.desk.program.conversations.heads) == 2


@pytest.mark.parametrize("way", ["dialog", "menu"])
def test_the_settings_of_an_answer_are_shown_and_used_again(ready: Stage, way: str) -> None:
    ready.desk.program.sampling.change(temperature=0.3)
    say(ready, "One", "1")
    ready.desk.program.sampling.change(temperature=1.4)
    choose(ready, 1, "Settings of this answer")
    dialog = ready.find_as(QDialog, "answer_settings")
    texts = [each.text() for each in dialog.findChildren(QLabel)]
    assert texts[0] == "Settings of this answer"
    assert texts[texts.index("temperature") + 1] == "0.3"
    assert not [text for text in texts if "Waited" in text]
    if way == "dialog":
        ready.clicks("answer_settings_use")
    else:
        ready.clicks("answer_settings_close")
        choose(ready, 1, "Use these settings again")
    assert ready.desk.program.sampling.values.temperature == 0.3
    assert not ready.sees("notice_bar")
    choose(ready, 1, "Use these settings again")
    assert ready.reads("notice_text") == "These settings are in force already."


def test_the_buttons_of_an_earlier_turn_come_with_the_mouse_and_go_with_it(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    bars = ready.window.parts.chat_page.turn_actions.bars
    first = ready.desk.program.chat.turns[0]
    assert bars.bar_of(first) is None
    hover(ready, 0)
    assert bars.bar_of(first) is not None
    hover(ready, 3)
    assert bars.bar_of(first) is None
