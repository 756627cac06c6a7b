"""What people see and can do when the context is full."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel

from app.core.commands import Generate
from app.core.metrics import StopReason
from app.gui.chat import footer
from app.gui.chat.turn_block import DROPPED_PX, NAME_PX, Shape, TurnBlock
from app.gui.models.load_dialog import LoadOptionsDialog
from app.services.turns import Turn
from tests.desk import Desk
from tests.gui.conftest import Stage


def ends(stage: Stage, reason: StopReason, text: str = "Half an ans") -> None:
    """Ask, and let the answer end for a reason."""
    stage.sends("Hi")
    stage.engine.prompt()
    stage.engine.write(text, count=2)
    stage.engine.finish(reason)
    stage.settle()


@pytest.mark.parametrize("way", ["button", "space", "menu", "keys"])
def test_an_answer_that_ended_early_can_be_continued_in_several_ways(ready: Stage, way: str) -> None:
    ends(ready, "context_full")
    assert ready.sees("go_on_button")
    if way == "button":
        ready.clicks("go_on_button")
    elif way == "space":
        ready.find("go_on_button").setFocus()
        QTest.keyClick(ready.find("go_on_button"), Qt.Key.Key_Space)
    elif way == "menu":
        ready.triggers("go_on_action")
    else:
        ready.presses(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert ready.engine.chat.continue_last
    assert not ready.sees("go_on_button")
    assert ready.transcript_text() == "Hi\n\nHalf an ans"
    ready.engine.prompt(answer=(0, 1))
    ready.engine.write("wer")
    ready.settle()
    assert ready.transcript_text() == "Hi\n\nHalf an answer"
    ready.engine.finish(rest=".")
    ready.settle()
    assert ready.transcript_text() == "Hi\n\nHalf an answer."
    assert not ready.sees("go_on_button") and ready.sees("answer_again_button")


@pytest.mark.parametrize(
    ("reason", "offered"),
    [("end", False), ("stop_string", False), ("length", True), ("cancelled", True), ("context_full", True)],
)
def test_only_an_answer_that_was_stopped_offers_to_go_on(ready: Stage, reason: StopReason, offered: bool) -> None:
    ends(ready, reason)
    assert ready.sees("go_on_button") is offered
    assert ready.find_as(QAction, "go_on_action").isEnabled() is offered
    assert ready.find("go_on_button").accessibleName() == "Continue the answer"
    ready.clicks("new_chat_button")
    assert not ready.find_as(QAction, "go_on_action").isEnabled()


def test_an_answer_that_a_death_interrupted_can_go_on_once_the_engine_is_back(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.engine.die(ready.engine.question.request)
    ready.settle()
    assert ready.sees("go_on_button")
    assert ready.find_as(QAction, "go_on_action").isEnabled()


def test_an_answer_that_cannot_go_on_says_why_and_stays(ready: Stage) -> None:
    ends(ready, "context_full")
    ready.clicks("go_on_button")
    ready.engine.fail("prompt_too_long", text="The chat has 4,096 tokens and the context holds 4,096.")
    ready.settle()
    assert ready.reads("notice_text") == "The chat has 4,096 tokens and the context holds 4,096."
    assert ready.transcript_text() == "Hi\n\nHalf an ans"
    assert ready.composer.toPlainText() == ""
    assert ready.sees("go_on_button")


@pytest.mark.qt_log_ignore("^This plugin does not support")  # the offscreen platform, of every dialog
def test_what_does_not_fit_offers_a_larger_context_and_is_over_with_the_next_load(ready: Stage, model: Path) -> None:
    ready.sends("Far too long")
    ready.engine.fail("prompt_too_long", text="The prompt has 5,000 tokens and the context holds 4,096.")
    ready.settle()
    assert ready.reads("notice_action") == "Larger context…"
    ready.clicks("notice_action")
    ready.find_as(LoadOptionsDialog).reject()
    assert ready.sees("notice_text")
    ready.load(model)
    assert not ready.sees("notice_text")


def test_a_refused_question_leaves_the_answer_before_it_as_it_was(ready: Stage) -> None:
    ends(ready, "context_full")
    ready.sends("More")
    assert not ready.sees("go_on_button")
    ready.engine.fail("prompt_too_long")
    ready.settle()
    assert ready.composer.toPlainText() == "More"
    assert ready.sees("go_on_button")
    assert ready.find_as(QAction, "go_on_action").isEnabled()


def test_the_policy_of_a_full_context_is_chosen_beside_the_limits(ready: Stage) -> None:
    box = ready.find_as(QComboBox, "when_full_box")
    assert box.accessibleName() == "When the context is full"
    assert [caption.text() for caption in ready.window.findChildren(QLabel) if caption.buddy() is box] == [
        "When the context is full"
    ]
    assert (box.currentText(), box.count()) == ("Stop", 2)
    ready.sends("One")
    ready.desk.answer("1")
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText() == "Drop the oldest turns"
    assert ready.desk.program.settings.values.when_full == "drop_oldest"
    ready.sends("Two")
    assert [asked.when_full for asked in ready.engine.all(Generate)] == ["stop", "drop_oldest"]


def test_what_was_chosen_is_shown_by_the_next_window(desk: Desk, request: pytest.FixtureRequest) -> None:
    desk.program.settings.change(when_full="drop_oldest")
    stage: Stage = request.getfixturevalue("stage")
    assert stage.find_as(QComboBox, "when_full_box").currentText() == "Drop the oldest turns"


@pytest.mark.parametrize(
    ("dropped", "line"),
    [
        (0, ""),
        (1, "1 earlier message was not sent: the context is full"),
        (1234, "1,234 earlier messages were not sent: the context is full"),
    ],
)
def test_a_line_in_the_transcript_says_how_many_messages_were_not_sent(ready: Stage, dropped: int, line: str) -> None:
    ready.sends("Hi")
    ready.engine.prompt(dropped=tuple(range(dropped)))
    ready.engine.write("Hello")
    ready.engine.finish()
    ready.settle()
    assert footer.dropped(ready.desk.program.chat.turns[-1]) == line
    assert ready.find("transcript").accessibleDescription() == line
    assert not ready.sees("notice_bar")
    assert ready.transcript_text() == "Hi\n\nHello"


def test_the_line_takes_its_own_place_above_the_answer(ready: Stage) -> None:
    plain, missing = Turn(1, "assistant", "Hello"), Turn(2, "assistant", "Hello", dropped=12)
    blocks = [TurnBlock(plain), TurnBlock(missing)]
    for block in blocks:
        block.lay_out(600)
    assert blocks[1].height - blocks[0].height == DROPPED_PX
    assert blocks[1].text_top - blocks[0].text_top == DROPPED_PX


@pytest.mark.parametrize("dropped", [0, 12])
def test_the_line_is_painted_between_the_name_and_the_text(ready: Stage, dropped: int) -> None:
    block = TurnBlock(Turn(1, "assistant", author="tiny", dropped=dropped))
    block.lay_out(600)
    picture = QImage(600, block.height, QImage.Format.Format_RGB32)
    picture.fill(0xFFFFFF)
    painter = QPainter(picture)
    block.paint(painter, Shape(0, 600), QRectF(picture.rect()), ready.themes.current, None)
    painter.end()
    band = picture.copy(0, NAME_PX, 600, DROPPED_PX)
    blank = QImage(band.size(), band.format())
    blank.fill(0xFFFFFF)
    assert (band != blank) is bool(dropped)


def test_the_line_is_there_as_soon_as_the_prompt_is(ready: Stage) -> None:
    transcript = ready.find("transcript")

    def shown() -> QImage:
        return transcript.grab().toImage()

    ready.sends("Hi")
    before = shown()
    ready.engine.prompt(dropped=(0, 1))
    ready.settle()
    assert shown() != before
