"""A pass that goes on for another chat can be cancelled wherever one looks in its part: what waits for it says so."""

from __future__ import annotations

from array import array

import pytest
from PySide6.QtWidgets import QProgressBar

from app.core.attention import AttentionProgress
from app.core.commands import Cancel, ReadAttention, Tokenize
from app.core.events import Tokenized
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

PASSES = (
    ("attention", "attention_button", "attention_other", "attention_other_told", "another answer"),
    ("time", "operations_button", "time_other", "time_other_told", "another answer"),
    ("prompt", "score_button", "score", "score_told", "another prompt"),
)


@pytest.mark.parametrize(("part", "button", "other", "told", "whose"), PASSES, ids=("attention", "time", "prompt"))
def test_what_goes_on_for_another_chat_is_cancelled_on_the_empty_page(
    inspector: Inspector, part: str, button: str, other: str, told: str, whose: str
) -> None:
    looker, window = inspector, inspector.stage
    looker.answers()
    looker.opens()
    window.clicks(f"inside_{part}_tab")
    looker.known()
    window.desk.program.views.attention.select(3)
    window.settle()
    window.clicks(button)
    window.desk.program.conversations.new()
    window.triggers("inside_action")
    window.settle()
    assert window.sees(f"{other}_cancel") and window.sees(f"{other}_progress")
    assert looker.reads(told).endswith(f"tokens of {whose}")
    cancel = window.find(f"{other}_cancel")
    cancel.setFocus()
    window.clicks(f"{other}_cancel")
    window.engine.fail("cancelled", window.engine.all(Cancel)[-1].request)
    window.settle()
    assert not window.sees(f"{other}_cancel")
    assert not cancel.hasFocus()


def test_an_empty_page_follows_how_far_the_attention_of_another_chat_is(inspector: Inspector) -> None:
    looker, window = inspector, inspector.stage
    looker.answers()
    looker.opens()
    window.clicks("inside_attention_tab")
    looker.known()
    window.desk.program.views.attention.select(30)
    window.settle()
    window.clicks("attention_button")
    asked = window.engine.all(ReadAttention)[-1]
    window.desk.program.conversations.new()
    assert window.desk.program.chat.send("Does it wait?")
    window.triggers("inside_action")
    window.engine.say(AttentionProgress(asked.request, 12, 31))
    window.settle()
    assert window.find_as(QProgressBar, "attention_other_progress").value() == 12
    assert looker.reads("attention_other_told") == "12 of 31 tokens of another answer"
    window.clicks("attention_empty_example")
    window.engine.say(Tokenized(window.engine.all(Tokenize)[-1].request, array("i", range(11)).tobytes()))
    window.settle()
    assert looker.reads("attention_told").endswith("12 of 31 tokens of another answer")
    assert window.sees("attention_cancel")
