"""Whatever is written in begins where its text runs from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from tests.gui.conftest import Stage
from tests.gui.test_turn_actions import hover, say

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
ARABIC = "كن لطيفا."


def composer(stage: Stage) -> QPlainTextEdit:
    return stage.composer


def editor(stage: Stage) -> QPlainTextEdit:
    say(stage, "Hi", "Hello")
    hover(stage, 0)
    stage.clicks("other_edit_button")
    return stage.find_as(QPlainTextEdit, "turn_editor_text")


def preference(stage: Stage) -> QPlainTextEdit:
    stage.clicks("preferences_button")
    return stage.find_as(QPlainTextEdit, "system_prompt_option")


def begins_at(edit: QPlainTextEdit, text: str) -> int:
    """Write a text in place of what is there and return where it begins, in px from the left."""
    edit.selectAll()
    edit.insertPlainText(text)
    return edit.cursorRect(QTextCursor(edit.document())).left()


@pytest.mark.parametrize("opened", [composer, editor, preference])
def test_text_that_runs_right_to_left_begins_on_the_right(
    ready: Stage, opened: Callable[[Stage], QPlainTextEdit]
) -> None:
    edit = opened(ready)
    begin = begins_at(edit, "Be")
    assert begins_at(edit, ARABIC) > edit.viewport().width() / 2 > begin
    assert begins_at(edit, "Be") == begin
