"""What people open now and then: loaded when it is first wanted, and then as plain in what it shows as the window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QToolButton,
    QWidget,
)

from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")

ROOT = Path(__file__).resolve().parents[2]
GUARD_S = 120
UNTIL_PAINTED = """
import json, sys
import app.gui.application as application
from PySide6.QtWidgets import QWidget
def begin(program, window, model):
    print(json.dumps(sorted(sys.modules)), flush=True)
    window.close()
application._begin = begin
from app.__main__ import main
sys.argv = ['tokenlight']
sys.exit(main())
"""
LARGE = (
    *("llama_cpp", "numpy", "jinja2", "sqlite3", "pynvml", "pygments", "markdown_it", "pyqtgraph"),
    *("ziamath", "ziafont", "latex2mathml", "PySide6.QtPrintSupport", "PySide6.QtNetwork"),
)
NOW_AND_THEN = (
    *("chat.printing", "chat.system_prompt_dialog", "chat.preset_dialog", "history.trash_dialog"),
    *("models.load_dialog", "preferences.dialog", "preferences.keyboard_dialog", "widgets.file_chooser"),
    *("formulas.typeset", "compare.page", "inside.page", "planner.page"),
)


def test_when_somebody_sees_the_window_nothing_is_loaded_that_only_later_steps_need(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNTIL_PAINTED],
        cwd=ROOT,
        env={**os.environ, "TOKENLIGHT_HOME": str(tmp_path / "home")},
        capture_output=True,
        encoding="utf-8",
        timeout=GUARD_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    loaded = set(json.loads(done.stdout))
    assert {"PySide6.QtWidgets", "app.gui.on_demand"} <= loaded
    assert sorted(loaded.intersection(LARGE)) == []
    assert sorted(loaded.intersection(f"app.gui.{name}" for name in NOW_AND_THEN)) == []


OPENED_BY = (
    *("open_model_action", "system_prompt_action", "save_pdf_action", "print_action", "trash_action"),
    *("preferences_action", "keyboard_action"),
)


@pytest.fixture
def named(ready: Stage) -> Iterator[Stage]:
    """Return a window with chats whose words look like a page of the web, one of them in the trash."""
    ready.desk.program.conversations.start()
    ready.settle()
    for words in ("<b>gone</b> & <img src=x>", "<i>here</i> & <script>"):
        ready.triggers("new_chat_action")
        ready.sends(words)
        ready.desk.answer("<u>answer</u>")
        ready.settle()
        if "gone" in words:
            ready.desk.program.conversations.delete(ready.desk.program.conversations.open_id)
            ready.settle()
    yield ready
    for dialog in dialogs():
        dialog.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def dialogs() -> list[QDialog]:
    return [each for each in QApplication.topLevelWidgets() if isinstance(each, QDialog) and each.isVisible()]


def name_of(widget: QWidget) -> str:
    """Return how those who listen hear it called: by its own name, its words, or the label beside it."""
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found.text(QAccessible.Text.Name)


@pytest.mark.parametrize("action", OPENED_BY)
def test_every_dialog_shows_words_as_they_are_and_names_what_can_be_used(named: Stage, action: str) -> None:
    named.triggers(action)
    named.settle()
    (dialog,) = dialogs()
    read = [each for each in dialog.findChildren(QLabel) if each.text() and each.isVisible()]
    marked = [each.text() for each in read if each.textFormat() == Qt.TextFormat.RichText]
    automatic = [each.text() for each in read if each.textFormat() == Qt.TextFormat.AutoText]
    assert (marked, [text for text in automatic if "<" in text]) == ([], [])
    nameless = [
        widget
        for kind in (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit)
        for widget in dialog.findChildren(kind)
        if widget.isVisible() and not widget.objectName().startswith("qt_") and not name_of(widget)
    ]
    assert nameless == []


@pytest.mark.parametrize("action", OPENED_BY)
def test_no_dialog_outlives_the_window(named: Stage, action: str) -> None:
    named.triggers(action)
    named.settle()
    assert len(dialogs()) == 1
    named.window.close()
    assert dialogs() == []


def test_a_dialog_over_a_dialog_goes_with_the_window_and_what_was_typed_last_is_kept(named: Stage) -> None:
    named.triggers("system_prompt_action")
    QTest.keyClicks(named.find("system_prompt_text"), "Be br")
    named.find_as(QToolButton, "chat_presets_button").menu().aboutToShow.emit()
    next(each for each in named.window.findChildren(QAction, "save_chat_preset_action")).trigger()
    assert len(dialogs()) == 2
    named.window.close()
    assert dialogs() == []
    (draft,) = named.desk.program.settings.values.chats.prompt_drafts.values()
    assert draft == "Be br"


def test_what_a_dialog_holds_and_the_buttons_under_it_share_their_edges(named: Stage) -> None:
    named.triggers("trash_action")
    named.settle()
    (dialog,) = dialogs()
    places = []
    for name in ("trash_list", "trash_restore_button", "trash_close_button"):
        widget = dialog.findChild(QWidget, name)
        assert widget is not None
        places.append(widget.rect().translated(widget.mapTo(dialog, widget.rect().topLeft())))
    listed, first, last = places
    assert (listed.left(), listed.right()) == (first.left(), last.right())
