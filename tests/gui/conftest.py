from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot
from shiboken6 import delete, isValid

from app.gui.application import make_window
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.theme import Themes
from app.system.resources import find_resources
from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.gui.looking import Looking


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.F16.gguf")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    yield made
    made.program.stop()


class Stage(Looking):
    """The window as somebody sits before it, and the engine behind it as the test leads it."""

    def __init__(self, desk: Desk, qtbot: QtBot, application: QApplication, icons: Icons | None = None) -> None:
        self.desk = desk
        self.engine = desk.engine
        self.bot = qtbot
        # Dressed once it is whole, as the application does.
        self.themes = Themes(application, desk.program.resources, desk.program.settings, dressed=False)
        self.window: MainWindow = make_window(desk.program, self.themes, icons)
        self.themes.dress()
        self.looked_at = self.window
        self.window.resize(1280, 800)  # whatever screen the tests have
        with qtbot.waitExposed(self.window, timeout=60_000):  # other tests may keep the processor
            self.window.show()

    @property
    def composer(self) -> QPlainTextEdit:
        return self.find_as(QPlainTextEdit, "composer")

    def sees(self, name: str) -> bool:
        """Return whether something is on the screen."""
        return self.find(name).isVisibleTo(self.window)

    def reads(self, name: str) -> str:
        """Return the text of a label or a button."""
        return str(self.find(name).property("text"))

    def types(self, text: str) -> None:
        QTest.keyClicks(self.composer, text)

    def presses(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.composer, key, modifier)

    def sends(self, text: str) -> None:
        self.types(text)
        self.presses(Qt.Key.Key_Return)

    def clicks(self, name: str) -> None:
        QTest.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def triggers(self, action: str) -> None:
        """Choose an entry of a menu."""
        self.window.actions_by_name[action].trigger()

    def transcript_text(self) -> str:
        """Return what selecting and copying the whole conversation gives."""
        transcript = self.find("transcript")
        QGuiApplication.clipboard().setText("")
        QTest.keySequence(transcript, QKeySequence(QKeySequence.StandardKey.SelectAll))
        QTest.keySequence(transcript, QKeySequence(QKeySequence.StandardKey.Copy))
        return QGuiApplication.clipboard().text()

    def load(self, path: Path) -> None:
        self.desk.load(path)

    def settle(self) -> None:
        self.desk.settle()


@pytest.fixture(scope="session")
def icons(qapp: QApplication) -> Icons:
    """Return the icons of all windows, drawn once."""
    return Icons(find_resources())


@pytest.fixture(autouse=True)
def _looks_end_with_their_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Delete what follows the look of the system: what is left of it would style every later window anew, and again."""
    made: list[Themes] = []
    begin = Themes.__init__

    def remember(this: Themes, *arguments: Any, **options: Any) -> None:
        begin(this, *arguments, **options)
        made.append(this)

    monkeypatch.setattr(Themes, "__init__", remember)
    yield
    for themes in made:
        if isValid(themes):
            delete(themes)


@pytest.fixture
def stage(desk: Desk, qtbot: QtBot, qapp: QApplication, icons: Icons) -> Iterator[Stage]:
    made = Stage(desk, qtbot, qapp, icons)
    yield made
    if isValid(made.window):
        made.window.close()
        made.window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.setStyleSheet("")


@pytest.fixture
def ready(stage: Stage, model: Path) -> Stage:
    """Return the stage with a model loaded."""
    stage.load(model)
    return stage
