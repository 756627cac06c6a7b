"""What the chat and the page Inside both have is called alike in both, and what a nat is stands beside it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton

from app.gui.inside.token_sentences import nat_hint
from app.gui.widgets.step_words import waiting_words
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.test_loop import asks, catch_up, looks

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_an_answer_is_held_and_let_go_on_with_the_same_words(inspector: Inspector) -> None:
    part = asks(inspector)
    looker = inspector.stage
    looker.engine.prompt()
    looker.engine.write("w", 2)
    looker.clicks("inside_hold")
    looker.engine.hold()
    looker.settle()
    inspector.known()
    catch_up(part)
    for chat, inside in (("hold_button", "inside_hold"), ("one_token_button", "inside_one_token")):
        one, other = looker.find_as(QPushButton, chat), looker.find_as(QPushButton, inside)
        assert (one.text(), one.toolTip()) == (other.text(), other.toolTip()) and one.text()
    assert looker.find("step_status").accessibleName() == inspector.reads("loop_place") == waiting_words(3)


def test_a_nat_is_explained_where_entropy_is_coloured(inspector: Inspector) -> None:
    inspector.answers()
    looks(inspector)
    legend = inspector.page.answer_part.legend
    assert legend.toolTip() == ""
    legend.show_colouring("entropy")
    assert (
        "unit of natural logarithms" in nat_hint() and "unit of natural logarithms" in legend.accessibleDescription()
    )
    assert "0.69 one of two" in legend.accessibleName(), "in the text, too"
