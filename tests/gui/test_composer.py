"""What people write with: keys, long pastes and drafts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QElapsedTimer, QEvent, QMimeData, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImage, QInputMethodEvent, QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QPlainTextEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.core.attached_files import framed
from app.core.commands import Generate
from app.core.draft import MAX_CHARACTERS
from app.gui.chat.draft import LONG_LINE, LONG_TEXT, MAX_LINES
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.widgets.labels import NamedLabel
from tests.gui.conftest import Stage
from tests.gui.counting import counts, status

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
LONG = "x" * (LONG_LINE + 1)
GUARD_MS = 500
"""Ten times what a step of the window may take."""


def pastes(stage: Stage, text: str) -> None:
    """Paste a text as somebody does."""
    data = QMimeData()
    data.setText(text)
    QGuiApplication.clipboard().setMimeData(data)
    QTest.keySequence(stage.composer, QKeySequence(QKeySequence.StandardKey.Paste))


def rows(stage: Stage) -> list[str]:
    """Return what the rows of pasted texts say."""
    shown = [row for row in stage.window.findChildren(QFrame, "pasted_text") if row.isVisibleTo(stage.window)]
    labels = [row.findChild(NamedLabel, "pasted_facts") for row in shown]
    return [label.text() for label in labels if label is not None]


def button_of(stage: Stage, name: str, row: int = 0) -> QToolButton:
    shown = [row for row in stage.window.findChildren(QFrame, "pasted_text") if row.isVisibleTo(stage.window)]
    found = shown[row].findChild(QToolButton, name)
    assert found is not None
    return found


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Up, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_keys_of_an_input_method_that_composes_reach_neither_the_draft_nor_the_window(
    ready: Stage, key: Qt.Key
) -> None:
    ready.sends("Hi")
    ready.types("In ")
    QApplication.sendEvent(ready.composer, QInputMethodEvent("にほん", []))
    override = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
    override.ignore()
    QApplication.sendEvent(ready.composer, override)
    assert override.isAccepted()
    ready.presses(key)
    assert ready.engine.cancelled == []
    assert len(ready.engine.all(Generate)) == 1
    commit = QInputMethodEvent()
    commit.setCommitString("日本")
    QApplication.sendEvent(ready.composer, commit)
    assert ready.composer.toPlainText() == "In 日本"


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.KeypadModifier])
def test_enter_with_control_or_on_the_keypad_sends_too(ready: Stage, modifier: Qt.KeyboardModifier) -> None:
    ready.types("Hi")
    ready.presses(Qt.Key.Key_Enter, modifier)
    assert ready.engine.chat.messages[0].text == "Hi"


def test_the_field_grows_to_eight_lines_and_scrolls_then(ready: Stage) -> None:
    heights = []
    for _ in range(MAX_LINES + 3):
        heights.append(ready.composer.height())
        ready.presses(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    line = ready.composer.fontMetrics().lineSpacing()
    assert MAX_LINES == 8
    assert heights[-1] == heights[MAX_LINES - 1] == heights[0] + 6 * line
    assert ready.composer.verticalScrollBar().maximum() > 0


@pytest.mark.parametrize("text", [LONG, "word " * (LONG_TEXT // 5) + "\n"])
def test_a_long_paste_becomes_a_row_above_the_draft_and_is_sent_before_it(ready: Stage, text: str) -> None:
    ready.types("What is this?")
    pastes(ready, text)
    assert ready.composer.toPlainText() == "What is this?"
    assert rows(ready) == [f"Pasted text · {len(text):,} characters · – tokens"]
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[0].text == f"{text}\n\nWhat is this?"
    assert rows(ready) == []


def test_a_paste_of_ordinary_length_stays_text(ready: Stage) -> None:
    pastes(ready, "a<b>c\n" * 100)
    assert ready.composer.toPlainText() == "a<b>c\n" * 100
    assert rows(ready) == []


def test_many_pastes_that_are_long_together_do_not_fill_the_field(ready: Stage) -> None:
    for _ in range(3):
        pastes(ready, "short line\n" * (LONG_TEXT // 22))
    assert len(ready.composer.toPlainText()) <= LONG_TEXT
    assert len(rows(ready)) == 1


def test_several_pasted_texts_are_sent_in_order_without_a_draft(ready: Stage) -> None:
    for letter in "abcde":
        pastes(ready, letter * (LONG_LINE + 1))
    assert len(rows(ready)) == 5
    ready.clicks("send_button")
    sent = ready.engine.chat.messages[0].text
    assert sent.split("\n\n") == [letter * (LONG_LINE + 1) for letter in "abcde"]


def test_a_pasted_text_can_be_removed_by_mouse_and_keyboard(ready: Stage) -> None:
    pastes(ready, LONG)
    pastes(ready, LONG + "y")
    QTest.mouseClick(button_of(ready, "remove_pasted_button"), Qt.MouseButton.LeftButton)
    assert rows(ready) == [f"Pasted text · {len(LONG) + 1:,} characters · – tokens"]
    last = button_of(ready, "remove_pasted_button")
    last.setFocus()
    QTest.keyClick(last, Qt.Key.Key_Space)
    assert rows(ready) == []
    assert not ready.find("send_button").isEnabled()


def test_a_long_paste_is_undone_and_redone_in_turn_with_what_was_typed(ready: Stage) -> None:
    undo = QKeySequence(QKeySequence.StandardKey.Undo)
    redo = QKeySequence(QKeySequence.StandardKey.Redo)
    ready.types("one")
    pastes(ready, LONG)
    ready.types(" two")
    QTest.keySequence(ready.composer, undo)
    assert (ready.composer.toPlainText(), len(rows(ready))) == ("one", 1)
    QTest.keySequence(ready.composer, undo)
    assert (ready.composer.toPlainText(), len(rows(ready))) == ("one", 0)
    QTest.keySequence(ready.composer, undo)
    assert ready.composer.toPlainText() == ""
    for _ in range(3):
        QTest.keySequence(ready.composer, redo)
    assert (ready.composer.toPlainText(), len(rows(ready))) == ("one two", 1)


def test_a_pasted_text_can_be_read_and_copied_whole(ready: Stage) -> None:
    text = "x" * 2500 + "\n\nend\n" + "short\n" * 2000 + LONG + "\nthe end"
    pastes(ready, text)
    QTest.mouseClick(button_of(ready, "show_pasted_button"), Qt.MouseButton.LeftButton)
    viewer = ready.find_as(PasteViewer)
    view = viewer.findChild(QPlainTextEdit, "pasted_view")
    assert view is not None
    assert view.isReadOnly()
    ready.bot.waitUntil(lambda: view.toPlainText().endswith("the end"), timeout=60_000)
    assert view.toPlainText().replace("\n", "") == text.replace("\n", "")
    assert "x" * 1000 + "\n" + "x" * 1000 + "\n" + "x" * 500 + "\n\nend\nshort\n" in view.toPlainText()
    copy = next(each for each in viewer.findChildren(QPushButton) if each.text() == "Copy all")
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == text
    viewer.close()


def test_a_question_that_came_to_nothing_comes_back_with_its_pasted_texts(ready: Stage) -> None:
    pastes(ready, LONG)
    ready.sends("What is this?")
    ready.types("meanwhile")
    ready.engine.fail("template", text="It does not work.")
    ready.settle()
    assert ready.composer.toPlainText() == "What is this?\n\nmeanwhile"
    assert rows(ready) == [f"Pasted text · {len(LONG):,} characters · – tokens"]


def test_a_message_that_is_too_long_to_work_with_is_said_and_nothing_of_it_is_taken(ready: Stage) -> None:
    pastes(ready, "x" * MAX_CHARACTERS)
    assert len(rows(ready)) == 1
    pastes(ready, LONG)
    assert len(rows(ready)) == 1
    assert f"{MAX_CHARACTERS + len(LONG):,} characters" in ready.reads("notice_text")


def largest_gap(stage: Stage, act: Callable[[], None]) -> int:
    """Return the longest time in ms that the window did nothing else while somebody acted."""
    clock, gaps = QElapsedTimer(), [0]
    beat = QTimer()
    beat.timeout.connect(lambda: gaps.append(clock.restart()))
    beat.start(0)
    clock.start()
    act()
    stage.bot.waitUntil(lambda: len(gaps) > 20, timeout=60_000)
    beat.stop()
    return max(gaps)


@pytest.mark.parametrize("text", ["x" * 400_000, "x" * MAX_CHARACTERS, "log line\n" * (MAX_CHARACTERS // 9)])
def test_a_huge_paste_does_not_freeze_the_window(ready: Stage, text: str) -> None:
    assert largest_gap(ready, lambda: pastes(ready, text)) < GUARD_MS
    assert rows(ready) == [f"Pasted text · {len(text):,} characters · – tokens"]
    assert largest_gap(ready, lambda: ready.types("What is this?")) < GUARD_MS
    show = button_of(ready, "show_pasted_button")
    assert largest_gap(ready, lambda: QTest.mouseClick(show, Qt.MouseButton.LeftButton)) < GUARD_MS
    ready.find_as(PasteViewer).close()


def test_each_conversation_keeps_its_own_draft(ready: Stage) -> None:
    ready.sends("First")
    ready.desk.answer("1")
    first = ready.desk.program.chat.conversation_id
    ready.types("about the first")
    pastes(ready, LONG)
    ready.triggers("new_chat_action")
    assert (ready.composer.toPlainText(), rows(ready)) == ("", [])
    ready.sends("Second")
    ready.desk.answer("2")
    ready.types("about the second")
    second = ready.desk.program.chat.conversation_id
    ready.desk.program.conversations.open(first)
    ready.settle()
    assert (ready.composer.toPlainText(), len(rows(ready))) == ("about the first", 1)
    ready.desk.program.conversations.open(second)
    ready.settle()
    assert (ready.composer.toPlainText(), len(rows(ready))) == ("about the second", 0)


def test_a_pasted_text_says_how_many_tokens_it_has(ready: Stage) -> None:
    pastes(ready, LONG)
    counts(ready, draft=1234, prompt=1300)
    assert rows(ready) == [f"Pasted text · {len(LONG):,} characters · 1,234 tokens"]


@pytest.mark.parametrize("way", ["button", "escape", "menu"])
def test_stopping_is_shown_at_once_and_until_the_engine_confirms(ready: Stage, way: str) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.settle()
    if way == "button":
        ready.clicks("stop_button")
    elif way == "escape":
        ready.presses(Qt.Key.Key_Escape)
    else:
        ready.triggers("stop_action")
    assert status(ready) == "Stopping…"
    assert not ready.find("stop_button").isEnabled()
    ready.engine.write("more")
    ready.settle()
    assert status(ready) == "Stopping…"
    ready.engine.finish("cancelled")
    ready.settle()
    assert status(ready) != "Stopping…"
    ready.sends("Again")
    assert ready.find("stop_button").isEnabled()


def test_a_question_that_waits_for_another_conversation_says_for_which(ready: Stage) -> None:
    ready.sends("First of all")
    ready.engine.write("Half")
    ready.settle()
    ready.triggers("new_chat_action")
    ready.sends("Second")
    assert status(ready) == "This question waits for the answer in “First of all”"


def test_a_name_of_any_length_leaves_room_for_its_count_and_its_buttons(stage: Stage) -> None:
    composer = stage.window.parts.chat_page.composer
    composer.attach(framed("a.txt", "words"))
    composer.attach(framed(f"{'a very long name ' * 20}.txt", "words"))
    stage.settle()
    assert composer.rect().contains(
        composer.mapFromGlobal(button_of(stage, "remove_pasted_button", 1).mapToGlobal(QPoint()))
    )
    for name in ("show_pasted_button", "remove_pasted_button"):
        assert button_of(stage, name, 0).geometry() == button_of(stage, name, 1).geometry()
    short, long = stage.window.findChildren(NamedLabel, "pasted_facts")
    assert short.width() == short.maximumWidth() and long.minimumSizeHint().width() < long.width()


def painted(label: NamedLabel, width: int) -> QImage:
    label.resize(width, label.sizeHint().height())
    return label.grab().toImage()


def test_a_name_gives_way_in_its_middle_and_what_is_said_of_it_stays(qtbot: QtBot) -> None:
    label = NamedLabel()
    qtbot.addWidget(label)
    label.show_named("{name} · 5 tokens", "a {name} of many words that does not fit")
    assert label.text() == "a {name} of many words that does not fit · 5 tokens"
    assert label.minimumSizeHint().width() < label.maximumWidth() < 2_000
    short = painted(label, label.minimumSizeHint().width())
    label.show_named("{name} · 5 tokens", "…")
    assert painted(label, label.maximumWidth()) == short
