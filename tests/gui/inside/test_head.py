"""The head of the page Inside: its second row is there only for an answer, and as high whatever part is shown."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
PARTS = ("loop", "answer", "prompt", "cache", "attention", "time")


def top_of(looker: Inspector, part: str) -> int:
    """Show a part, and return where it begins."""
    looker.stage.clicks(f"inside_{part}_tab")
    looker.known()
    looker.stage.settle()
    contents: QWidget | None = looker.page.widget()
    layout = contents.layout() if contents is not None else None
    assert layout is not None
    layout.activate()
    return looker.page._parts.y()


def test_parts_begin_at_one_height_whichever_is_shown(inspector: Inspector) -> None:
    inspector.answers()
    inspector.stage.clicks("inside_button")
    tops = {part: top_of(inspector, part) for part in PARTS}
    assert len(set(tops.values())) == 1, tops
    inspector.answers(question="And the sea?")
    assert {part: top_of(inspector, part) for part in PARTS} == tops, "with a box of the answers, too"
    assert inspector.stage.desk.program.chat.send("And now?")
    inspector.stage.settle()
    assert inspector.stage.sees("inside_writing_bar")
    assert {part: top_of(inspector, part) for part in PARTS} == tops, "and while one is written"


def test_without_an_answer_there_is_no_empty_row(inspector: Inspector) -> None:
    inspector.stage.clicks("inside_button")
    without = top_of(inspector, "attention")
    assert not inspector.stage.sees("inside_about")
    inspector.answers()
    assert top_of(inspector, "attention") > without and inspector.stage.sees("inside_about")
