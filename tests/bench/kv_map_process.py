"""The map of 32,768 cells in a window off the screen: `python -m tests.bench.kv_map_process`.

The real services and the real part of the page before an engine that is led by hand; `change` lets one thing change and
tells how long it took until all cells were painted again.
"""

from __future__ import annotations

import os
import tempfile
import time
from array import array
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.core.chat import PromptSpan
from app.core.events import LaneTokens, PrefillProgress, PromptReady, Tokens
from app.gui.icons import Icons
from app.gui.inside.cache.cache_part import CachePart
from app.gui.theme import Themes
from tests.bench.children import Answer, serve
from tests.desk import Desk
from tests.ggufs import write_tiny_llama

CELLS, PROMPT, MESSAGES, LANES = 32_768, 24_000, 400, 8
WIDTH_PX, HEIGHT_PX = 1_040, 700


class Paints(QObject):
    """Counts how often all of a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Note a whole painting and let it happen."""
        if isinstance(event, QPaintEvent) and isinstance(watched, QWidget):
            self.count += event.rect() == watched.rect()
        return False


class Handlers:
    """What the parent can ask for."""

    def __init__(self, application: QApplication, folder: Path) -> None:
        self._desk = desk = Desk(folder / "home", pytest.MonkeyPatch())
        program = desk.program
        themes = Themes(application, program.resources, program.settings)
        desk.begin_load(write_tiny_llama(folder / "tiny.gguf"))
        desk.engine.loaded(context=CELLS)
        desk.settle()
        self._map = program.views.kv_map
        self._part = CachePart(self._map, program.inspecting, themes, Icons(program.resources))
        self._window = QWidget()
        self._window.setFixedSize(WIDTH_PX, HEIGHT_PX)
        QVBoxLayout(self._window).addWidget(self._part)
        self._paints = Paints(self._part.grid.viewport())
        self._window.show()
        QTest.qWaitForWindowExposed(self._window)
        part = PROMPT // MESSAGES
        spans = tuple(PromptSpan(at * part + 4, (at + 1) * part, "history", at) for at in range(MESSAGES))
        self._say(PromptReady(1, array("i", range(PROMPT)).tobytes(), spans, 0, 0))
        self._read = self._written = 0
        self._part.show_now()
        self._paint()

    def change(self, kind: str) -> Answer:
        """Let something change and return how long it took until that was painted."""
        before = self._paints.count
        began = time.perf_counter_ns()
        match kind:
            case "read":
                self._read += PROMPT // 14
                self._say(PrefillProgress(1, min(self._read, PROMPT), PROMPT, 0, self._read))
            case "write":
                self._written += 1
                ids, used = array("i", [7]).tobytes(), PROMPT + self._written
                self._say(Tokens(1, self._written - 1, 1, ids, "a", b"", used, 1, 1))
            case "lanes":
                for lane in range(LANES):
                    self._written += 1
                    ids = array("i", range(40)).tobytes()
                    tokens = Tokens(1, 0, 40, ids, "a", b"", PROMPT, 1, 1)
                    self._desk.program.session.lanes_told.emit(LaneTokens(1, lane, tokens))
            case "look":
                self._written += 1
                self._part.grid.look_at(self._written)
            case _:
                other = {"blocks": "cells", "cells": "blocks"}[kind]
                self._part.tabs.wanted.emit(other)
                self._paint()
                before, began = self._paints.count, time.perf_counter_ns()
                self._part.tabs.wanted.emit(kind)
        self._part.show_now()
        self._paint()
        return {"ns": time.perf_counter_ns() - began, "painted": self._paints.count > before}

    def _say(self, event: PromptReady | PrefillProgress | Tokens) -> None:
        self._desk.program.session.answer_told.emit(event)

    def _paint(self) -> None:
        """Lay out and paint what waits for it, as the event loop would do next."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.UpdateRequest)


def main() -> None:
    """Make the window and answer until the parent is done."""
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        handlers = Handlers(application, Path(folder))
        serve({"change": handlers.change})


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main()
