"""Questions that people ask while an answer is written."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QWidget

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
    assert rows(ready) == ["Waits: Two"]
    seen = [row for row in ready.window.findChildren(QFrame, "queued_row") if row.isVisible()]
    assert [row.accessibleName() for row in seen] == ["Waits: Two"]
    ready.clicks("queued_send_button")
    assert rows(ready) == []
    assert ready.desk.program.chat.turns[2].text == "Two"


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
