"""Questions that people ask while an answer is written."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from app.gui.chat.queued_list import MOST_ROWS, MOST_UNFOLDED_ROWS, ROW_PX, QueuedList
from app.gui.widgets.labels import ElidedLabel
from tests.gui.conftest import Stage
from tests.gui.counting import counts


def rows(stage: Stage) -> list[str]:
    """Return what the rows above the composer say."""
    labels = stage.window.findChildren(ElidedLabel, "queued_text")
    return [label.text() for label in labels if label.isVisible()]


def test_a_question_that_is_sent_too_early_waits_above_the_composer_and_is_sent(ready: Stage) -> None:
    ready.sends("One")
    ready.sends("Two")
    assert rows(ready) == ["Next: Two"]
    assert ready.composer.toPlainText() == ""
    assert len(ready.desk.program.chat.turns) == 2
    ready.desk.answer("1")
    ready.settle()
    assert rows(ready) == []
    assert [turn.text for turn in ready.desk.program.chat.turns] == ["One", "1", "Two", ""]


def test_of_several_that_wait_it_is_said_which_one_is_next(ready: Stage) -> None:
    for question in ("One", "Two", "Three", "Four"):
        ready.sends(question)
    assert rows(ready) == ["Next: Two", "Then: Three", "Then: Four"]


def test_one_that_waits_is_taken_back_and_edited(ready: Stage) -> None:
    ready.sends("One")
    ready.sends("Two")
    ready.types("Three")
    ready.clicks("queued_edit_button")
    assert rows(ready) == []
    assert ready.composer.toPlainText() == "Two\n\nThree"
    assert ready.composer.hasFocus()


def test_after_a_stop_it_waits_for_a_click(ready: Stage) -> None:
    ready.sends("One")
    ready.desk.engine.prompt()
    ready.desk.engine.write("Half")
    ready.sends("Two")
    ready.presses(Qt.Key.Key_Escape)
    ready.desk.engine.finish("cancelled")
    ready.settle()
    assert rows(ready) == ["Before your next question: Two"]
    seen = [row for row in ready.window.findChildren(QFrame, "queued_row") if row.isVisible()]
    assert [row.accessibleName() for row in seen] == ["Before your next question: Two"]
    ready.clicks("queued_send_button")
    assert rows(ready) == []
    assert ready.desk.program.chat.turns[2].text == "Two"


def stops_with(stage: Stage, *questions: str) -> int:
    """Have an answer stopped while questions wait; return the chat."""
    stage.sends("One")
    stage.desk.engine.prompt()
    stage.desk.engine.write("Half")
    for question in questions:
        stage.sends(question)
    stage.presses(Qt.Key.Key_Escape)
    stage.desk.engine.finish("cancelled")
    stage.settle()
    return stage.desk.program.conversations.open_id


@pytest.mark.parametrize("way", ["open", "undo", "trash"])
def test_what_waits_is_not_in_the_composer_too_when_its_chat_is_shown_again(ready: Stage, way: str) -> None:
    program = ready.desk.program
    program.conversations.start()
    first = stops_with(ready, "Two", "Three")
    if way == "open":
        ready.triggers("new_chat_action")
        program.conversations.open(first)
    else:
        program.conversations.delete(first)
    if way == "undo":
        program.conversations.undo_delete()
    if way == "trash":
        program.trash.look()
        assert program.trash.items
        program.trash.restore(program.trash.items[0])
    ready.settle()
    assert program.conversations.open_id == first
    assert rows(ready) == ["Before your next question: Two", "Then: Three"]
    assert ready.composer.toPlainText() == ""


def test_after_a_stop_what_waits_goes_before_what_is_asked_next(ready: Stage) -> None:
    stops_with(ready, "Two")
    ready.sends("Three")
    assert rows(ready) == ["Next: Three"]
    ready.desk.answer("2")
    ready.desk.answer("3")
    assert [turn.text for turn in ready.desk.program.chat.turns] == ["One", "Half", "Two", "2", "Three", "3"]


def test_a_question_that_came_back_goes_before_what_was_asked_after_it(ready: Stage) -> None:
    ready.sends("One")
    ready.desk.answer("1")
    ready.sends("Two")
    ready.sends("Three")
    ready.engine.fail("template")
    ready.settle()
    assert (rows(ready), ready.composer.toPlainText()) == (["After your next question: Three"], "Two")
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("2")
    ready.desk.answer("3")
    assert [turn.text for turn in ready.desk.program.chat.turns] == ["One", "1", "Two", "2", "Three", "3"]


def test_without_a_chat_what_waits_goes_back_to_the_composer_behind_its_first_question(ready: Stage) -> None:
    for question in ("One", "Two", "Three"):
        ready.sends(question)
    ready.engine.fail("template")
    ready.settle()
    assert (rows(ready), ready.composer.toPlainText()) == ([], "One\n\nTwo\n\nThree")


def test_of_many_that_wait_the_others_unfold_and_can_be_withdrawn(ready: Stage) -> None:
    questions = [f"Question {number}" for number in range(MOST_UNFOLDED_ROWS + 2)]
    ready.sends("One")
    for question in questions:
        ready.sends(question)
    fold = ready.find_as(QToolButton, "queued_fold_button")
    assert len(rows(ready)) == MOST_ROWS
    assert fold.isVisible() and fold.text() == f"{len(questions) - MOST_ROWS} more wait · Show all"
    ready.clicks("queued_fold_button")
    assert [row.partition(": ")[2] for row in rows(ready)] == questions
    assert ready.find("queued_list").sizeHint().height() < (MOST_UNFOLDED_ROWS + 2) * ROW_PX
    last = ready.window.findChildren(QWidget, "queued_withdraw_button")[-1]
    last.setFocus()
    QTest.keyClick(last, Qt.Key.Key_Delete)
    assert [row.partition(": ")[2] for row in rows(ready)] == questions[:-1]
    ready.clicks("queued_fold_button")
    assert (len(rows(ready)), fold.text()) == (MOST_ROWS, f"{len(questions) - 1 - MOST_ROWS} more wait · Show all")
    fold.setFocus()
    with ready.bot.waitSignal(ready.find_as(QueuedList).keyboard_left):
        for _ in range(len(questions) - 1 - MOST_ROWS):
            ready.desk.program.queue.withdraw(ready.desk.program.queue.shown[0].number)
    assert (len(rows(ready)), fold.isVisible(), ready.composer.hasFocus()) == (MOST_ROWS, False, True)


def test_one_that_goes_to_another_version_is_told_and_shown(ready: Stage) -> None:
    chat, branches = ready.desk.program.chat, ready.desk.program.branches
    ready.sends("One")
    ready.desk.answer("1")
    branches.answer_again(chat.turns[1])
    ready.sends("Two")
    branches.step(chat.turns[1], -1)
    ready.desk.answer("uno")
    ready.settle()
    assert [turn.text for turn in chat.turns] == ["One", "1"]
    assert (rows(ready), ready.sees("stop_button")) == ([], True)
    assert ready.reads("notice_text") == "“Two” was sent in another version of this chat."
    assert ready.reads("notice_action") == "Show it"
    ready.clicks("notice_action")
    assert [turn.text for turn in chat.turns] == ["One", "uno", "Two", ""]
    assert ready.desk.program.notices.latest is None


def test_the_time_to_a_short_answer_is_its_own_though_the_next_one_is_waited_for(ready: Stage) -> None:
    ready.sends("One")
    ready.sends("Two")
    ready.desk.answer("1")
    ready.bot.waitUntil(lambda: ready.desk.program.chat.turns[1].ttft_ms is not None, timeout=10_000)
    assert ready.desk.program.chat.turns[3].ttft_ms is None


@pytest.mark.parametrize("way", ["button", "key"])
def test_one_that_waits_is_withdrawn_and_that_is_undone(ready: Stage, way: str) -> None:
    for question in ("One", "Two", "Three"):
        ready.sends(question)
    if way == "button":
        ready.clicks("queued_withdraw_button")
    else:
        seen = (each for each in ready.window.findChildren(QWidget, "queued_withdraw_button") if each.isVisible())
        button = next(seen)
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_Delete)
    assert rows(ready) == ["Next: Three"]
    assert ready.composer.toPlainText() == ""
    assert ready.reads("notice_text") == "“Two” is not sent."
    ready.clicks("notice_action")
    assert rows(ready) == ["Next: Two", "Then: Three"]
    assert ready.desk.program.notices.latest is None


def test_what_waits_is_counted_as_what_is_sent_next(ready: Stage) -> None:
    ready.desk.program.settings.change(when_full="drop_oldest")
    for number in range(3):
        ready.sends(f"Question {number}")
        ready.desk.answer(f"Answer {number}")
    ready.sends("Now")
    ready.engine.prompt(3000, 0, dropped=(0, 1))
    ready.engine.write("Half")
    ready.settle()
    ready.sends("Later")
    counts(ready, draft=4, prompt=3000, dropped=(0, 1, 2, 3))
    ready.bot.waitUntil(
        lambda: ready.reads("left_out_button") == "Without at least the 4 oldest messages", timeout=10_000
    )
    ready.presses(Qt.Key.Key_Escape)
    ready.engine.finish("cancelled")
    ready.settle()
    counts(ready, draft=4, prompt=3000, dropped=(0, 1, 2, 3))
    assert ready.reads("left_out_button") == "Without the 4 oldest messages"
