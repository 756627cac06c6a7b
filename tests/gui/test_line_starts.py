"""No text field that wraps its lines cuts their first letters, however much is written in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.gui.chat.draft import MARGIN_PX, Draft
from app.gui.chat.system_prompt_dialog import _Text
from app.gui.chat.text_editor import TextEditor
from tests.gui.conftest import Stage, desk, icons, model, ready, stage

__all__ = ["desk", "icons", "model", "ready", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WORDS = [
    "a",
    "line",
    "of",
    "words",
    "that",
    "goes",
    "on",
    "and",
    "on",
    "until",
    "it",
    "is",
    "wrapped",
    "somewhere",
    "in",
    "the",
    "field",
]


@pytest.mark.parametrize("make", [Draft, lambda: TextEditor("text"), _Text], ids=["draft", "editor", "system prompt"])
def test_a_space_at_the_end_of_a_full_line_scrolls_nothing(qtbot: QtBot, make: Callable[[], QPlainTextEdit]) -> None:
    edit = make()
    qtbot.addWidget(edit)
    edit.show()
    for width in range(180, 240, 6):
        edit.clear()
        edit.resize(width, 120)
        for word in WORDS * 4:
            edit.insertPlainText(f"{word} ")
            edit.ensureCursorVisible()
            bar = edit.horizontalScrollBar()
            assert (bar.value(), bar.maximum()) == (0, 0), f"{width} pixels, behind “{word}”"
    assert edit.verticalScrollBar().maximum() > 0


def test_letters_that_reach_out_of_their_line_have_room(qtbot: QtBot) -> None:
    draft = Draft()
    qtbot.addWidget(draft)
    draft.insertPlainText("Jelly")
    draft.moveCursor(draft.textCursor().MoveOperation.Start)
    assert draft.cursorRect().left() >= MARGIN_PX - 1 > 0


@pytest.mark.parametrize("height", [380, 440, 600, 800])
def test_in_a_low_window_nothing_lies_over_what_is_written(ready: Stage, height: int) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.window.setMinimumSize(400, 300)
    ready.window.resize(640, height)
    ready.settle()
    ready.composer.insertPlainText("A line\n" * 30)
    ready.bot.waitUntil(lambda: not overlaps(ready))
    assert ready.composer.height() >= 2 * ready.composer.fontMetrics().lineSpacing()


def overlaps(stage: Stage) -> bool:
    line = stage.find("composer_status")
    draft = stage.composer.rect().translated(stage.composer.mapTo(stage.window, stage.composer.rect().topLeft()))
    return draft.bottom() > line.mapTo(stage.window, line.rect().topLeft()).y()
