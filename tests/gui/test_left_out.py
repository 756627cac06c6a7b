"""Which of the oldest messages the next send goes without, foretold while people type."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.gui.chat.composer import StatusLine
from app.gui.chat.left_out_button import MOST_SHOWN
from app.gui.chat.transcript import Transcript
from tests.gui.conftest import Stage
from tests.gui.counting import counts, status

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WORDS = "Not sent any more: the context is full"


def chat(stage: Stage, turns: int) -> None:
    """Have a chat in which the oldest turns go, with a message on the way."""
    stage.desk.program.settings.change(when_full="drop_oldest")
    for number in range(turns):
        stage.sends(f"Question {number} & more of it")
        stage.desk.answer(f"Answer {number}")
    stage.types("Next")


def transcript(stage: Stage) -> Transcript:
    return stage.window.parts.chat_page.transcript


def picture(stage: Stage) -> QImage:
    return transcript(stage).viewport().grab().toImage()


def menu_of(stage: Stage) -> QMenu:
    found = stage.find_as(QMenu, "left_out_menu")
    assert found.isVisible()
    return found


def described(stage: Stage, index: int) -> str:
    whole = QAccessible.queryAccessibleInterface(transcript(stage))
    assert whole is not None
    return whole.child(index).text(QAccessible.Text.Description)


def test_what_will_be_left_out_is_said_beside_the_count_and_marked_in_the_transcript(ready: Stage) -> None:
    chat(ready, 3)
    counts(ready, draft=4, prompt=3000)
    assert not ready.sees("left_out_button")
    before = picture(ready)
    ready.types("!")
    counts(ready, draft=5, prompt=3000, dropped=(0, 1, 2, 3))
    assert ready.reads("left_out_button") == "Without the 4 oldest messages"
    assert status(ready).endswith("1,096 left")
    line = ready.find_as(StatusLine, "composer_status")
    widest = line.fontMetrics().horizontalAdvance("+12,345 tokens · 12,345 read · 12,345 left")
    assert line.width() >= widest
    assert "goes without 4 of the oldest messages" in ready.find("composer_status").accessibleDescription()
    shown = ready.find("left_out_button").property("hint").split("\n")
    assert shown == [
        "You: Question 0 & more of it",
        "tiny: Answer 0",
        "You: Question 1 & more of it",
        "tiny: Answer 1",
    ]
    assert picture(ready) != before
    assert [described(ready, index).startswith(WORDS) for index in range(6)] == [True] * 4 + [False] * 2
    ready.presses(Qt.Key.Key_Backspace)
    counts(ready, draft=4, prompt=3000)
    assert not ready.sees("left_out_button")
    assert picture(ready) == before


def test_one_message_is_told_as_one(ready: Stage) -> None:
    chat(ready, 1)
    counts(ready, draft=4, prompt=3000, dropped=(0,))
    assert ready.reads("left_out_button") == "Without the oldest message"


@pytest.mark.parametrize("way", ["click", "key"])
def test_the_list_leads_to_a_message(ready: Stage, way: str) -> None:
    chat(ready, 8)
    counts(ready, draft=4, prompt=3000, dropped=tuple(range(13)))
    if way == "click":
        ready.clicks("left_out_button")
    else:
        ready.find("left_out_button").setFocus()
        QTest.keyClick(ready.find("left_out_button"), Qt.Key.Key_Space)
    menu = menu_of(ready)
    entries = [action.text() for action in menu.actions()]
    assert entries[0] == "3 older ones" and not menu.actions()[0].isEnabled()
    assert len(entries) == MOST_SHOWN + 1
    assert entries[1] == "tiny: Answer 1"
    assert entries[2] == "You: Question 2 && more of it"
    menu.actions()[2].trigger()
    menu.close()
    turn = transcript(ready).at_hand
    assert turn is not None and turn.text == "Question 2 & more of it"
    place = transcript(ready).places.turn(4)
    assert transcript(ready).viewport().rect().contains(place)


def test_what_was_foretold_stays_marked_while_the_question_is_answered(ready: Stage) -> None:
    chat(ready, 2)
    counts(ready, draft=4, prompt=3000, dropped=(0, 1))
    marked = transcript(ready).left_out
    assert len(marked) == 2
    ready.presses(Qt.Key.Key_Return)
    assert transcript(ready).left_out == marked
    ready.engine.prompt(3000, 0, dropped=(0, 1))
    ready.engine.write("So")
    ready.settle()
    assert transcript(ready).left_out == marked
    assert ready.reads("left_out_button") == "Without the 2 oldest messages"
    ready.types("And then?")
    counts(ready, draft=4, prompt=3000, dropped=(0, 1, 2))
    ready.bot.waitUntil(
        lambda: ready.reads("left_out_button") == "Without at least the 3 oldest messages",
        timeout=60_000,
    )


def test_another_chat_has_no_marks(ready: Stage) -> None:
    chat(ready, 2)
    counts(ready, draft=4, prompt=3000, dropped=(0, 1))
    ready.clicks("new_chat_button")
    assert transcript(ready).left_out == frozenset()
    assert not ready.sees("left_out_button")


def test_the_keyboard_is_not_lost_with_the_button(ready: Stage) -> None:
    chat(ready, 2)
    counts(ready, draft=4, prompt=3000, dropped=(0, 1))
    ready.find("left_out_button").setFocus()
    ready.desk.program.settings.change(when_full="stop")
    ready.desk.program.prompt_count.look_again()
    counts(ready, draft=4, prompt=5000)
    assert not ready.sees("left_out_button")
    assert ready.window.focusWidget() is ready.composer
    assert status(ready) == "Too long by 905: 5,000 + 1 for the answer, of 4,096."
