"""The system prompt in the window: the line above the chat, and the editor behind it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QToolButton

from app.core.chat_preset import ChatPreset
from app.core.commands import Render, Tokenize
from app.core.events import Rendered
from app.core.words import translate
from app.gui.chat.system_prompt_dialog import SystemPromptDialog
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage
from tests.services.counting import ids, render, tokenize

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
BRIEF = "Be brief."


def is_open(stage: Stage) -> bool:
    return any(each.isVisible() for each in stage.window.findChildren(SystemPromptDialog))


def opens(stage: Stage) -> QPlainTextEdit:
    stage.clicks("system_prompt_button")
    return stage.find_as(QPlainTextEdit, "system_prompt_text")


def closes(stage: Stage, key: Qt.Key = Qt.Key.Key_Escape) -> None:
    QTest.keyClick(stage.find("system_prompt_dialog"), key)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not is_open(stage)


def settles(stage: Stage) -> None:
    """Wait until what is typed was told."""
    dialog = stage.find_as(SystemPromptDialog, "system_prompt_dialog")
    stage.bot.waitUntil(lambda: not dialog._settled.isActive())
    stage.settle()


def saves(stage: Stage, text: str) -> None:
    edit = opens(stage)
    edit.clear()
    QTest.keyClicks(edit, text)
    stage.clicks("system_prompt_save")
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def answered(stage: Stage) -> None:
    stage.sends("Hi")
    stage.desk.answer("Hello")


def counts(stage: Stage, tokens: int) -> None:
    """Let the engine say of every prompt that it was asked for, and of those that follow, how long it is."""
    for question in (questions := iter(stage.engine.sent)):
        if isinstance(question, Render):
            render(stage.desk, tokens, question)
    assert not list(questions)


def said(stage: Stage, name: str) -> str:
    return stage.find_as(QLabel, name).text().strip()


def test_the_line_offers_one_where_there_is_none_and_shows_its_first_words_where_there_is(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "system_prompt_button")
    assert ready.sees("system_prompt_button")
    assert button.accessibleName() == button.text() == "Add a system prompt"
    ready.desk.program.system_prompt.save("You are & stay\n\na  teacher. " + "Word " * 200)
    assert button.accessibleName().startswith("System prompt: You are & stay a teacher. Word")
    assert button.text().startswith("System prompt: You are && stay a teacher.")
    assert button.text().endswith("…")
    assert button.geometry().right() <= ready.find("chat_surface").width()
    assert "teacher" in button.accessibleDescription()


def test_what_is_typed_and_saved_is_shown_sent_and_stored(ready: Stage) -> None:
    saves(ready, BRIEF)
    assert ready.find("system_prompt_button").accessibleName() == f"System prompt: {BRIEF}"
    answered(ready)
    assert ready.engine.chat.messages[0].text == BRIEF
    assert ready.desk.program.conversations.heads[0].system_prompt == BRIEF


@pytest.mark.parametrize("way", ["button", "enter"])
def test_a_change_in_mid_chat_is_undone_with_the_notice(ready: Stage, way: str) -> None:
    answered(ready)
    edit = opens(ready)
    QTest.keyClicks(edit, BRIEF)
    if way == "button":
        ready.clicks("system_prompt_save")
    else:
        QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not is_open(ready)
    assert ready.reads("notice_text") == "The new system prompt holds from the next answer on."
    assert ready.reads("notice_action") == "Undo"
    ready.clicks("notice_action")
    assert ready.desk.program.conversations.heads[0].system_prompt == ""
    assert ready.find("system_prompt_button").accessibleName() == "Add a system prompt"


@pytest.mark.parametrize("way", ["escape", "cancel"])
def test_closing_asks_nothing_changes_nothing_and_loses_nothing(ready: Stage, way: str) -> None:
    answered(ready)
    edit = opens(ready)
    QTest.keyClicks(edit, "Be br")
    if way == "escape":
        closes(ready)
    else:
        ready.clicks("system_prompt_cancel")
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert ready.desk.program.system_prompt.text == ""
    assert ready.find("system_prompt_button").accessibleName() == "System prompt, changes not saved: Be br"
    assert opens(ready).toPlainText() == "Be br"
    QTest.keyClicks(ready.find("system_prompt_text"), "ief.")
    ready.clicks("system_prompt_save")
    assert ready.desk.program.system_prompt.text == BRIEF


def test_what_is_typed_is_kept_while_it_is_typed(ready: Stage) -> None:
    QTest.keyClicks(opens(ready), "Be br")
    settles(ready)
    assert ready.desk.program.settings.values.chats.prompt_drafts == {"0": "Be br"}


def test_changes_can_be_discarded_and_that_can_be_undone(ready: Stage) -> None:
    saves(ready, BRIEF)
    edit = opens(ready)
    back = ready.find("system_prompt_back")
    assert not back.isVisible()
    QTest.keyClicks(edit, " And kind.")
    assert back.isVisible()
    ready.clicks("system_prompt_back")
    assert edit.toPlainText() == BRIEF
    assert not back.isVisible()
    assert not ready.find_as(QPushButton, "system_prompt_save").isEnabled()
    QTest.keySequence(edit, QKeySequence(QKeySequence.StandardKey.Undo))
    assert edit.toPlainText() == f"{BRIEF} And kind."


def test_the_tokens_and_what_is_read_again_are_shown_as_it_is_typed(ready: Stage) -> None:
    answered(ready)
    edit = opens(ready)
    counts(ready, 41)
    assert said(ready, "system_prompt_tokens") == "0 tokens"
    assert said(ready, "system_prompt_cost") == ""
    QTest.keyClicks(edit, BRIEF)
    settles(ready)
    assert ready.engine.all(Tokenize)[-1].text == BRIEF
    assert said(ready, "system_prompt_cost") == "For the next answer the chat is read again."
    tokenize(ready.desk, 4)
    counts(ready, 1234)
    assert said(ready, "system_prompt_tokens") == "4 tokens"
    assert said(ready, "system_prompt_cost") == "For the next answer 1,194 of 1,234 tokens are read again."


def test_a_chat_that_would_not_fit_is_said_with_the_numbers(ready: Stage) -> None:
    answered(ready)
    QTest.keyClicks(opens(ready), BRIEF)
    settles(ready)
    counts(ready, CONTEXT + 904)
    assert "5,000 tokens and does not fit into the context of 4,096" in said(ready, "system_prompt_problem")
    assert ready.find("system_prompt_problem").isVisible()
    assert not ready.find("system_prompt_cost").isVisible()


def test_a_template_without_a_place_for_it_is_said_in_one_sentence(ready: Stage) -> None:
    QTest.keyClicks(opens(ready), BRIEF)
    settles(ready)
    note = translate("Test", "It was put before the message.")
    ready.desk.engine.say(Rendered(ready.engine.all(Render)[-1].request, "", ids(9), (), (note,)))
    ready.settle()
    assert said(ready, "system_prompt_cost") == (
        "The model reads it with the first message. It was put before the message."
    )


def test_nothing_below_the_text_moves_when_something_else_is_said(ready: Stage) -> None:
    answered(ready)
    edit = opens(ready)
    dialog = ready.find("system_prompt_dialog")
    QTest.keyClicks(edit, "B")
    settles(ready)
    size = dialog.size()
    QTest.keyClicks(edit, "e brief.")
    settles(ready)
    assert dialog.size() == size
    counts(ready, CONTEXT)
    assert dialog.size() == size


def test_while_an_answer_is_written_it_can_be_changed_and_the_answer_goes_on(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt()
    ready.engine.write("Hel")
    ready.settle()
    saves(ready, BRIEF)
    ready.engine.write("lo")
    ready.engine.finish()
    ready.settle()
    assert "Hello" in ready.transcript_text()
    ready.sends("And?")
    assert ready.engine.chat.messages[0].text == BRIEF


def test_each_chat_shows_its_own(ready: Stage) -> None:
    saves(ready, BRIEF)
    answered(ready)
    first = ready.desk.program.conversations.open_id
    ready.triggers("new_chat_action")
    button = ready.find("system_prompt_button")
    assert button.accessibleName() == "Add a system prompt"
    ready.desk.program.conversations.open(first)
    assert button.accessibleName() == f"System prompt: {BRIEF}"


@pytest.mark.parametrize(
    ("text", "says"), [("x\n" * 60_000, "120,000 characters"), ("x" * 6_000, "5,000 characters")]
)
def test_a_text_that_is_too_long_is_not_pasted_and_that_is_said(ready: Stage, text: str, says: str) -> None:
    edit = opens(ready)
    QGuiApplication.clipboard().setText(text)
    QTest.keySequence(edit, QKeySequence(QKeySequence.StandardKey.Paste))
    assert edit.toPlainText() == ""
    assert says in said(ready, "system_prompt_problem")
    QTest.keyClicks(edit, "B")
    assert not ready.find("system_prompt_problem").isVisible()


def test_a_text_that_grew_too_long_to_be_saved_is_kept_all_the_same(ready: Stage) -> None:
    edit = opens(ready)
    QGuiApplication.clipboard().setText("x" * 4_000)
    for _ in range(2):
        QTest.keySequence(edit, QKeySequence(QKeySequence.StandardKey.Paste))
    assert "5,000 characters" in said(ready, "system_prompt_problem")
    closes(ready)
    asked = len(ready.engine.all(Tokenize))
    assert opens(ready).toPlainText() == "x" * 8_000
    assert "5,000 characters" in said(ready, "system_prompt_problem")
    assert not ready.find_as(QPushButton, "system_prompt_save").isEnabled()
    assert len(ready.engine.all(Tokenize)) == asked


def test_without_a_model_the_tokens_are_unknown_and_the_reason_is_told_on_hover(stage: Stage) -> None:
    QTest.keyClicks(opens(stage), BRIEF)
    settles(stage)
    assert said(stage, "system_prompt_tokens") == "– tokens"
    assert stage.find("system_prompt_tokens").toolTip() == "They are counted once a model is loaded."


@pytest.mark.parametrize("way", ["saved", "typed"])
def test_of_a_long_text_the_beginning_is_shown_and_the_end_where_it_is_not_saved(ready: Stage, way: str) -> None:
    text = "\n".join(f"Rule {number}." for number in range(60))
    if way == "saved":
        ready.desk.program.system_prompt.save(text)
    else:
        ready.desk.program.system_prompt.write(text)
    edit = opens(ready)
    place = edit.textCursor().position()
    assert place == (0 if way == "saved" else len(text))
    assert edit.viewport().rect().contains(edit.cursorRect())
    bar = edit.verticalScrollBar()
    assert (bar.value() > bar.maximum() // 2) is (way == "typed")


def test_many_presets_are_one_column_that_scrolls(ready: Stage) -> None:
    for number in range(60):
        ready.desk.program.chat_presets.save(f"Preset {number}", ChatPreset(BRIEF))
    opens(ready)
    menu = ready.find_as(QToolButton, "chat_presets_button").menu()
    menu.aboutToShow.emit()
    assert menu.sizeHint().width() < 2 * menu.actionGeometry(menu.actions()[0]).width()
    assert len({menu.actionGeometry(action).left() for action in menu.actions()}) == 1


def test_text_that_runs_right_to_left_begins_on_the_right(ready: Stage) -> None:
    edit = opens(ready)
    begin = edit.cursorRect().left()
    edit.insertPlainText("\n كن لطيفا.")  # the first paragraph with words decides
    first = edit.textCursor()
    first.movePosition(first.MoveOperation.StartOfBlock)
    assert edit.cursorRect(first).left() > edit.viewport().width() / 2
    edit.selectAll()
    QTest.keyClicks(edit, "Be")
    first = edit.textCursor()
    first.movePosition(first.MoveOperation.Start)
    assert edit.cursorRect(first).left() == begin


def test_the_editor_is_reached_and_used_by_keyboard_alone(ready: Stage) -> None:
    button = ready.find("system_prompt_button")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Space)
    dialog = ready.find("system_prompt_dialog")
    assert dialog.isVisible()
    begin = dialog.focusWidget()
    assert begin is ready.find("system_prompt_text")
    QTest.keyClicks(begin, BRIEF)
    reached = []
    for _ in range(10):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        if dialog.focusWidget() is begin:
            break
        reached.append(dialog.focusWidget().objectName())
    assert reached == ["system_prompt_back", "chat_presets_button", "system_prompt_cancel", "system_prompt_save"]
    nameless = [name for name in reached if not (ready.find(name).accessibleName() or ready.reads(name))]
    assert nameless == []


def test_the_action_opens_it_too(ready: Stage) -> None:
    ready.triggers("system_prompt_action")
    assert is_open(ready)


def test_the_preference_for_new_chats_is_shown_at_once_in_a_new_chat(ready: Stage) -> None:
    ready.clicks("preferences_button")
    QTest.keyClicks(ready.find("system_prompt_option"), BRIEF)
    assert ready.find("system_prompt_button").accessibleName() == f"System prompt: {BRIEF}"


def test_what_the_engine_says_after_the_editor_is_closed_reaches_nobody(ready: Stage) -> None:
    QTest.keyClicks(opens(ready), BRIEF)
    settles(ready)
    closes(ready)
    tokenize(ready.desk, 4)
    render(ready.desk, 9)
    assert not is_open(ready)


def test_the_editor_goes_with_the_window_and_keeps_what_is_typed(ready: Stage) -> None:
    QTest.keyClicks(opens(ready), "Be br")
    settles(ready)
    ready.window.close()
    assert ready.desk.program.settings.values.chats.prompt_drafts == {"0": "Be br"}
