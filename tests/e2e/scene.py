"""The real window before a program whose engine, clock and machine are made up, so that it looks the same every time."""

from __future__ import annotations

import time
from array import array
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from PySide6.QtCore import QDate, QDateTime, QEvent, QEventLoop, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QCursor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QScrollArea, QWidget

from app.core.commands import Command, Generate, ListPieces, Render
from app.core.devices import GpuReport, MainMemory
from app.core.events import Loaded, Rendered
from app.core.job_events import HardwareSampled
from app.gui import application as application_module
from app.gui.application import make_window
from app.gui.history.panel import HistoryPanel
from app.gui.theme import Themes
from app.services.models import Models
from app.services.turns import Turn
from app.services.wishes import LanesQuestion, Question
from app.system.hardware_sampler import HardwareSampler
from app.system.settings_file import Theme
from tests.desk import Desk
from tests.e2e.made_up_words import TOKENIZER, listed, weighed
from tests.fake_engine import model_info
from tests.ggufs import write_tiny_llama

SIZE = QSize(1280, 800)
BESIDE = QPoint(SIZE.width() + 40, SIZE.height() + 40)
"""Where the mouse is: over nothing."""
NOON_S = 1_772_625_600
"""4 March 2026, 12:00 UTC, a Wednesday."""
DAY_S = 86_400
PROMPT_TOKENS = 40
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MEMORY = MainMemory(16 << 30, 9 << 30, 16 << 30)
SAVED_NS = 2_000_000
PAINTED_NS = 121_000_000
LOOK_AGAIN_MS = 20
MOST_LOOKS = 60
QUIET_LOOKS = 3
_Found = TypeVar("_Found", bound=QObject)


class Scene:
    """A window, what leads it, and what it looks like."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch, application: QApplication, theme: Theme) -> None:
        self.patch = patch
        self.now_s: int = NOON_S
        patch.setattr(Models, "folders", property(lambda _models: (home / "models",)))
        patch.setattr(HardwareSampler, "watch", lambda _sampler, _on: None)
        patch.setattr(application_module, "HistoryPanel", partial(HistoryPanel, today=self._today))
        patch.setattr(time, "time", lambda: float(self.now_s))
        patch.setattr(time, "time_ns", lambda: self.now_s * 1_000_000_000)
        self._application = application
        QCursor.setPos(BESIDE)
        self._flash_ms = application.cursorFlashTime()
        application.setCursorFlashTime(0)
        self.desk = Desk(home, patch)
        self.program = self.desk.program
        self.listings = 0
        self.program.models.changed.connect(self._count_listing)
        self._ask_session = self.program.session.ask
        patch.setattr(self.program.session, "ask", self._ask_in_time)
        self.program.settings.change(reduce_motion=True, theme=theme)
        self.themes = Themes(application, self.program.resources, self.program.settings, dressed=False)
        self.window = make_window(self.program, self.themes)
        self.themes.dress()
        painted = self.window.parts.chat_page.transcript.first_text_painted
        painted.disconnect()
        painted.connect(self._paint_in_time)
        self.window.resize(SIZE)
        self.window.show()
        self.program.dispatch(HardwareSampled(MEMORY, GpuReport()))

    def close(self) -> None:
        """End the window and the program."""
        for dialog in self._dialogs():
            dialog.close()
        self.window.close()
        self.window.deleteLater()
        self._application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self._application.setStyleSheet("")
        self._application.setCursorFlashTime(self._flash_ms)
        self.program.stop()

    def find(self, kind: type[_Found], name: str) -> _Found:
        """Return the widget of a kind that carries a name, of the window or of a dialog over it."""
        found = self.window.findChild(kind, name)
        assert found is not None, name
        return found

    def sees(self, name: str) -> bool:
        """Return whether something is in the picture."""
        widget = self.window.findChild(QWidget, name)
        return widget is not None and widget.isVisible()

    def scroll_to(self, name: str) -> None:
        """Bring something into the view of whatever scrolls around it."""
        widget = self.find(QWidget, name)
        around = widget.parentWidget()
        while around is not None:
            if isinstance(around, QScrollArea):
                around.ensureWidgetVisible(widget)
            around = around.parentWidget()

    def model_file(self) -> Path:
        """Return a model among the program's own."""
        folder = self.program.models.folders[0]
        folder.mkdir(parents=True, exist_ok=True)
        return write_tiny_llama(folder / MODEL)

    def load(self, saying: str = "") -> None:
        """Have a model loaded whose first tokens say the words of a text."""
        words = words_of(saying)
        self.desk.engine.on_command = lambda command: self._reply(command, words)
        self.desk.begin_load(self.model_file())
        load = self.desk.engine.load
        self.desk.engine.say(
            Loaded(load.request, msgspec.structs.replace(model_info(load.path), tokenizer=TOKENIZER))
        )
        self.desk.settle()

    def ask(self, text: str) -> None:
        """Send a question, and let its prompt be read."""
        self.program.chat.send(text)
        self.desk.settle()
        self.desk.engine.prompt(PROMPT_TOKENS)
        self.desk.settle()

    def write(self, text: str) -> None:
        """Let the engine write a text, a token for each word."""
        for word in words_of(text):
            self.desk.engine.write(word)
            self.desk.settle()
        self._weigh(self.desk.engine.written - 1)

    def answer(self, question: str, text: str) -> None:
        """Have a question answered."""
        self.ask(question)
        self.write(text)
        self.finish()

    def finish(self) -> None:
        """Let the answer end."""
        self.desk.engine.finish()
        self.desk.settle()

    def rest(self) -> None:
        """Let the window come to rest: nothing arrives and no timer runs, or a while has passed."""
        loop, looks, quiet = QEventLoop(), 0, 0
        timer = QTimer()
        timer.setInterval(LOOK_AGAIN_MS)

        def look() -> None:
            nonlocal looks, quiet
            self.desk.settle()
            runs = any(each.isActive() for each in self.window.findChildren(QTimer))
            looks, quiet = looks + 1, 0 if runs else quiet + 1
            if looks == MOST_LOOKS or quiet == QUIET_LOOKS:
                loop.quit()

        timer.timeout.connect(look)
        timer.start()
        loop.exec()

    def picture(self) -> QImage:
        """Return what people see: the window, and dialogs in its middle."""
        self.rest()
        picture = self.window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        painter = QPainter(picture)
        for dialog in self._dialogs():
            place = QRect(dialog.rect())
            place.moveCenter(self.window.rect().center())
            painter.drawPixmap(place.topLeft(), dialog.grab())
            painter.setPen(self.themes.current.colour("border_strong"))
            painter.drawRect(place)
        for popup in self.window.findChildren(QWidget):
            if popup.windowType() == Qt.WindowType.Popup and popup.isVisible():
                painter.drawPixmap(self.window.mapFromGlobal(popup.pos()), popup.grab())
        painter.end()
        return picture

    def _reply(self, command: Command, words: list[str]) -> None:
        engine = self.desk.engine
        if isinstance(command, ListPieces):
            engine.say(listed(command, words, self._vocabulary))
        elif isinstance(command, Render) and engine.all(Generate):
            held = array("i", [*range(PROMPT_TOKENS), *range(engine.written)])
            engine.say(Rendered(command.request, "", held.tobytes(), ()))

    def _weigh(self, taken: int) -> None:
        """Tell the step in which a token was taken."""
        self.desk.engine.say(weighed(self.desk.engine.question.request, taken, self._vocabulary))
        self.desk.settle()

    @property
    def _vocabulary(self) -> int:
        return model_info("").vocabulary

    def _count_listing(self) -> None:
        self.listings += 1

    def _today(self) -> QDate:
        return QDateTime.fromSecsSinceEpoch(NOON_S).date()

    def _ask_in_time(self, question: Question | LanesQuestion) -> None:
        """Ask as if keeping the question always took the same time."""
        if isinstance(question, Question):
            question = msgspec.structs.replace(question, saved_ns=SAVED_NS)
        self._ask_session(question)

    def _paint_in_time(self, turn: Turn, _now_ns: int) -> None:
        """Say that the first text was painted when it always is, however fast this machine is."""
        at_ns = self.desk.engine.question.sent_ns + PAINTED_NS
        ttft_ms = self.program.live.first_text_painted(turn, at_ns)
        if ttft_ms is not None:
            self.program.chat.note_ttft(turn, ttft_ms)

    def _dialogs(self) -> list[QDialog]:
        return [dialog for dialog in self.window.findChildren(QDialog) if dialog.isVisible()]


def words_of(text: str) -> list[str]:
    """Return a text word by word, each with the space before it."""
    return text.replace(" ", "\0 ").split("\0") if text else []
