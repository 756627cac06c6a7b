"""How far the downloads are, where people see it while they look at something else: the window's title, and the task bar.

Every task bar shows titles. Those of KDE, Ubuntu and others that follow Unity's LauncherEntry draw a bar as well, over the
session's D-Bus; Windows' and macOS's would take code of their own system.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.services.downloads import Downloads

PATH, INTERFACE, SIGNAL = "/com/canonical/unity/launcherentry/1", "com.canonical.Unity.LauncherEntry", "Update"
NAME = "Tokenlight"
_log = logging.getLogger(__name__)
Send = Callable[[str, dict[str, object]], None]
"""Sends a desktop file's address and what its entry shall show."""


class TaskBar:
    """Says each whole per cent once; nothing is sent, and no bus is looked for, before something is on its way."""

    def __init__(self, downloads: Downloads, window: QWidget, find_bus: Callable[[], Send | None]) -> None:
        self._downloads, self._window, self._find_bus = downloads, window, find_bus
        self._send: Send | None = None
        self._percent: int | None = None
        self._disconnect = downloads.changed.connect(self._show)
        self._show()

    def close(self) -> None:
        """Follow nothing any more; no bar is left behind."""
        self._disconnect()
        self._say(None)

    def _show(self) -> None:
        share = self._downloads.share
        self._say(None if share is None else int(share * 100))

    def _say(self, percent: int | None) -> None:
        if percent == self._percent:
            return
        if self._percent is None:
            self._send = self._find_bus()
        self._percent = percent
        title = QCoreApplication.translate("TaskBar", "{percent} % – {name}")
        self._window.setWindowTitle(NAME if percent is None else title.format(percent=percent, name=NAME))
        if self._send is not None:
            entry = f"application://{QGuiApplication.desktopFileName()}.desktop"
            self._send(entry, {"progress": (percent or 0) / 100, "progress-visible": percent is not None})


def session_bus() -> Send | None:
    """Return what sends over this session's bus; None where there is none, which is most often no Linux desktop."""
    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if sys.platform != "linux" or not (address or (folder and Path(folder, "bus").exists())):
        return None  # Qt would start a bus of its own
    try:
        from PySide6.QtDBus import QDBusConnection, QDBusMessage  # noqa: PLC0415  read by whoever downloads alone
    except ImportError as error:
        _log.info("no progress in the task bar: %s", error)
        return None
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return None

    def send(entry: str, shown: dict[str, object]) -> None:
        message = QDBusMessage.createSignal(PATH, INTERFACE, SIGNAL)
        message.setArguments([entry, shown])
        bus.send(message)  # which waits for nobody

    return send
