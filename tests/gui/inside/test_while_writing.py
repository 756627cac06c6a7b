"""The page Inside while the answer that is looked at is written: it is stopped and stepped through by its buttons."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.core.commands import Cancel, StepOn
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def asks(looker: Inspector) -> None:
    """Have the next answer written while somebody looks at it."""
    looker.answers()
    looker.opens()
    assert not looker.stage.sees("inside_writing_bar")
    assert looker.stage.desk.program.chat.send("And the sea?")
    looker.stage.settle()
    looker.stage.engine.prompt()
    looker.stage.engine.write(" w7")
    looker.stage.settle()
    looker.known()


def button(looker: Inspector, name: str) -> QPushButton:
    return looker.stage.find_as(QPushButton, name)


@pytest.mark.parametrize("place", ["token_inspector", "inside_to_chat", "alternatives_list", "inside_button"])
def test_escape_frees_a_token_and_never_stops_the_answer(inspector: Inspector, place: str) -> None:
    asks(inspector)
    inspector.service.open(inspector.turns[1])
    inspector.known()
    inspector.clicks(3)
    inspector.stage.find(place).setFocus()
    for _again in range(2):
        QTest.keyClick(inspector.stage.find(place), Qt.Key.Key_Escape)
    inspector.stage.settle()
    assert not inspector.stage.engine.all(Cancel) and inspector.stage.desk.program.chat.busy
    if place != "inside_button":
        assert inspector.service.token is None and not inspector.flow.is_pinned


def test_stop_is_there_while_the_answer_is_written_and_stops_it(inspector: Inspector) -> None:
    asks(inspector)
    assert inspector.stage.sees("inside_stop")
    button(inspector, "inside_stop").setFocus()
    QTest.keyClick(button(inspector, "inside_stop"), Qt.Key.Key_Space)
    inspector.stage.settle()
    assert len(inspector.stage.engine.all(Cancel)) == 1
    assert not button(inspector, "inside_stop").isEnabled() and inspector.flow.hasFocus(), "it was heard"
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    inspector.known()
    assert not inspector.stage.sees("inside_writing_bar")


def test_an_answer_that_is_not_looked_at_is_not_stopped_from_here(inspector: Inspector) -> None:
    asks(inspector)
    inspector.service.open(inspector.turns[1])
    inspector.known()
    assert not inspector.stage.sees("inside_writing_bar")


def test_the_answer_is_held_and_goes_on_token_by_token(inspector: Inspector) -> None:
    asks(inspector)
    mode = inspector.stage.desk.program.step_mode
    hold = button(inspector, "inside_hold")
    assert hold.text() == "Pause" and "(F6)" in hold.toolTip()
    assert "(F7)" in button(inspector, "inside_one_token").toolTip()
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    assert mode.held is not None and hold.text() == "Run on"
    inspector.stage.clicks("inside_one_token")
    inspector.stage.settle()
    assert len(inspector.stage.engine.all(StepOn)) == 1
    inspector.stage.clicks("inside_hold")
    assert not mode.is_one_by_one and hold.text() == "Pause"


def test_in_a_narrow_window_the_buttons_keep_their_room(inspector: Inspector) -> None:
    asks(inspector)
    inspector.stage.window.resize(inspector.stage.window.minimumSize())
    inspector.stage.settle()
    step = button(inspector, "inside_one_token")
    bar = step.parentWidget()
    assert bar is not None
    inspector.stage.bot.waitUntil(lambda: bar.width() >= bar.minimumSizeHint().width(), timeout=2000)
    inspector.stage.engine.finish("cancelled")
    inspector.stage.settle()
    inspector.known()
    assert not bar.isVisible()


def test_before_the_first_token_it_is_said_why_there_is_none(inspector: Inspector) -> None:
    inspector.answers()
    inspector.opens()
    assert not inspector.stage.sees("inside_remark")
    assert inspector.stage.desk.program.chat.send("And the sea?")
    inspector.stage.settle()
    inspector.known()
    said = "No token is there yet: the first one is drawn once the prompt is read."
    assert inspector.reads("inside_remark").startswith(said) and inspector.stage.sees("inside_remark")
    assert not inspector.stage.sees("inside_record_button")
    inspector.stage.engine.prompt()
    inspector.stage.settle()
    inspector.known()
    assert inspector.reads("inside_remark").startswith(said)
    inspector.stage.clicks("inside_hold")
    inspector.stage.engine.hold()
    inspector.stage.settle()
    inspector.known()
    assert "the first one waits for you" in inspector.reads("inside_remark")
    inspector.stage.engine.write(" w7")
    inspector.stage.settle()
    inspector.known()
    assert not inspector.stage.sees("inside_remark")
