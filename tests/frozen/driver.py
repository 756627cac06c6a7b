"""A second program of the frozen folder, for tests: the same window, and somebody at the keyboard.

`extra MODEL QUESTION`: asks once the model is loaded, prints one JSON line about what is seen, and stays open.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

import app.gui.application as application
from app.__main__ import main
from app.gui.main_window import MainWindow
from app.gui.theme import Themes
from app.services.program import Program

_Kind = TypeVar("_Kind", bound=QWidget)
LOOK_MS = 20
PATIENCE_MS = 120_000
TOKENS = 24
ENDED = ("done", "interrupted")


class Somebody:
    """Sits before the window and acts when there is something to do."""

    def __init__(self, window: MainWindow, program: Program, question: str) -> None:
        self._window = window
        self._program = program
        self._question = question
        self._timer = QTimer(window)
        self._timer.timeout.connect(self._look)
        self._timer.start(LOOK_MS)
        QTimer.singleShot(PATIENCE_MS, self._tell)

    def _look(self) -> None:
        chat = self._program.chat
        if not chat.turns and self._program.session.phase == "ready":
            self._ask()
        elif chat.turns and chat.turns[-1].state in ENDED:
            self._timer.stop()
            QTimer.singleShot(LOOK_MS, self._tell)

    def _ask(self) -> None:
        self._find(QWidget, "max_tokens_box").setProperty("value", TOKENS)
        composer = self._find(QPlainTextEdit, "composer")
        composer.setPlainText(self._question)
        enter = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
        QCoreApplication.sendEvent(composer, enter)

    def _tell(self) -> None:
        turns = self._program.chat.turns
        seen = {
            "state": turns[-1].state if turns else self._program.session.phase,
            "text": turns[-1].text if turns else "",
            "ttft": turns[-1].ttft_ms if turns else None,
            "icon": not self._window.windowIcon().isNull(),
            "library_path": os.environ.get("LD_LIBRARY_PATH"),
            "plugins": os.environ.get("QT_PLUGIN_PATH"),
        }
        sys.stdout.write(json.dumps(seen) + "\n")
        sys.stdout.flush()

    def _find(self, kind: type[_Kind], name: str) -> _Kind:
        found = self._window.findChild(kind, name)
        assert found is not None, name
        return found


def run() -> int:
    """Run the program with somebody before its window."""
    question = sys.argv.pop() if len(sys.argv) == 3 and not sys.argv[1].startswith("-") else ""
    people: list[Somebody] = []
    make_window = application.make_window

    def make_and_sit_down(program: Program, themes: Themes) -> MainWindow:
        window = make_window(program, themes)
        people.append(Somebody(window, program, question))
        return window

    setattr(application, "make_window", make_and_sit_down)  # noqa: B010  a type checker rejects assigning to it
    return main()


if __name__ == "__main__":
    sys.exit(run())
