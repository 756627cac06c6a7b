"""How surprising the prompt was: a button to ask, how far that is, what came of it, and why it is refused."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from app.core.commands import Cancel, ScorePrompt
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.gui.inside.prompt_surprise import MOST_SURPRISING, PromptSurprise
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

PROMPT = 40
SURPRISING = {7: -9.5, 20: -12.25}
"""Tokens of the prompt, counted from 0, that were less likely than the others."""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another model than that of the answer."""
    return write_tiny_llama(tmp_path / "other.F16.gguf", seed=2)


@pytest.fixture
def inside(ready: Stage) -> Stage:
    """The page Inside with the prompt of an answer."""
    ready.desk.program.conversations.start()
    ready.settle()
    ask(ready)
    ready.triggers("inside_action")
    QTest.mouseClick(ready.find("inside_prompt_tab"), Qt.MouseButton.LeftButton)
    wait(ready)
    return ready


def ask(stage: Stage, question: str = "Why?") -> None:
    assert stage.desk.program.chat.send(question)
    stage.settle()
    stage.engine.prompt(PROMPT)
    stage.engine.write("So", 2)
    stage.engine.finish()
    stage.settle()


def wait(stage: Stage) -> None:
    inspecting = stage.desk.program.inspecting
    stage.desk.until(lambda: not inspecting.is_busy and inspecting.prompt is not None)


def command(stage: Stage) -> ScorePrompt:
    return stage.engine.all(ScorePrompt)[-1]


def score(stage: Stage) -> None:
    """Let the engine score the prompt."""
    values = [SURPRISING.get(token, -0.5) for token in range(1, PROMPT)]
    columns = (array("f", values), array("I", [3] * (PROMPT - 1)), array("f", [1.5] * (PROMPT - 1)))
    stage.engine.say(PromptScored(command(stage).request, *(column.tobytes() for column in columns)))
    stage.settle()


def told(stage: Stage) -> str:
    return stage.reads("score_told").replace("\u00a0", " ")


def test_the_prompt_is_scored_by_a_button_with_progress_and_a_result(inside: Stage) -> None:
    assert [inside.sees(name) for name in ("score_button", "score_progress", "score_cancel")] == [True, False, False]
    assert told(inside) == ""
    inside.clicks("score_button")
    assert [inside.sees(name) for name in ("score_button", "score_progress", "score_cancel")] == [False, True, True]
    assert told(inside) == "Begins to read the prompt"
    inside.engine.say(ScoreProgress(command(inside).request, 16, PROMPT))
    inside.settle()
    progress = inside.find_as(QProgressBar, "score_progress")
    assert (progress.value(), progress.maximum(), told(inside)) == (16, PROMPT, "16 of 40 tokens")
    score(inside)
    assert [inside.sees(name) for name in ("score_button", "score_progress", "score_cancel")] == [False] * 3
    mean = (37 * 0.5 + 9.5 + 12.25) / 39
    assert told(inside) == f"Mean surprise {mean:.2f} nats · perplexity 2.81"
    assert "quantised" in str(inside.find("score_told").property("hint")).lower()


def test_the_most_surprising_tokens_lead_to_themselves(inside: Stage) -> None:
    inside.clicks("score_button")
    score(inside)
    surprise = inside.window.findChild(PromptSurprise)
    assert surprise is not None
    wanted: list[int] = []
    surprise.token_wanted.connect(wanted.append)
    buttons = [each for each in surprise.findChildren(QPushButton) if each.objectName().startswith("surprising_")]
    assert len(buttons) == MOST_SURPRISING
    assert buttons[0].accessibleName() == "Token 21: token 20, surprise 12.2 nats"
    assert buttons[0].text().endswith("12.2") and buttons[1].text().endswith("9.5")
    for button in buttons[:2]:
        QTest.keyClick(button, Qt.Key.Key_Space)
    assert wanted == [20, 7]


def test_a_pass_is_cancelled_and_the_keyboard_goes_back_to_the_button(inside: Stage) -> None:
    button = inside.find_as(QPushButton, "score_button")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    cancel = inside.find_as(QPushButton, "score_cancel")
    assert cancel.hasFocus()
    QTest.keyClick(cancel, Qt.Key.Key_Space)
    assert inside.engine.all(Cancel)[-1].request == command(inside).request
    inside.engine.fail("cancelled", command(inside).request)
    inside.settle()
    assert inside.sees("score_button") and button.isEnabled() and told(inside) == ""


def test_what_speaks_against_it_stands_beside_the_button(inside: Stage, other: Path) -> None:
    button = inside.find_as(QPushButton, "score_button")
    inside.desk.program.session.unload()
    inside.settle()
    assert not button.isEnabled() and told(inside).startswith("No model is loaded. Load “")
    inside.load(other)
    assert not button.isEnabled() and told(inside).startswith("Another model is loaded. Load “")


def test_an_answer_that_is_being_written_is_said_beside_the_button(inside: Stage) -> None:
    button = inside.find_as(QPushButton, "score_button")
    assert inside.desk.program.chat.send("Two")
    inside.settle()
    inside.engine.prompt(PROMPT)
    inside.settle()
    assert not button.isEnabled() and "still being written" in told(inside)


def test_why_a_pass_came_to_nothing_stands_beside_the_button(inside: Stage) -> None:
    inside.clicks("score_button")
    inside.engine.fail("memory", command(inside).request, "There is no memory for it.")
    inside.settle()
    assert told(inside) == "There is no memory for it."
    assert inside.find_as(QPushButton, "score_button").isEnabled()


def test_everything_has_a_name_for_those_who_listen(inside: Stage) -> None:
    inside.clicks("score_button")
    surprise = inside.window.findChild(PromptSurprise)
    assert surprise is not None
    widgets: list[QWidget] = [surprise, surprise.ask, surprise.progress, surprise.cancel]
    assert all(each.objectName() and (each.accessibleName() or each.property("text")) for each in widgets)
    score(inside)


def test_a_page_that_is_closed_hears_nothing_more(inside: Stage) -> None:
    inside.clicks("score_button")
    surprise = inside.window.findChild(PromptSurprise)
    assert surprise is not None
    surprise.disconnect_services()
    score(inside)
    assert told(inside) == "Begins to read the prompt"
