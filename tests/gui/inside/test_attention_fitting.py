"""Attention in small windows and by keyboard: nothing overlaps, buttons that go hand the keyboard on, the grid has numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.gui.inside.attention.grid import numbered
from app.gui.inside.page import InsidePage
from tests.gui.conftest import Stage
from tests.gui.fitting import cut_off
from tests.gui.inside.test_attention import PROMPT, bare, choose, flow, grid, inside, part, read, say_example, told

__all__ = ["bare", "inside"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_the_example_says_that_it_is_not_the_answer_above(inside: Stage) -> None:
    inside.clicks("attention_example")
    say_example(inside)
    assert told(inside, "attention_told").startswith(
        "This is the example, not the answer above. What this token looked at"
    )
    inside.desk.program.conversations.new()
    inside.settle()
    inside.triggers("inside_action")
    assert told(inside, "attention_told").startswith("This is the example. What this token looked at")
    inside.clicks("attention_back")
    assert inside.sees("attention_empty"), "the example of another chat can be left in an empty one"


def press(stage: Stage, name: str) -> None:
    """Press a button with the keyboard."""
    button = stage.find_as(QPushButton, name)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    stage.settle()


def test_a_button_that_goes_leaves_the_keyboard_with_the_text(inside: Stage) -> None:
    press(inside, "attention_example")
    assert flow(inside).hasFocus(), "while the example is turned into tokens"
    say_example(inside)
    assert flow(inside).hasFocus()
    press(inside, "attention_back")
    assert flow(inside).hasFocus()
    inside.find("attention_example").setFocus()
    inside.desk.program.session.unload()
    inside.settle()
    assert flow(inside).hasFocus(), "a button that cannot be pressed any more has no keyboard"


def test_a_button_of_the_empty_part_leaves_the_keyboard_with_the_text(bare: Stage) -> None:
    press(bare, "attention_empty_example")
    assert bare.find("attention_empty_example").hasFocus()
    say_example(bare)
    assert flow(bare).hasFocus()
    press(bare, "attention_back")
    assert bare.find("attention_empty_example").hasFocus()
    bare.desk.program.session.unload()
    bare.settle()
    assert part(bare).hasFocus()


@pytest.mark.parametrize("size", [(900, 600), (960, 516), (1280, 800)])
def test_in_every_window_nothing_lies_on_anything_else(inside: Stage, size: tuple[int, int]) -> None:
    inside.window.resize(*size)
    read(inside)
    choose(inside, 1, 1)
    QTest.keyClick(flow(inside), Qt.Key.Key_Home)
    QTest.keyClick(flow(inside), Qt.Key.Key_Right)
    contents = inside.find_as(InsidePage, "inside_page").widget()
    assert contents is not None
    inside.bot.waitUntil(lambda: contents.height() >= contents.heightForWidth(contents.width()))
    left = ("flow", "legend", "grid_words", "grid_area", "note")
    right = ("title", "choice", "strongest", "token", "note")
    assert cut_off(part(inside)) == []
    for column in (left, right):
        boxes = [placed(inside, each) for each in column]
        for above, below in pairwise(boxes):
            assert above.bottom() < below.top(), (column, size)
    assert flow(inside).viewport().height() >= 3 * flow(inside).place_of(0).height(), "lines of the text are seen"


def placed(stage: Stage, name: str) -> QRect:
    whole = part(stage)
    shown = {"grid_area": whole._grid_area, "choice": whole.choice}
    widget = shown.get(name) or stage.find(f"attention_{name}")
    return QRect(widget.mapTo(whole, QPoint(0, 0)), widget.size())


def test_the_grid_has_numbers_and_shows_where_the_keyboard_is(inside: Stage) -> None:
    read(inside)
    cells, accent = grid(inside), inside.themes.current.colour("accent")
    cells.chosen.emit((2, 1))
    for has_it in (True, False):
        (cells if has_it else flow(inside)).setFocus()
        picture = cells.grab().toImage()
        assert (picture.pixelColor(cells.width() // 2, 1) == accent) is has_it, "with a cell chosen, too"
    muted, first = inside.themes.current.colour("muted"), cells.place_of((0, None))
    gutter = [picture.pixelColor(x, y) for x in range(int(first.left())) for y in range(cells.height())]
    above = [
        picture.pixelColor(x, y) for x in range(int(first.left()), cells.width()) for y in range(int(first.top()))
    ]
    assert muted in gutter and muted in above
    assert numbered(30) == [0, 4, 9, 14, 19, 24, 29] and numbered(1) == [0] and numbered(32)[-2:] == [29, 31]


def test_from_the_example_one_goes_back_to_the_answer(inside: Stage) -> None:
    inside.clicks("attention_example")
    say_example(inside)
    inside.clicks("attention_back")
    assert flow(inside).answer is not None and len(flow(inside).answer.ids) == PROMPT + 2  # type: ignore[union-attr]
    assert inside.sees("attention_example") and not inside.sees("attention_back")


def test_another_text_begins_with_all_layers_averaged(inside: Stage) -> None:
    read(inside)
    choose(inside, 2, 1)
    assert told(inside, "attention_layer_words").startswith("Layer 3")
    inside.clicks("attention_example")
    say_example(inside)
    assert told(inside, "attention_layer_words") == "All layers averaged"
    assert told(inside, "attention_head_words") == "All heads averaged"
