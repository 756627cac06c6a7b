"""What does not fit: one button that leads to the context that it needs, and none where that would not help."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox

from app.core.events import Failed
from app.core.words import translate
from app.gui.models.load_dialog import LoadOptionsDialog
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage
from tests.gui.counting import counts, settles, status

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def refuse(stage: Stage, tokens: int) -> None:
    """Let the engine refuse a question, before anybody counted it."""
    stage.sends("Far too long")
    sentence = translate("Test", "Too long: load the model with a larger context.")
    stage.engine.say(Failed(stage.engine.question.request, "prompt_too_long", sentence, tokens=tokens))
    stage.settle()


@pytest.mark.parametrize("button", ["notice_action", "larger_context_button"])
def test_a_larger_context_is_preset_and_offered_once(ready: Stage, button: str) -> None:
    refuse(ready, CONTEXT + 500)
    assert ready.sees("notice_action")
    if button == "larger_context_button":
        counts(ready, draft=CONTEXT, prompt=CONTEXT + 500)
        assert ready.sees(button) and not ready.sees("notice_action")
        assert ready.sees("notice_text")
    ready.clicks(button)
    dialog = ready.find_as(LoadOptionsDialog)
    ready.desk.until(lambda: ready.desk.program.load_options.file is not None)
    box = dialog.findChild(QDoubleSpinBox, "context_box")
    assert box is not None and box.value() == 2 * CONTEXT
    dialog.reject()


def test_beyond_the_training_it_is_said_plainly_and_nothing_is_offered_that_does_not_help(ready: Stage) -> None:
    refuse(ready, 9_000)
    assert not ready.sees("notice_action")
    assert "trained for 8,192 tokens: in a larger context its answers usually fall apart" in ready.reads(
        "notice_text"
    )
    counts(ready, draft=9_000, prompt=9_000)
    assert status(ready).startswith(
        "Too long: 9,000 tokens, and the model was trained for 8,192. Shorten the message."
    )
    assert not ready.sees("larger_context_button")
    assert "a larger context would not help" in ready.find("send_button").property("hint")


def test_what_was_told_goes_when_the_text_is_another_one(ready: Stage) -> None:
    refuse(ready, CONTEXT + 500)
    settles(ready)
    ready.settle()
    assert ready.sees("notice_text")
    QTest.keyClick(ready.composer, Qt.Key.Key_Backspace)
    settles(ready)
    assert not ready.sees("notice_text")


def test_what_was_told_goes_when_the_text_fits(ready: Stage) -> None:
    refuse(ready, CONTEXT + 500)
    counts(ready, draft=CONTEXT, prompt=50)
    assert not ready.sees("notice_text")
