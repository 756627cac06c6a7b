"""Questions that people ask while an answer is written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from app.gui.widgets.labels import ElidedLabel
from tests.gui.conftest import Stage


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
