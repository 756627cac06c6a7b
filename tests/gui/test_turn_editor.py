"""The editor lies in the place of the message that is edited, which makes room for it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from app.gui.chat.transcript import Transcript
from app.gui.widgets.labels import ElidedLabel
from tests.gui.conftest import Stage


def say(stage: Stage, question: str, answer: str) -> None:
    stage.sends(question)
    stage.desk.answer(answer)
    stage.settle()


def transcript(stage: Stage) -> Transcript:
    return stage.window.parts.chat_page.transcript


def edit_first(stage: Stage) -> None:
    """Edit the first message, which need not be in view."""
    stage.window.parts.chat_page.turn_actions.edit(transcript(stage).turns.blocks.turns[0])
    stage.settle()


def test_the_editor_covers_nothing_of_the_next_message_however_much_is_written(ready: Stage) -> None:
    say(ready, "One", "1")
    say(ready, "Two", "2")
    places = transcript(ready).places
    natural = places.turn(0).height()
    edit_first(ready)
    editor, text = ready.find("turn_editor"), ready.find_as(QPlainTextEdit, "turn_editor_text")
    height = editor.height()
    assert places.turn(0).height() > natural
    assert editor.geometry() == places.turn(0)
    QTest.keyClicks(text, " and more" * 45)
    assert editor.height() > height
    assert editor.geometry() == places.turn(0)
    QTest.keyClick(text, Qt.Key.Key_Escape)
    assert places.turn(0).height() == natural


def test_a_message_that_is_edited_is_in_view(ready: Stage) -> None:
    for number in range(4):
        say(ready, f"Question {number}", "word " * 200)
    edit_first(ready)
    assert ready.find("turn_editor").geometry() == transcript(ready).places.turn(0)
    assert transcript(ready).viewport().rect().contains(transcript(ready).places.turn(0))


def test_another_chat_has_no_editor_and_no_room_for_it(ready: Stage) -> None:
    say(ready, "One", "1")
    edit_first(ready)
    ready.clicks("new_chat_button")
    assert not ready.sees("turn_editor")
    say(ready, "Uno", "1")
    edit_first(ready)
    assert ready.find("turn_editor").geometry() == transcript(ready).places.turn(0)


@pytest.mark.parametrize("index", [0, 1])
def test_what_its_keys_do_fits_beside_all_columns(ready: Stage, index: int) -> None:
    for side in ("left", "right"):
        assert ready.window.panes.shows(side)
    say(ready, "One", "1")
    ready.window.parts.chat_page.turn_actions.edit(transcript(ready).turns.blocks.turns[index])
    ready.settle()
    keys = ready.find_as(ElidedLabel, "turn_editor_keys")
    assert "keep the text" in keys.text()
    assert keys.fontMetrics().horizontalAdvance(keys.text()) <= keys.width()
