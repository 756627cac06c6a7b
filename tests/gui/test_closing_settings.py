"""Closing the window while presets or system prompts cannot be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.core.chat_preset import ChatPreset
from app.gui.application import keep_drafts, tell_last_words
from app.gui.closing import Closing
from app.services.unsaved_settings import question_at_the_end
from app.system import settings_file
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
RETRY_S = 0.1
"""The thread that waits for the next try is waited for at the end of a test."""


@pytest.fixture
def file(ready: Stage) -> Path:
    """Return where the settings are, with a window that is closed as the program closes it."""
    program = ready.desk.program
    program.conversations.start()
    closing = Closing(
        program.answers,
        ready.window,
        lambda: keep_drafts(ready.window),
        lambda: question_at_the_end(program.settings),
    )
    assert closing.parent() is ready.window
    program.settings.write()
    return program.paths.settings_file


@pytest.fixture
def locked(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put something in the place of the file that cannot be replaced."""
    monkeypatch.setattr(settings_file, "RETRY_SECONDS", RETRY_S)
    file.unlink(missing_ok=True)
    file.mkdir()
    (file / "in the way").write_text("x")
    return file


def question(stage: Stage) -> QMessageBox | None:
    return next((each for each in stage.window.findChildren(QMessageBox) if each.isVisible()), None)


def press(stage: Stage, name: str) -> None:
    box = question(stage)
    assert box is not None
    button = box.findChild(QPushButton, name)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def says_something(stage: Stage) -> None:
    stage.sends("Hi")
    stage.desk.answer("Hello")


@pytest.mark.parametrize("before", [lambda _stage: None, says_something])
def test_a_preset_that_cannot_be_written_is_asked_about(
    ready: Stage, locked: Path, before: Callable[[Stage], None], capsys: pytest.CaptureFixture[str]
) -> None:
    before(ready)
    ready.desk.program.chat_presets.save("Mine", ChatPreset("Be brief."))
    assert not ready.window.close()
    box = question(ready)
    assert box is not None and "Presets and system prompts" in box.text()
    press(ready, "keep_open_button")
    assert ready.window.isVisible()
    assert not ready.window.close()
    press(ready, "close_anyway_button")
    assert not ready.window.isVisible()
    ready.desk.program.stop()
    tell_last_words(ready.desk.program)
    assert "The settings could not be saved" in capsys.readouterr().err
    assert locked.is_dir()


def test_what_nobody_wrote_is_not_asked_about(ready: Stage, locked: Path) -> None:
    ready.desk.program.settings.change(panel_shown=not ready.desk.program.settings.values.panel_shown)
    assert locked.is_dir()
    assert ready.window.close()


def test_a_preset_is_written_with_the_close(ready: Stage, file: Path) -> None:
    ready.desk.program.chat_presets.save("Mine", ChatPreset("Be brief."))
    assert ready.window.close()
    assert "Be brief." in file.read_text()
