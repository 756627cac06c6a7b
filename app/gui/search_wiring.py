"""Joins the search over all chats to the window: how people come to it, and from a hit to its message."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.gui.history.search_part import SearchPart
from app.gui.main_window import MainWindow
from app.services.program import Program


class SearchWiring(QObject):
    """Gives the list of chats its search."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self.part = SearchPart(program.message_search)
        window.parts.history.take_search(self.part)
        window.actions_by_name["search_action"].triggered.connect(lambda _checked=False: self.begin())
        # After the page, whose turns are there then.
        self._disconnect = [
            program.chat.opened.connect(program.message_search.arrive),
            program.message_search.reached.connect(self._show),
        ]

    def close(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def begin(self) -> None:
        """Let somebody type what they look for."""
        if not self._window.panes.shows("left"):
            self._window.panes.toggle("left")
        self.part.begin()

    def _show(self, message: int, _text: str) -> None:
        """Go to a message that was found."""
        if self._window.page != "chat":
            self._window.page_wanted.emit("chat")
        turn = self._program.chat.shown.known[message]
        transcript = self._window.parts.chat_page.transcript
        transcript.setFocus()
        transcript.take(turn.number)
