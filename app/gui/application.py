"""Starts and ends the window: the Qt application, its theme, its errors and its signals from outside."""

from __future__ import annotations

import gc
import json
import linecache
import logging
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import (
    QLocale,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication, QWidget

from app.core.errors import ExitCode, UserError
from app.core.job_events import JobFailed
from app.core.store_events import StoreFailed
from app.core.words import translate
from app.gui.chat.draft_keeper import DraftKeeper
from app.gui.chat.page import ChatPage
from app.gui.chat.step_bar import StepBar
from app.gui.chat.system_prompt_line import SystemPromptLine
from app.gui.closing import Closing
from app.gui.first_paint import FirstPaint
from app.gui.history.panel import HistoryPanel
from app.gui.icons import Icons
from app.gui.live.panel import LivePanel
from app.gui.main_window import MainWindow, Parts
from app.gui.models.bar import ModelBar
from app.gui.next_token.panel import NextTokenPanel
from app.gui.notices import NoticeBar
from app.gui.pump import Pump
from app.gui.sampling.panel import SamplingPanel
from app.gui.theme import Themes
from app.gui.widgets.fit_badge import FitLook
from app.gui.wiring import Wiring
from app.services.folder_watch import FolderWatch
from app.services.notices import Notice
from app.services.program import Program
from app.services.unsaved_settings import question_at_the_end

if TYPE_CHECKING:
    from app.gui.discover.library_own import OwnWords

SWITCH_S = 0.0005
"""Jobs hand Python to the window's thread so soon: every call into Qt gives it away, hundreds a picture."""

_log = logging.getLogger(__name__)
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def run(program: Program, model: Path | None, hang_up: Callable[[], None]) -> int:
    """Open the window, run until it is closed, end everything in order and return the exit code.

    `hang_up` is called as soon as nobody can be shown anything any more: another start must open a window of its own.
    """
    refuse_without_screen(os.environ)
    qInstallMessageHandler(_log_qt)
    QLocale.setDefault(QLocale.c())  # the texts are English, and one window has one way to write numbers
    application = QApplication([sys.argv[0]])
    application.setApplicationName("Tokenlight")
    application.setDesktopFileName("tokenlight")
    errors = Errors(program)
    sys.excepthook = errors.take
    themes = Themes(application, program.resources, program.settings, dressed=False)
    window = make_window(program, themes)
    themes.dress()
    pump = Pump(program.inbox, program.dispatch, errors.take_one)
    settings = program.settings
    closing = Closing(program.answers, window, lambda: keep_drafts(window), lambda: question_at_the_end(settings))
    outside = OutsideSignals(closing.at_once)
    application.commitDataRequest.connect(closing.session_ends)
    watch_front(application, program.models.watch)
    pump.start()
    window.show()
    FirstPaint(window, lambda: _begin(program, window, model))
    sys.setswitchinterval(SWITCH_S)
    code = application.exec()
    hang_up()
    outside.close()
    program.models.watch.stop()
    program.stop()
    pump.stop()
    tell_last_words(program)
    sys.excepthook = sys.__excepthook__
    qInstallMessageHandler(None)
    return code


def tell_last_words(program: Program) -> None:
    """Say on standard error what could not be kept when no window could show it any more."""
    for event in program.inbox.drain():
        if isinstance(event, (StoreFailed, JobFailed)) and sys.stderr is not None:
            sys.stderr.write(f"{event.sentence.english()}\n")


def watch_front(application: QApplication, watch: FolderWatch) -> None:
    """Let the folders of models be looked at when a window comes to the front, and not while none is there."""
    application.applicationStateChanged.connect(
        lambda state: watch.set_in_front(state is Qt.ApplicationState.ApplicationActive)
    )


def _begin(program: Program, window: MainWindow, model: Path | None) -> None:
    """Open the chats and load the model, once people see the window."""
    program.start(model)
    program.models.watch.start(is_in_front=QApplication.applicationState() is Qt.ApplicationState.ApplicationActive)
    QTimer.singleShot(0, lambda: _warm_up(program, window))


def _warm_up(program: Program, window: MainWindow) -> None:
    """Load and paint, after the first picture, what the first answer would have to wait for."""
    window.parts.chat_page.transcript.warm_up()
    # What is there now stays: the collector need not walk over it in the middle of an answer.
    gc.freeze()
    gc.enable()
    linecache.clearcache()  # Qt's modules leave the source of every module in it
    program.jobs.submit("the arithmetic of candidates", program.next_token.warm_up)


def refuse_without_screen(environment: Mapping[str, str]) -> None:
    """Qt ends the process where it finds no screen, so that is looked for first."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform not in ("win32", "darwin") and not any(environment.get(name) for name in names):
        raise UserError(
            translate(
                "Application",
                "The window cannot open because there is no screen here: use tokenlight ask PROMPT, or start it in a"
                " desktop session.",
            ),
            ExitCode.WRONG_USE,
        )


def make_window(program: Program, themes: Themes, icons: Icons | None = None) -> MainWindow:
    """Make the window of a program, connected and not yet shown; it draws its icons unless it is given some."""
    icons = icons or Icons(program.resources)
    prompts: list[str] = json.loads(program.resources.read_text("starter_prompts.json"))
    parts = Parts(
        system_prompt=SystemPromptLine(program.system_prompt, themes, icons),
        chat_page=ChatPage(program.chat, program.branches, program.queue, themes, icons, prompts),
        model_bar=ModelBar(program.session, program.models, FitLook(program.planner.fits, icons, themes), icons),
        notice_bar=NoticeBar(program.notices, themes, icons),
        history=HistoryPanel(program.conversations, program.chat_folders, icons),
        live=LivePanel(program.live, program.memory, program.machine, themes, icons),
        sampling=SamplingPanel(program.sampling),
        next_token=NextTokenPanel(program.next_token, themes, icons),
        step_bar=StepBar(program.step_mode, program.chat, icons),
    )
    window = MainWindow(parts, icons)
    Wiring(program, window, themes).setParent(window)
    window.parts.chat_page.composer.draft.setFocus()
    return window


def keep_drafts(window: MainWindow) -> None:
    """Have kept what is written in a window and not sent."""
    for drafts in window.parts.chat_page.findChildren(DraftKeeper):
        drafts.keep()
    for notes in window.findChildren(QWidget, "library_own"):  # its class is loaded with the page alone
        cast("OwnWords", notes).keep()


class Errors:
    """Takes errors that nobody expected: the log gets all of it, people one sentence, once each."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._told: set[tuple[str, str]] = set()

    def take_one(self, error: Exception) -> None:
        """Take an error that was caught."""
        self.take(type(error), error, error.__traceback__)

    def take(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Take an error that nobody caught."""
        where = traceback.extract_tb(trace)
        place = (kind.__name__, f"{where[-1].filename}:{where[-1].lineno}" if where else "")
        if place in self._told:
            return
        self._told.add(place)
        _log.critical("An error that nobody expected", exc_info=(kind, error, trace))
        sentence = translate(
            "Application",
            "Something went wrong that should not have ({error}). You can go on; {log} has the details.",
            error=kind.__name__,
            log=str(self._program.paths.window_log),
        )
        self._program.notices.post(Notice(sentence, details=tuple(traceback.format_exception(kind, error, trace))))


class OutsideSignals(QObject):
    """Closes the window when the terminal or the session asks for it."""

    def __init__(self, close: Callable[[], object]) -> None:
        super().__init__()
        self._close = close
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._earlier_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._handlers = {number: signal.signal(number, self._ignore) for number in _endings()}
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._take)

    def close(self) -> None:
        """Give the signals back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._earlier_fd)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._reader.close()
        self._writer.close()

    def _take(self) -> None:
        self._reader.recv(64)
        self._close()

    @staticmethod
    def _ignore(_number: int, _frame: FrameType | None) -> None:
        """The wake-up descriptor tells; Python only needs a handler that does nothing."""


def _endings() -> tuple[signal.Signals, ...]:
    """Return the signals that ask for an end: of Ctrl+C, of the session, and of the terminal's window where there is one."""
    named = (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
    return tuple(each for each in named if each is not None)


def _log_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s", message)
