"""How far downloads are, in the window's title and over a session's bus; nothing is sent before there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.download import DownloadChanged, DownloadFile, DownloadGone, DownloadState, DownloadWanted
from app.gui.outside.task_bar import TaskBar, session_bus
from app.services.downloads import Downloads
from tests.gui.conftest import Stage

ONE = DownloadWanted("org/repo", "main", (DownloadFile("one-Q4_K_M.gguf", 1000),))
LISTEN = """
import sys
from PySide6.QtCore import QCoreApplication, QObject, Slot, SLOT
from PySide6.QtDBus import QDBusConnection, QDBusMessage
from app.gui.outside.task_bar import INTERFACE, PATH, SIGNAL
class Ear(QObject):
    @Slot(QDBusMessage)
    def hear(self, message):
        print(message.arguments()[0], message.signature(), flush=True)
application, ear = QCoreApplication([]), Ear()
print(QDBusConnection.sessionBus().connect("", PATH, INTERFACE, SIGNAL, ear, SLOT("hear(QDBusMessage)")), flush=True)
application.exec()
"""


class Bus:
    """Notes what it is told to show."""

    def __init__(self) -> None:
        self.looked = 0
        self.sent: list[tuple[object, object]] = []

    def find(self) -> Bus:
        self.looked += 1
        return self

    def __call__(self, _entry: str, shown: dict[str, object]) -> None:
        self.sent.append((shown["progress"], shown["progress-visible"]))


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    made.setWindowTitle("Tokenlight")
    qtbot.addWidget(made)
    return made


def goes(downloads: Downloads, state: DownloadState, done: int) -> None:
    downloads.take(DownloadChanged(ONE, state, done))


def test_each_whole_per_cent_is_said_once_and_nothing_is_left_at_the_end(stage: Stage, window: QWidget) -> None:
    downloads, bus = stage.desk.program.downloads, Bus()
    bar = TaskBar(downloads, window, bus.find)
    assert (window.windowTitle(), bus.looked) == ("Tokenlight", 0), "whoever downloads nothing has no bus looked for"
    for done in (420, 421, 429):
        goes(downloads, "running", done)
    assert window.windowTitle() == "42 % – Tokenlight" and bus.sent == [(0.42, True)]
    goes(downloads, "paused", 429)
    assert window.windowTitle() == "Tokenlight" and bus.sent[1:] == [(0.0, False)]
    goes(downloads, "running", 500)
    downloads.take(DownloadGone(ONE.key))
    assert bus.sent[2:] == [(0.5, True), (0.0, False)]
    goes(downloads, "running", 600)
    bar.close()
    assert window.windowTitle() == "Tokenlight" and bus.sent[-1] == (0.0, False)
    goes(downloads, "running", 700)
    assert window.windowTitle() == "Tokenlight"


def test_the_window_of_the_program_says_it(stage: Stage) -> None:
    goes(stage.desk.program.downloads, "running", 250)
    assert stage.window.windowTitle() == "25 % – Tokenlight"
    goes(stage.desk.program.downloads, "done", 1000)
    assert stage.window.windowTitle() == "Tokenlight"


def test_without_a_bus_none_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert session_bus() is None


@pytest.fixture
def address() -> Iterator[str]:
    """A bus that nobody else is on."""
    daemon = shutil.which("dbus-daemon")
    if sys.platform != "linux" or daemon is None:
        pytest.skip("there is no bus to be had")
    command = [daemon, "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def test_whoever_listens_on_the_session_s_bus_hears_it(address: str) -> None:
    """In processes of their own: a process joins its session's bus once."""
    surroundings = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address}
    say = "from app.gui.outside.task_bar import session_bus as s; s()('application://x.desktop', {'progress': 0.42})"
    command = [sys.executable, "-c", LISTEN]
    with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as listener:
        try:
            assert listener.stdout is not None and listener.stdout.readline() == "True\n"
            subprocess.run([sys.executable, "-c", say], env=surroundings, check=True)
            assert listener.stdout.readline() == "application://x.desktop sa{sv}\n"
        finally:
            listener.terminate()
