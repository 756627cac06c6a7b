"""Tells people who look at another program how something ended that takes long.

The window asks for attention, which every desktop shows in its own way: a task bar that blinks, a dock that bounces. Where
there is a tray, the system shows the words as well; without one (as in GNOME) no program of Qt's widgets can have them shown.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.gui.main_window import MainWindow
from app.services.notices import Notice, Notices


class Away(QObject):
    """Keeps an icon in the tray from the news to the moment when the window is in front again."""

    def __init__(self, notices: Notices, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        self._disconnect = notices.told.connect(self._tell)

    def close(self) -> None:
        """Tell nothing any more."""
        self._disconnect()
        self._put_away()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave nothing in the tray once people have come."""
        if event.type() == QEvent.Type.WindowActivate:
            self._put_away()
        return super().eventFilter(watched, event)

    def _tell(self, notice: Notice) -> None:
        if QApplication.activeWindow() is not None:
            return
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            tray = self._icon()
            tray.show()
            tray.showMessage("Tokenlight", self._window.parts.notice_bar.said(notice), self._window.windowIcon())

    def _icon(self) -> QSystemTrayIcon:
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            for chosen in (self._tray.messageClicked, self._tray.activated):
                chosen.connect(lambda *_: self._window.come_forward())
            self._window.installEventFilter(self)
        return self._tray

    def _put_away(self) -> None:
        if self._tray is not None:
            self._tray.hide()
