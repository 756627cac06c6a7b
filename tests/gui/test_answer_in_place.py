"""An answer that comes in the place of another one: what is in view while it is waited for, and after a stop."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.gui.chat.anchor import anchor_at
from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.gui.conftest import Stage
from tests.gui.transcripts import grow, on_screen, themes, transcript

__all__ = ["themes", "transcript"]

LONG = "word " * 2500


def view_of(stage: Stage) -> Transcript:
    return stage.window.parts.chat_page.transcript


def answers_again(stage: Stage) -> None:
    stage.triggers("answer_again_action")
    stage.settle()


def is_whole_in_view(shown: Transcript, index: int) -> bool:
    return shown.viewport().rect().contains(shown.places.turn(index))


@pytest.fixture
def answered(ready: Stage) -> Stage:
    """Return the stage with an answer that is much longer than the view."""
    ready.sends("One")
    ready.desk.answer(LONG)
    ready.settle()
    return ready


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_the_question_and_the_answer_that_is_waited_for_are_in_view_and_the_end_is_followed(
    answered: Stage, share: float
) -> None:
    shown = view_of(answered)
    bar = shown.verticalScrollBar()
    bar.setValue(round(bar.maximum() * share))
    answers_again(answered)
    assert is_whole_in_view(shown, 0) and is_whole_in_view(shown, 1)
    answered.engine.prompt()
    for _ in range(4):
        answered.engine.write("other " * 400)
        answered.settle()
        assert shown.is_at_end
    assert bar.value() > 0


@pytest.mark.parametrize("share", [0.4, 1.0])
@pytest.mark.parametrize("at_hand", [False, True])
def test_the_old_answer_is_seen_as_before_after_a_stop_while_the_prompt_is_read(
    answered: Stage, share: float, at_hand: bool
) -> None:
    shown = view_of(answered)
    bar = shown.verticalScrollBar()
    if at_hand:
        QTest.keySequence(answered.composer, QKeySequence("Alt+Up"))
    bar.setValue(round(bar.maximum() * share))
    place = anchor_at(shown.turns, bar.value())
    answers_again(answered)
    answered.presses(Qt.Key.Key_Escape)
    answered.engine.finish("cancelled")
    answered.settle()
    assert [turn.text for turn in answered.desk.program.chat.turns] == ["One", LONG]
    back = anchor_at(shown.turns, bar.value())
    assert back is not None and place is not None and back[:2] == place[:2]
    assert shown.is_at_end is (share == 1.0)
    assert (shown.at_hand is not None) is at_hand


def test_a_version_that_ends_above_the_view_is_shown_at_its_end(answered: Stage) -> None:
    answers_again(answered)
    answered.desk.answer("short")
    answered.settle()
    shown = view_of(answered)
    branches = answered.desk.program.branches
    branches.step(answered.desk.program.chat.turns[1], -1)
    answered.settle()
    bar = shown.verticalScrollBar()
    bar.setValue(bar.maximum())
    branches.step(answered.desk.program.chat.turns[1], 1)
    answered.settle()
    assert is_whole_in_view(shown, 0) and is_whole_in_view(shown, 1)


@pytest.mark.parametrize("is_followed", [False, True])
def test_the_ring_around_an_answer_is_whole_while_it_is_written(transcript: Transcript, is_followed: bool) -> None:
    if is_followed:
        transcript.add(Turn(1, "user", LONG[:1500]))
    turn = Turn(2, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    transcript.activateWindow()
    transcript.take(2)
    transcript.setFocus()
    assert transcript.hasFocus()
    on_screen(transcript)
    for _ in range(8):
        grow(transcript, turn, "More words that wrap sooner or later. " * 4)
        grown = on_screen(transcript)
        transcript.viewport().update()
        assert on_screen(transcript) == grown


@pytest.mark.parametrize("at_hand", [False, True])
def test_the_keyboard_goes_on_where_it_belongs_from_the_button_that_leads_to_the_end(
    answered: Stage, at_hand: bool
) -> None:
    answers_again(answered)
    answered.desk.answer(LONG)
    answered.settle()
    shown = view_of(answered)
    if at_hand:
        QTest.keySequence(answered.composer, QKeySequence("Alt+Up"))
    shown.verticalScrollBar().setValue(0)
    latest = next(
        each for each in shown.findChildren(QAbstractButton) if each.accessibleName() == "Go to the latest text"
    )
    latest.setFocus()
    QTest.mouseClick(latest, Qt.MouseButton.LeftButton)
    answered.settle()
    assert shown.is_at_end and not latest.isVisible()
    assert answered.window.focusWidget() is (shown if at_hand else answered.composer)
