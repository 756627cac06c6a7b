"""Joins what arranges chats to the window: pins and folders from the menu, and the keys that the list tells."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.gui.actions import shown_keys
from app.gui.main_window import MainWindow
from app.gui.shortcuts import Shortcuts
from app.services.program import Program


class HistoryWiring(QObject):
    """Does for the chat that is shown what the menus of the list do for any."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        actions = window.actions_by_name
        for name, slot in {
            "pin_action": self._pin,
            "move_action": lambda: self._in_sight(window.parts.history.choose_folder),
            "new_folder_action": lambda: self._in_sight(window.parts.history.new_folder),
        }.items():
            actions[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        shortcuts = window.findChild(Shortcuts)
        assert shortcuts is not None
        shortcuts.changed.connect(self._tell_keys)
        self._disconnect = program.conversations.changed.connect(self._show)
        self._tell_keys()
        self._show()

    def close(self) -> None:
        """Listen to the conversations no longer."""
        self._disconnect()

    def _show(self) -> None:
        for name in ("pin_action", "move_action"):
            self._window.actions_by_name[name].setEnabled(self._window.parts.history.can_rename)

    def _tell_keys(self) -> None:
        self._window.parts.history.tell_rename_keys(shown_keys(self._window.actions_by_name.keys["rename_action"]))

    def _pin(self) -> None:
        shown = self._program.chat.shown.head
        self._program.chat_folders.pin(shown.id, on=not shown.pinned)

    def _in_sight(self, do: Callable[[], None]) -> None:
        """Do something in the list, which is shown for it."""
        if not self._window.panes.shows("left"):
            self._window.panes.toggle("left")
        do()
