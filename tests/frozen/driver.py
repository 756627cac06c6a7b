"""A second program of the frozen folder, for tests: the same window, and somebody at the keyboard.

`extra …` takes the words of the program, and from the environment what somebody does: asks DRIVER_QUESTION once the
model is loaded, waits for the formula DRIVER_FORMULA, wants to print where DRIVER_PRINTS is set, and saves the chat as
DRIVER_PDF. Prints one JSON line about what is seen then, and stays open.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QPlainTextEdit, QWidget

import app.gui.application as application
from app.__main__ import main
from app.gui.formulas.picture import Picture
from app.gui.main_window import MainWindow
from app.gui.theme import Themes
from app.services.program import Program

_Kind = TypeVar("_Kind", bound=QWidget)
LOOK_MS = 20
PATIENCE_MS = 120_000
TOKENS = 24
ENDED = ("done", "interrupted")


class Somebody:
    """Sits before the window and does one thing after the other, each when it can be done."""

    def __init__(self, window: MainWindow, program: Program) -> None:
        self._window = window
        self._program = program
        self._wishes = {name.partition("_")[2]: value for name, value in os.environ.items() if name[:7] == "DRIVER_"}
        self._said: list[str] = []
        program.notices.changed.connect(self._listen)
        self._steps: list[tuple[Callable[[], bool], Callable[[], None]]] = [(self._can_ask, self._ask)]
        self._steps.append((self._is_answered, lambda: None))
        if "FORMULA" in self._wishes:
            self._steps.append((self._is_typeset, lambda: None))
        if "PRINTS" in self._wishes:
            self._steps.append((lambda: True, self._print))
        if "PDF" in self._wishes:
            self._steps += [(lambda: True, self._save), (self._is_saved, lambda: None)]
        self._steps.append((lambda: True, self._tell))
        self._timer = QTimer(window)
        self._timer.timeout.connect(self._look)
        self._timer.start(LOOK_MS)
        QTimer.singleShot(PATIENCE_MS, self._tell)

    def _look(self) -> None:
        if self._steps and self._steps[0][0]():
            self._steps.pop(0)[1]()

    def _listen(self) -> None:
        latest = self._program.notices.latest
        if latest is not None:
            self._said.append(latest.sentence.english())

    def _can_ask(self) -> bool:
        return self._program.session.phase == "ready"

    def _ask(self) -> None:
        self._find(QWidget, "max_tokens_box").setProperty("value", int(self._wishes.get("TOKENS", TOKENS)))
        composer = self._find(QPlainTextEdit, "composer")
        composer.setPlainText(self._wishes["QUESTION"])
        enter = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier)
        QCoreApplication.sendEvent(composer, enter)

    def _is_answered(self) -> bool:
        turns = self._program.chat.turns
        return bool(turns) and turns[-1].state in ENDED

    def _is_typeset(self) -> bool:
        formulas = self._window.parts.chat_page.transcript.formulas
        return isinstance(formulas.find(self._wishes["FORMULA"], display=True), Picture)

    def _print(self) -> None:
        self._window.actions_by_name["print_action"].trigger()

    def _save(self) -> None:
        self._window.actions_by_name["save_pdf_action"].trigger()
        dialog = self._find(QFileDialog, "pdf_dialog")
        dialog.selectFile(self._wishes["PDF"])
        dialog.accept()

    def _is_saved(self) -> bool:
        return Path(self._wishes["PDF"]).is_file()

    def _tell(self) -> None:
        self._timer.stop()
        turns = self._program.chat.turns
        seen = {
            "state": turns[-1].state if turns else self._program.session.phase,
            "text": turns[-1].text if turns else "",
            "ttft": turns[-1].ttft_ms if turns else None,
            "icon": not self._window.windowIcon().isNull(),
            "undone": len(self._steps),
            "said": self._said,
            "print_dialog": self._window.findChild(QDialog, "print_dialog") is not None,
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
    people: list[Somebody] = []
    make_window = application.make_window

    def make_and_sit_down(program: Program, themes: Themes) -> MainWindow:
        window = make_window(program, themes)
        people.append(Somebody(window, program))
        return window

    setattr(application, "make_window", make_and_sit_down)  # noqa: B010  a type checker rejects assigning to it
    return main()


if __name__ == "__main__":
    sys.exit(run())
