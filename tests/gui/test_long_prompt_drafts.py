"""A draft of a system prompt with a very long line: the dialog is seen before it, and nothing of it is lost."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest

from tests.gui.conftest import Stage
from tests.gui.test_system_prompt import BRIEF, closes, opens, saves

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_a_draft_too_long_to_be_laid_out_quickly_comes_once_the_dialog_is_seen(ready: Stage) -> None:
    written = "word " * 100_000
    ready.desk.program.system_prompt.write(written)
    edit = opens(ready)
    assert edit.toPlainText() == "" and edit.isReadOnly() and edit.isVisible()
    assert not ready.find("system_prompt_save").isEnabled()
    closes(ready)
    assert ready.desk.program.system_prompt.draft == written
    edit = opens(ready)
    ready.bot.waitUntil(lambda: edit.toPlainText() == written, timeout=60_000)
    assert not edit.isReadOnly()
    assert edit.textCursor().atEnd()
    assert not ready.find("system_prompt_save").isEnabled()
    QTest.keyClicks(edit, "!")
    closes(ready)
    assert ready.desk.program.system_prompt.draft == written + "!"


def test_going_back_before_a_long_draft_is_seen_shows_the_saved_text(ready: Stage) -> None:
    saves(ready, BRIEF)
    ready.desk.program.system_prompt.write("word " * 100_000)
    edit = opens(ready)
    ready.clicks("system_prompt_back")
    assert edit.toPlainText() == BRIEF
    ready.settle()
    assert edit.toPlainText() == BRIEF
