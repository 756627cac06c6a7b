"""The live panel by itself, as wide as in the window, on a machine and an engine that the test leads."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.core.chat import ChatPrompt, PromptMessage, PromptSpan
from app.core.devices import GpuReport, MainMemory
from app.core.events import Finished, Loaded, PrefillProgress, PromptReady, Tokens
from app.core.job_events import HardwareSampled
from app.core.metrics import KVUse, Metrics
from app.core.model import ModelInfo
from app.core.sampling import SamplingSettings
from app.gui.icons import Icons
from app.gui.live import panel
from app.gui.live.panel import ENDED_MS, LivePanel
from app.gui.theme import Themes
from app.services.live import Live
from app.services.machine import Machine
from app.services.wishes import Question
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics, model_info
from tests.gui.looking import Looking

WIDTH_PX = 304
MARGIN_PX = 24
"""Of the column and of the card together."""
GIB = 1 << 30
MACHINE = MainMemory(16 * GIB, 12 * GIB, 16 * GIB)


class FakeSampler:
    """Notes whether somebody looks."""

    def __init__(self) -> None:
        self.watched: list[bool] = []

    def watch(self, on: bool) -> None:
        self.watched.append(on)

    def follow(self, process: int | None) -> None:
        pass

    def close(self) -> None:
        pass


class PanelStage(Looking):
    """The panel in a column."""

    def __init__(self, desk: Desk, qtbot: QtBot, application: QApplication) -> None:
        program = desk.program
        self.desk, self.engine, self.bot = desk, desk.engine, qtbot
        self.themes = Themes(application, program.resources, program.settings)
        self.sampler = FakeSampler()
        self.machine = Machine(self.sampler)
        icons = Icons(program.resources)
        self.live = Live(
            program.session, lambda: program.memory.gpu_is_there, chat=program.chat, answers=program.answers
        )
        self.panel = LivePanel(self.live, program.memory, self.machine, self.themes, icons)
        self.looked_at = self.panel
        self.window = QWidget()
        self.window.resize(WIDTH_PX, 1000)
        self.column = QWidget(self.window)
        self.column.resize(WIDTH_PX, 1000)
        layout = QVBoxLayout(self.column)
        layout.setContentsMargins(MARGIN_PX, MARGIN_PX, MARGIN_PX, MARGIN_PX)
        layout.addWidget(self.panel)
        layout.addStretch(1)
        qtbot.addWidget(self.window)

    def show(self) -> None:
        with self.bot.waitExposed(self.window):
            self.window.show()

    def reads(self, name: str) -> str:
        return str(self.find(name).property("text")).replace("\u00a0", " ")

    def names(self, name: str) -> str:
        """Return what people hear who cannot see it."""
        return self.find(name).accessibleName()

    def hint(self, name: str) -> str:
        """Return what is shown on hover: of a value, that of its row."""
        widget = self.find(name)
        row = widget.parentWidget()
        own, of_row = widget.property("hint"), row.property("hint") if row is not None else None
        return str(own or of_row or "")

    def sees(self, name: str) -> bool:
        return self.find(name).isVisibleTo(self.panel)

    def needs_px(self) -> int:
        """Return the height that the panel asks for, once what was shown or hidden is laid out."""
        for _ in range(4):  # from the innermost layout outwards
            QCoreApplication.sendPostedEvents(None, int(QEvent.Type.LayoutRequest))
        return self.panel.sizeHint().height()

    def timers(self) -> int:
        return sum(timer.isActive() for timer in self.panel.findChildren(QTimer))

    def settle(self) -> None:
        """Hand on what was said, and wait until the panel shows it."""
        self.desk.settle()
        self.bot.waitUntil(lambda: self.timers() == 0, timeout=60_000)

    def load(self, path: Path, **changes: object) -> None:
        self.desk.begin_load(path)
        info: ModelInfo = msgspec.structs.replace(model_info(self.engine.load.path), **changes)
        self.engine.say(Loaded(self.engine.load.request, info))
        self.settle()

    def sample(self, memory: MainMemory = MACHINE, gpus: GpuReport | None = None) -> None:
        self.machine.take(HardwareSampled(memory, gpus or GpuReport()))
        self.settle()

    def ask(self) -> None:
        session = self.desk.program.session
        prompt = ChatPrompt((PromptMessage("user", "Hi"),))
        session.ask(Question(session.new_request(), prompt, SamplingSettings()))

    def prompt(self, tokens: int, cached: int = 0, spans: tuple[PromptSpan, ...] = ()) -> None:
        request = self.engine.question.request
        self.engine.say(PromptReady(request, bytes(4 * tokens), spans, cached, 0))
        self.engine.say(PrefillProgress(request, tokens, tokens, cached, 0))
        self.settle()

    def tokens(self, first: int, times_ms: list[float], used: int = 50) -> None:
        ids = array("i", range(len(times_ms))).tobytes()
        begin, end = round(times_ms[0] * 1e6), round(times_ms[-1] * 1e6)
        request = self.engine.question.request
        self.engine.say(Tokens(request, first, len(times_ms), ids, "a", b"", used, end, begin))
        self.settle()

    def finish(self, figures: Metrics | None = None, used: int | None = None) -> None:
        figures = figures or metrics(3)
        if used is not None:
            figures = msgspec.structs.replace(figures, kv=KVUse(used, CONTEXT, used * 23_040))
        self.engine.say(Finished(self.engine.question.request, "a", b"", "end", figures, 7, ()))
        self.settle()


@pytest.fixture
def live(
    desk: Desk, qtbot: QtBot, qapp: QApplication, model: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PanelStage]:
    monkeypatch.setattr(panel, "REPAINT_MS", ENDED_MS)  # every picture is waited for
    stage = PanelStage(desk, qtbot, qapp)
    stage.show()
    stage.load(model)
    stage.ask()
    yield stage
    stage.panel.disconnect_services()
    qapp.setStyleSheet("")
