"""Somebody who sits before the section with the candidates, in a window of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.sampling import SamplingSettings
from app.gui.icons import Icons
from app.gui.next_token.candidates import CandidatesChart
from app.gui.next_token.panel import NextTokenPanel
from app.gui.theme import Themes
from app.system.resources import find_resources
from app.system.settings_file import SettingsFile
from tests.gui.looking import take_away
from tests.made_up_steps import loaded, pieces_of, prompt_of, row_of, step_of, tokens_of
from tests.onlooker import Onlooker

SIZE = 3000
OPEN = SamplingSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
WIDTH_PX = 262
"""What a section of the side panel leaves."""
SAID = [b"Because", b" the", b"\n\n", b"\xe6\x97", b"a very long token that does not fit", b"<|end|>", b"\t", b""]


class Looker:
    """The section as somebody sits before it."""

    def __init__(self, bot: QtBot, themes: Themes, icons: Icons) -> None:
        self.bot = bot
        self.themes = themes
        self.desk = Onlooker(OPEN)
        self.desk.next_token.watch(False)
        self.row = row_of(SIZE)
        order = (-self.row).argsort()
        self.texts = [f"t{token}".encode() for token in range(SIZE)]
        for token, text in zip(order, SAID, strict=False):
            self.texts[token] = text
        self.desk.load(loaded(1, "a.gguf", SIZE), pieces_of(self.texts))
        self.window = QWidget()
        self.window.resize(WIDTH_PX, 800)
        self.panel = NextTokenPanel(self.desk.next_token, themes, icons, self.window)
        self.panel.resize(WIDTH_PX, 300)
        with bot.waitExposed(self.window):
            self.window.show()

    @property
    def chart(self) -> CandidatesChart:
        return self.panel.chart

    def steps(self, request: int = 5, *, whole: bool = True, drawn: int = 1) -> None:
        """Let a step come in which the second most likely token was drawn."""
        token = int((-self.row).argsort()[drawn])
        session = self.desk.session
        session.answer_told.emit(prompt_of(request, [1, 2]))
        session.answer_told.emit(tokens_of(request, 0, [token]))
        session.answer_told.emit(step_of(self.row, request, 0, whole=whole))

    def next_step(self, request: int = 5, place: int = 1, *, drawn: int = 1) -> None:
        """Let a further step of an answer come in, and be shown."""
        token = int((-self.row).argsort()[drawn])
        self.desk.session.answer_told.emit(tokens_of(request, place, [token]))
        self.desk.session.answer_told.emit(step_of(self.row, request, place))
        self.quiet()

    def turns_wheel(self, notches: int) -> bool:
        """Turn the wheel over the list, towards oneself by notches below 0; return whether the list took it."""
        viewport = self.chart.viewport()
        middle = QPointF(viewport.rect().center())
        buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        turned = QPoint(0, 120 * notches)
        phase = Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(middle, viewport.mapToGlobal(middle), QPoint(), turned, buttons, keys, phase, False)
        QApplication.sendEvent(viewport, event)
        return event.isAccepted()

    def colour(self, token: str) -> str:
        return QColor(self.themes.current.colours[token]).name()

    def reads(self, name: str) -> str:
        found = self.panel.findChild(QWidget, name)
        assert found is not None
        return str(found.property("text"))

    def lines(self, role: Qt.ItemDataRole = Qt.ItemDataRole.AccessibleTextRole) -> list[str]:
        """Return what the rows say to somebody who cannot see them, or how they look."""
        rows = self.panel.chart.rows
        return [str(rows.data(rows.index(place), role)) for place in range(rows.rowCount())]

    def picture(self) -> QImage:
        return self.chart.grab().toImage()

    def quiet(self) -> None:
        """Wait until nothing more is going to be painted."""
        self.bot.waitUntil(
            lambda: not any(each.isActive() for each in self.panel.findChildren(QTimer)), timeout=60_000
        )


def looking(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Looker]:
    """Show the section, and take it away afterwards."""
    resources = find_resources()
    themes = Themes(qapp, resources, SettingsFile(tmp_path / "settings.json", lambda *_: None))
    themes.choose("light")
    made = Looker(qtbot, themes, Icons(resources))
    yield made
    made.panel.disconnect_services()
    take_away(made.window, qapp)
