"""Attention on the page: asking with the cost before, the text as a strip, layers, heads, the strongest, and empty states."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProgressBar, QPushButton, QSlider, QWidget

from app.core.attention import AttentionProgress
from app.core.commands import Cancel, ReadAttention, Tokenize
from app.core.events import Tokenized
from app.gui.inside.attention.flow import AttentionFlow
from app.gui.inside.attention.grid import HeadGrid
from app.gui.inside.attention.part import AttentionPart
from app.gui.inside.attention.strongest import StrongestTokens
from app.gui.inside.page import InsidePage
from app.gui.inside.shades import shades, step_of_share, words_of
from app.services.attention_text import EXAMPLE
from tests.gui.conftest import Stage
from tests.made_up_attention import HEADS, attention, favourite, row

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

PROMPT = 40
EXAMPLE_IDS = tuple(range(100, 111))
LAYERS = 5


@pytest.fixture
def inside(ready: Stage) -> Stage:
    """The part Attention of the page Inside, with an answer of two tokens."""
    ready.desk.program.conversations.start()
    ready.settle()
    ask(ready)
    return opened(ready)


@pytest.fixture
def bare(ready: Stage) -> Stage:
    """The part without any answer."""
    ready.desk.program.conversations.start()
    ready.settle()
    return opened(ready)


def opened(stage: Stage) -> Stage:
    stage.triggers("inside_action")
    QTest.mouseClick(stage.find("inside_attention_tab"), Qt.MouseButton.LeftButton)
    stage.desk.until(lambda: not stage.desk.program.inspecting.is_busy)
    stage.settle()
    return stage


def ask(stage: Stage, question: str = "Why?") -> None:
    assert stage.desk.program.chat.send(question)
    stage.settle()
    stage.engine.prompt(PROMPT)
    stage.engine.write("So", 2)
    stage.engine.finish()
    stage.settle()


def part(stage: Stage) -> AttentionPart:
    return stage.find_as(AttentionPart, "inside_attention")


def flow(stage: Stage) -> AttentionFlow:
    return stage.find_as(AttentionFlow, "attention_flow")


def grid(stage: Stage) -> HeadGrid:
    return stage.find_as(HeadGrid, "attention_grid")


def click_token(stage: Stage, token: int) -> None:
    place = flow(stage).place_of(token).center()
    QTest.mouseClick(
        flow(stage).viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place.toPoint()
    )
    stage.settle()


def command(stage: Stage) -> ReadAttention:
    return stage.engine.all(ReadAttention)[-1]


def answer(stage: Stage, **changes: object) -> None:
    """Let the engine say what the token looked at."""
    sent = command(stage)
    stage.engine.say(attention(sent.request, len(sent.ids) // 4, LAYERS, **changes))  # type: ignore[arg-type]
    stage.settle()


def read(stage: Stage, token: int = PROMPT + 1, **changes: object) -> None:
    click_token(stage, token)
    stage.clicks("attention_button")
    answer(stage, **changes)


def told(stage: Stage, name: str) -> str:
    return stage.reads(name).replace("\u00a0", " ")


def choose(stage: Stage, layer: int | None, head: int | None) -> None:
    """Move the sliders, whose first stop is the average."""
    stage.find_as(QSlider, "attention_layer").setValue(0 if layer is None else layer + 1)
    if layer is not None:
        stage.find_as(QSlider, "attention_head").setValue(0 if head is None else head + 1)


def test_a_click_selects_a_token_and_the_cost_is_said_before_it_is_read(inside: Stage) -> None:
    button = inside.find_as(QPushButton, "attention_button")
    assert not button.isEnabled() and "Choose a token" in told(inside, "attention_told")
    click_token(inside, PROMPT + 1)
    assert button.isEnabled() and "looked at" in button.text()
    assert told(inside, "attention_told") == "Reads 42 tokens once more, about 0.3 s, about 29.6 MiB meanwhile"
    assert inside.desk.program.inspecting.token == 1, "the whole page looks at it"
    assert not inside.engine.all(ReadAttention), "nothing is read before it is asked for"
    inside.clicks("attention_button")
    assert command(inside).ids == array("i", (*range(PROMPT), 0, 1)).tobytes()
    assert [inside.sees(f"attention_{name}") for name in ("button", "progress", "cancel")] == [False, True, True]
    inside.engine.say(AttentionProgress(command(inside).request, 32, PROMPT + 2))
    inside.settle()
    progress = inside.find_as(QProgressBar, "attention_progress")
    assert (progress.value(), progress.maximum(), told(inside, "attention_told")) == (32, 42, "32 of 42 tokens")
    answer(inside)
    assert [inside.sees(f"attention_{name}") for name in ("button", "progress", "cancel")] == [False] * 3
    assert inside.sees("attention_grid") and inside.sees("attention_strongest")


def test_the_strip_shows_the_shares_of_the_row_that_is_chosen(inside: Stage) -> None:
    read(inside)
    tokens = PROMPT + 2
    for layer, head in ((0, 1), (3, 2), (4, 0)):
        choose(inside, layer, head)
        shown = flow(inside).answer
        assert shown is not None
        assert list(shown.after) == pytest.approx(row(layer, head, tokens))
        assert part(inside).strongest.found[0][0] == favourite(layer, head, tokens)
    assert told(inside, "attention_layer_words") == "Layer 5 of 5"
    assert told(inside, "attention_head_words") == "Head 1 of 3"
    choose(inside, None, None)
    assert told(inside, "attention_layer_words") == "All layers averaged"
    shown = flow(inside).answer
    assert shown is not None and sum(share for share in shown.after if share is not None) == pytest.approx(1.0)


def test_the_strongest_token_is_tinted_and_underlined_more_than_the_others(inside: Stage) -> None:
    read(inside)
    choose(inside, 0, 0)
    ramp = shades(inside.themes.current, "attention")
    picture = flow(inside).viewport().grab().toImage()
    ratio = picture.devicePixelRatio()

    def ground(token: int) -> QColor:
        box = flow(inside).place_of(token)
        return picture.pixelColor((box.topLeft() + QPointF(1.5, 3)).toPoint() * ratio)

    shown = flow(inside).answer
    assert shown is not None
    first, faint = 0, next(token for token, share in enumerate(shown.after) if share is not None and share < 0.01)
    assert step_of_share(shown.after[first] or 0.0) == 5 and ground(first) == ramp[5].ground
    assert ground(faint) != ramp[5].ground
    box = flow(inside).place_of(first)
    line = picture.pixelColor((QPointF(box.center().x(), box.bottom() - 2)).toPoint() * ratio)
    assert line == ramp[5].line


def test_keys_go_through_the_text_and_say_the_share(inside: Stage) -> None:
    read(inside)
    choose(inside, 0, 0)
    flow(inside).setFocus()
    QTest.keyClick(flow(inside), Qt.Key.Key_Home)
    assert told(inside, "attention_token").endswith("token 1 of 42: 60 %")
    assert "60" in flow(inside).accessibleName()
    QTest.keyClick(flow(inside), Qt.Key.Key_Right)
    assert "token 2 of 42" in told(inside, "attention_token")
    QTest.keyClick(flow(inside), Qt.Key.Key_Return)
    inside.settle()
    assert inside.desk.program.views.attention.token == 1
    assert inside.sees("attention_button"), "that token was not read yet"
    QTest.keyClick(flow(inside), Qt.Key.Key_End)
    assert told(inside, "attention_token").endswith("it comes later, and the model cannot look ahead")


def test_the_grid_chooses_a_layer_and_a_head_by_click_and_keys(inside: Stage) -> None:
    read(inside)
    place = grid(inside).place_of((3, 1)).center().toPoint()
    assert grid(inside).cell_at(place) == (3, 1)
    QTest.mouseClick(grid(inside), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert told(inside, "attention_layer_words") == "Layer 4 of 5"
    assert told(inside, "attention_head_words") == "Head 2 of 3"
    assert "head 2 of 3: 60" in grid(inside).accessibleName().replace("\u00a0", " ")
    for key, layer, head in (
        (Qt.Key.Key_Left, "Layer 3 of 5", "Head 2 of 3"),
        (Qt.Key.Key_Down, "Layer 3 of 5", "Head 3 of 3"),
        (Qt.Key.Key_Down, "Layer 3 of 5", "Head 3 of 3"),
        (Qt.Key.Key_Right, "Layer 4 of 5", "Head 3 of 3"),
    ):
        QTest.keyClick(grid(inside), key)
        assert (told(inside, "attention_layer_words"), told(inside, "attention_head_words")) == (layer, head)
    for _ in range(HEADS):
        QTest.keyClick(grid(inside), Qt.Key.Key_Up)
    assert told(inside, "attention_head_words") == "All heads averaged"
    for cell in [(place, line) for place in range(LAYERS) for line in (None, *range(HEADS))]:
        box = grid(inside).place_of(cell).adjusted(0.5, 0.5, -0.5, -0.5)
        assert {grid(inside).cell_at(corner) for corner in (box.topLeft(), box.bottomRight())} == {cell}
    assert grid(inside).cell_at(grid(inside).place_of((0, HEADS)).center()) is None
    QTest.keyClick(inside.find_as(InsidePage, "inside_page"), Qt.Key.Key_Escape)
    assert told(inside, "attention_layer_words") == "All layers averaged"


def test_a_layer_without_attention_is_a_dash_with_its_reason(inside: Stage) -> None:
    read(inside, recurrent=(1, 3))
    assert "2 of 5 layers have no attention that can be read (–)." in told(inside, "attention_why")
    choose(inside, 1, None)
    assert told(inside, "attention_head_words") == "–"
    assert told(inside, "attention_why").startswith("– Layer 2 is recurrent")
    assert not inside.sees("attention_strongest")
    assert flow(inside).colouring == "none"
    assert "recurrent" in str(inside.find("attention_head_words").property("hint"))
    choose(inside, 2, 1)
    assert told(inside, "attention_head_words") == "Head 2 of 3"


def test_a_model_without_any_attention_says_so(inside: Stage) -> None:
    read(inside, recurrent=tuple(range(LAYERS)))
    assert told(inside, "attention_why").startswith("– No layer of this model has attention that can be read.")
    assert not inside.sees("attention_grid")


def test_averages_alone_say_why_there_are_no_heads(inside: Stage) -> None:
    read(inside, averaged=True)
    choose(inside, 0, None)
    assert not inside.find_as(QSlider, "attention_head").isEnabled()
    assert "too much" in str(inside.find("attention_head_words").property("hint"))


def test_the_strongest_tokens_lead_to_the_text(inside: Stage) -> None:
    read(inside)
    choose(inside, 0, 0)
    strongest = inside.find_as(StrongestTokens, "attention_strongest")
    assert len(strongest.found) == 10
    QTest.mouseClick(strongest, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(10, 30))
    assert flow(inside).current == strongest.found[1][0]
    strongest.setFocus()
    QTest.keyClick(strongest, Qt.Key.Key_Up)
    assert flow(inside).current == strongest.found[0][0] == 0
    assert strongest.accessibleName().replace("\u00a0", " ").endswith("(1) 60 %")


def test_a_pass_is_cancelled_and_the_keyboard_goes_back_to_the_button(inside: Stage) -> None:
    click_token(inside, 3)
    button = inside.find_as(QPushButton, "attention_button")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    cancel = inside.find_as(QPushButton, "attention_cancel")
    assert cancel.hasFocus()
    QTest.keyClick(cancel, Qt.Key.Key_Space)
    assert inside.engine.all(Cancel)[-1].request == command(inside).request
    inside.engine.fail("cancelled", command(inside).request)
    inside.settle()
    assert inside.sees("attention_button") and button.hasFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    answer(inside)
    assert flow(inside).hasFocus(), "what was asked for is there"


def test_why_it_came_to_nothing_is_said(inside: Stage) -> None:
    click_token(inside, 3)
    inside.clicks("attention_button")
    inside.engine.fail("memory", command(inside).request, "There is no memory.")
    inside.settle()
    assert told(inside, "attention_told") == "There is no memory."


def test_the_example_is_opened_by_a_button_without_any_chat(bare: Stage) -> None:
    assert told(bare, "attention_empty").startswith("There is no answer to look at yet.")
    bare.clicks("attention_empty_example")
    asked = bare.engine.all(Tokenize)[-1]
    assert (asked.text, asked.as_prompt) == (EXAMPLE, True)
    say_example(bare)
    assert bare.sees("attention_flow") and bare.sees("attention_grid")
    assert flow(bare).answer is not None and flow(bare).answer.ids == EXAMPLE_IDS  # type: ignore[union-attr]
    assert (
        told(bare, "attention_told")
        == "This is the example. What this token looked at is shown below. Click another token to read that of it."
    )
    assert bare.find_as(QPushButton, "attention_back").text() == "Close the example", (
        "there is no answer to go back to"
    )
    bare.clicks("attention_back")
    assert told(bare, "attention_empty").startswith("There is no answer to look at yet.")


def say_example(stage: Stage) -> None:
    """Let the engine turn the example into tokens, and read it."""
    stage.engine.say(Tokenized(stage.engine.all(Tokenize)[-1].request, array("i", EXAMPLE_IDS).tobytes()))
    stage.settle()
    answer(stage)


def test_without_a_model_nothing_can_be_asked_and_it_says_so(inside: Stage) -> None:
    inside.desk.program.session.unload()
    inside.settle()
    assert told(inside, "attention_told").startswith("No model is loaded. Load “")
    assert not inside.find_as(QPushButton, "attention_button").isEnabled()
    assert not inside.find_as(QPushButton, "attention_example").isEnabled()
    inside.desk.program.conversations.new()
    inside.settle()
    assert told(inside, "attention_empty").startswith("No model is loaded. Open a model")
    assert not inside.find_as(QPushButton, "attention_empty_example").isEnabled()


def test_what_nobody_sees_is_not_worked_out_and_is_there_when_somebody_looks(inside: Stage) -> None:
    QTest.mouseClick(inside.find("inside_answer_tab"), Qt.MouseButton.LeftButton)
    inside.desk.program.inspecting.look_at(1)
    assert told(inside, "attention_title") == "Attention"
    QTest.mouseClick(inside.find("inside_attention_tab"), Qt.MouseButton.LeftButton)
    assert told(inside, "attention_title").startswith("What ")


def test_every_control_has_a_name(inside: Stage) -> None:
    read(inside)
    for name in ("button", "progress", "cancel", "example", "layer", "head", "flow", "grid", "strongest"):
        widget = inside.find_as(QWidget, f"attention_{name}")
        said = widget.accessibleName() or (widget.text() if isinstance(widget, QPushButton) else "")
        assert said, name


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0])
def test_steps_of_shares_agree_with_their_words(share: float) -> None:
    words = words_of("attention")[step_of_share(share)]
    assert words.startswith({0: "<", 5: "≥"}.get(step_of_share(share), words[:1]))
    low = words.removeprefix("≥").removeprefix("<").strip().split("–")[0].split(" ")[0]
    assert words.startswith("<") or float(low) / 100 <= share


def test_the_service_is_heard_no_longer_once_the_page_is_gone(inside: Stage, tmp_path: Path) -> None:
    page = inside.find_as(InsidePage, "inside_page")
    shown = part(inside)
    page.disconnect_services()
    inside.desk.program.views.attention.select(3)
    assert shown._shown[2] != 3
