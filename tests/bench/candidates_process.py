"""The section with the candidates in a window off the screen: `python -m tests.bench.candidates_process`.

The real services and the real widget on a made-up step of a large vocabulary; `move` moves one setting and tells how
long it took until the chart was painted again.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.core.sampling import SamplingSettings
from app.gui.icons import Icons
from app.gui.next_token.panel import NextTokenPanel
from app.gui.theme import Themes
from app.system.resources import find_resources
from app.system.settings_file import SettingsFile
from tests.bench.candidates import SEED
from tests.bench.children import Answer, serve
from tests.made_up_steps import loaded, pieces_of, prompt_of, row_of, step_of, tokens_of
from tests.onlooker import Onlooker

VOCABULARY = 262_144
PROMPT_TOKENS = 4_000
WIDTH_PX, HEIGHT_PX = 304, 800


class Paints(QObject):
    """Counts how often a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """Note a painting and let it happen."""
        self.count += event.type() == QEvent.Type.Paint
        return False


class Handlers:
    """What the parent can ask for."""

    def __init__(self, application: QApplication) -> None:
        self._desk = desk = Onlooker(SamplingSettings(seed=SEED))
        folder = Path(tempfile.gettempdir())
        resources = find_resources()
        themes = Themes(application, resources, SettingsFile(folder / "no-such-folder" / "x.json", lambda *_: None))
        desk.load(loaded(1, "made-up.gguf", VOCABULARY), pieces_of([b" t%d" % token for token in range(VOCABULARY)]))
        self._window = QWidget()
        self._window.setFixedSize(WIDTH_PX, HEIGHT_PX)
        panel = NextTokenPanel(desk.next_token, themes, Icons(resources))
        QVBoxLayout(self._window).addWidget(panel)
        self._paints = Paints(panel.chart.viewport())
        self._window.show()
        QTest.qWaitForWindowExposed(self._window)
        row = row_of(VOCABULARY, seed=2)
        chance = row[:PROMPT_TOKENS].argsort()
        desk.session.sent.emit(2, 0)
        desk.session.answer_told.emit(prompt_of(2, chance.tolist()))
        desk.session.answer_told.emit(tokens_of(2, 0, [int(row.argmax())]))
        desk.session.answer_told.emit(step_of(row, 2, 0))
        self._painted()

    def move(self, settings: dict[str, object]) -> Answer:
        """Move settings and return how long it took until that was painted."""
        before = self._paints.count
        began = time.perf_counter_ns()
        self._desk.sampling.change(**settings)
        self._painted()
        ns = time.perf_counter_ns() - began
        return {"ns": ns, "painted": self._paints.count > before, "left": self._desk.view.survivors}

    def _painted(self) -> None:
        """Paint what waits to be painted, as the event loop would do next."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.UpdateRequest)


def main() -> None:
    """Make the window and answer until the parent is done."""
    application = QApplication([])
    handlers = Handlers(application)
    serve({"move": handlers.move})


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main()
