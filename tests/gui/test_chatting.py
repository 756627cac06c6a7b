from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.core.commands import Generate
from app.core.draft import MAX_CHARACTERS
from app.core.events import PrefillProgress
from app.gui.widgets.buttons import TickButton
from tests.gui.conftest import Stage


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_sends_what_is_written(ready: Stage, key: Qt.Key) -> None:
    ready.types("Why is the sky blue?")
    ready.presses(key)
    assert ready.engine.chat.messages[0].text == "Why is the sky blue?"
    assert ready.composer.toPlainText() == ""


def test_shift_and_enter_begin_a_new_line(ready: Stage) -> None:
    ready.types("one")
    ready.presses(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    ready.types("two")
    assert ready.engine.all(Generate) == []
    ready.clicks("send_button")
    assert ready.engine.chat.messages[0].text == "one\ntwo"


def test_enter_inside_an_input_method_neither_sends_nor_breaks_the_line(ready: Stage) -> None:
    ready.types("In ")
    QApplication.sendEvent(ready.composer, QInputMethodEvent("にほん", []))
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.all(Generate) == []
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(ready.composer, commit)
    assert ready.composer.toPlainText() == "In 日本"
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[0].text == "In 日本"


def test_nothing_but_white_space_is_not_sent(ready: Stage) -> None:
    ready.sends("   ")
    assert ready.engine.all(Generate) == []
    assert ready.composer.toPlainText() == "   "


def test_a_starter_prompt_is_sent_with_one_click(ready: Stage) -> None:
    wanted = "Explain why the sky is blue."
    button = next(each for each in ready.window.findChildren(QPushButton) if each.text() == wanted)
    assert button.isVisibleTo(ready.window)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert ready.engine.chat.messages[0].text == wanted
    assert ready.sees("transcript")
    assert ready.window.focusWidget() is ready.composer


def test_an_answer_can_be_read_while_it_is_written(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt()
    ready.engine.write("Hello\nthere")
    ready.settle()
    assert ready.transcript_text() == "Hi\n\nHello\nthere"
    ready.engine.write(", you")
    ready.engine.finish()
    ready.settle()
    assert ready.transcript_text() == "Hi\n\nHello\nthere, you"


@pytest.mark.parametrize(
    "text",
    [
        "Use vector<int> and List<String>, a<b>c, <think>x</think>, <!-- x -->, &amp;",
        '<img src="file:///etc/passwd"> ![p](http://127.0.0.1:9/x.png) # no heading',
        "\ttabs and  two spaces \u202eright to left\u202c \ufffd",
        "e\u0301 👨‍👩‍👧 日本語 العربية",
    ],
)
def test_what_people_write_is_shown_as_it_is_and_loses_nothing(ready: Stage, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    ready.composer.insertFromMimeData(data)
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("Hello")
    assert ready.transcript_text() == f"{text}\n\nHello"
    ready.find("transcript").grab()


@pytest.mark.parametrize(
    "text",
    [
        "Use vector<int> and List<String>, a<b>c, <think>x</think>, <!-- x -->, &amp;",
        "e\u0301 👨‍👩‍👧 日本語 العربية",
    ],
)
def test_an_answer_that_looks_like_a_page_of_the_web_loses_nothing(ready: Stage, text: str) -> None:
    ready.sends("Hi")
    ready.desk.answer(*text)
    assert ready.transcript_text() == f"Hi\n\n{text}"
    ready.find("transcript").grab()


@pytest.mark.parametrize("way", ["button", "escape", "menu"])
def test_an_answer_can_be_stopped_in_several_ways(ready: Stage, way: str) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.settle()
    assert ready.sees("stop_button")
    if way == "button":
        ready.clicks("stop_button")
    elif way == "escape":
        ready.presses(Qt.Key.Key_Escape)
    else:
        ready.triggers("stop_action")
    assert ready.engine.cancelled == [ready.engine.question.request]
    ready.engine.finish("cancelled")
    ready.settle()
    assert ready.sees("send_button")
    assert ready.transcript_text() == "Hi\n\nHalf"


def test_escape_without_an_answer_keeps_the_draft(ready: Stage) -> None:
    ready.types("draft")
    ready.presses(Qt.Key.Key_Escape)
    assert ready.composer.toPlainText() == "draft"
    assert ready.engine.cancelled == []


def test_what_is_written_during_an_answer_stays_a_draft(ready: Stage) -> None:
    ready.sends("One")
    ready.types("Two")
    assert len(ready.engine.all(Generate)) == 1
    assert ready.composer.toPlainText() == "Two"
    ready.desk.answer("1")
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[-1].text == "Two"


def test_a_question_that_came_to_nothing_is_in_the_composer_again(ready: Stage) -> None:
    ready.sends("Far too long")
    ready.types("meanwhile")
    ready.engine.fail("prompt_too_long", text="3,031 of 1,024 tokens.")
    ready.settle()
    assert ready.composer.toPlainText() == "Far too long\n\nmeanwhile"
    assert ready.reads("notice_text") == "3,031 of 1,024 tokens."
    assert not ready.sees("transcript")


def test_reading_the_prompt_shows_how_far_it_is(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.say(PrefillProgress(ready.engine.question.request, 300, 1200, 0, 0))
    ready.settle()
    bar = ready.find("prefill_progress")
    assert ready.sees("prefill_progress")
    assert (bar.property("value"), bar.property("maximum")) == (300, 1200)
    status = ready.find("composer_status")
    assert status.accessibleName() == "Reading the prompt: 300 of 1,200 tokens"
    ready.engine.write("x")
    ready.settle()
    assert not ready.sees("prefill_progress")
    assert "Reading" not in status.accessibleName()


def test_an_answer_can_be_written_again_and_copied(ready: Stage) -> None:
    ready.sends("Hi")
    assert not ready.sees("answer_again_button")
    ready.desk.answer("old")
    assert ready.sees("answer_again_button")
    ready.clicks("answer_again_button")
    ready.desk.answer("new")
    ready.clicks("copy_answer_button")
    assert QGuiApplication.clipboard().text() == "new"


def test_a_copy_is_confirmed_by_a_tick_that_goes_away(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    button = ready.find_as(TickButton, "copy_answer_button")
    assert button.icon_name == "copy"
    ready.clicks("copy_answer_button")
    assert button.icon_name == "done"
    ready.bot.waitUntil(lambda: button.icon_name == "copy", timeout=60_000)


def test_a_new_chat_begins_empty(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.clicks("new_chat_button")
    assert not ready.sees("transcript")
    ready.sends("Fresh")
    assert [message.text for message in ready.engine.chat.messages] == ["Fresh"]


def test_a_text_that_is_too_long_to_work_with_is_said_and_not_pasted(ready: Stage) -> None:
    data = QMimeData()
    data.setText("x" * (MAX_CHARACTERS + 1))
    ready.composer.insertFromMimeData(data)
    assert ready.composer.toPlainText() == ""
    assert "1,000,001 characters" in ready.reads("notice_text")


def test_pasting_takes_text_and_no_formats(ready: Stage) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("a<b>c")
    ready.composer.insertFromMimeData(data)
    assert ready.composer.toPlainText() == "a<b>c"


def test_without_a_model_a_question_is_kept_and_the_way_on_is_shown(stage: Stage) -> None:
    stage.sends("Hi")
    assert stage.composer.toPlainText() == "Hi"
    assert stage.reads("notice_action") == "Open a model…"


def test_a_question_sent_while_the_model_loads_is_answered_afterwards(stage: Stage, model: Path) -> None:
    stage.desk.begin_load(model)
    stage.sends("Hi")
    assert stage.engine.all(Generate) == []
    stage.engine.loaded()
    stage.settle()
    stage.desk.answer("Hello")
    assert stage.transcript_text() == "Hi\n\nHello"


def test_the_draft_of_a_new_chat_waits_for_the_next_new_chat(ready: Stage) -> None:
    ready.sends("One")
    ready.desk.answer("1")
    first = ready.desk.program.conversations.open_id
    ready.triggers("new_chat_action")
    ready.types("half a thought")
    ready.desk.program.conversations.open(first)
    assert ready.composer.toPlainText() == ""
    ready.triggers("new_chat_action")
    assert ready.composer.toPlainText() == "half a thought"


def test_a_message_of_nothing_that_can_be_sent_stays_where_it_is(ready: Stage) -> None:
    ready.composer.setPlainText("\x00 \x00")
    before = ready.composer.toPlainText()
    ready.presses(Qt.Key.Key_Return)
    assert ready.composer.toPlainText() == before
    assert ready.engine.all(Generate) == []
