"""How surprising the prompt was: a button to ask, how far that is, what came of it, and why it is refused."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QProgressBar, QPushButton, QWidget

from app.core.commands import Cancel, ScorePrompt
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.gui.inside.prompt_chips import PromptChips
from app.gui.inside.prompt_surprise import MOST_SURPRISING, PromptSurprise
from app.gui.inside.shades import shades
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

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


def ask(stage: Stage, question: str = "Why?", tokens: int = PROMPT) -> None:
    assert stage.desk.program.chat.send(question)
    stage.settle()
    stage.engine.prompt(tokens)
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


def test_only_so_many_of_them_are_there_as_there_is_room_for(inside: Stage) -> None:
    inside.clicks("score_button")
    score(inside)
    alone = PromptSurprise(inside.desk.program.prompt_scores, inside.desk.program.inspecting)
    inside.bot.addWidget(alone, before_close_func=lambda _widget: alone.disconnect_services())
    alone.show()
    buttons = [each for each in alone.findChildren(QPushButton) if each.objectName().startswith("surprising_")]
    assert alone.minimumSizeHint().width() < sum(each.sizeHint().width() for each in buttons)
    for width, seen in ((1000, MOST_SURPRISING), (420, 2), (100, 1), (1000, MOST_SURPRISING)):
        alone.resize(width, 80)
        assert sum(each.isVisible() for each in buttons) == seen


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
    assert inside.sees("score_button") and button.hasFocus() and told(inside) == ""
    QTest.keyClick(button, Qt.Key.Key_Space)
    score(inside)
    assert inside.find("surprising_20").hasFocus()


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


def chips(stage: Stage) -> PromptChips:
    return stage.find_as(PromptChips, "prompt_chips")


def colour_by(stage: Stage, words: str) -> None:
    box = stage.find_as(QComboBox, "inside_colouring_box")
    box.setCurrentIndex(box.findText(words))
    box.activated.emit(box.currentIndex())


def ground_at(stage: Stage, token: int) -> QColor:
    """Return what the chip of a token stands on, as it is on the screen."""
    place = chips(stage).place_of(token)
    picture = chips(stage).viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    return picture.pixelColor(round((place.right() - 4) * ratio), round((place.top() + 5) * ratio))


def test_the_chips_are_coloured_by_what_the_head_says_once_there_are_scores(inside: Stage) -> None:
    chips(inside).look_at(None)
    plain = ground_at(inside, 20)
    assert not inside.sees("prompt_ramp") and not inside.sees("inside_colouring_box")
    inside.clicks("score_button")
    score(inside)
    ramp = shades(inside.themes.current, "probability")
    assert (ground_at(inside, 20), ground_at(inside, 5)) == (ramp[5].ground, ramp[1].ground)
    legend = inside.find("prompt_ramp")
    assert inside.sees("inside_colouring_box")
    assert inside.sees("prompt_ramp") and legend.accessibleName().startswith("Probability: · ≥ 90 %")
    assert "chosen" not in legend.accessibleName()
    colour_by(inside, "Colour by entropy")
    assert ground_at(inside, 20) == shades(inside.themes.current, "entropy")[3].ground
    assert legend.accessibleName().startswith("Entropy in nats")
    colour_by(inside, "Do not colour")
    assert ground_at(inside, 20) == plain and not inside.sees("prompt_ramp")
    assert inside.sees("inside_colouring_box"), "the way back"


def test_what_is_said_of_a_token_has_its_score(inside: Stage) -> None:
    chips(inside).look_at(20)
    assert inside.reads("prompt_token").endswith(" prompt")
    inside.clicks("score_button")
    score(inside)
    more = "; probability <0.1\u00a0%, log-probability -12.250, rank 3, entropy 1.50 nats"
    assert inside.reads("prompt_token").endswith(f" prompt{more}")
    assert chips(inside).accessibleName().endswith(more)
    chips(inside).look_at(0)
    assert inside.reads("prompt_token").endswith("; nothing is before it, so it has no probability")


def test_a_most_surprising_token_is_gone_to_with_the_keyboard(inside: Stage) -> None:
    inside.clicks("score_button")
    score(inside)
    QTest.keyClick(inside.find("surprising_20"), Qt.Key.Key_Space)
    assert chips(inside).current == 20 and chips(inside).hasFocus()


def test_another_prompt_is_not_coloured_by_these_scores(inside: Stage) -> None:
    inside.clicks("score_button")
    score(inside)
    ask(inside, "And the sea?", PROMPT + 2)
    wait(inside)
    assert not inside.sees("prompt_ramp") and inside.sees("score_button")
    assert not inside.sees("inside_colouring_box")
    first = inside.desk.program.inspecting.answers[0]
    inside.desk.program.inspecting.open(first)
    wait(inside)
    assert inside.sees("prompt_ramp") and not inside.sees("score_button")
    assert ground_at(inside, 20) == shades(inside.themes.current, "probability")[5].ground
