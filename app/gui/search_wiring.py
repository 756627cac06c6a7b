"""Joins the searches to the window, that of all chats and that of one: how people come to them, and from a hit to its place."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from app.gui.chat.find_bar import FindBar
from app.gui.chat.finder import Finder
from app.gui.history.search_part import SearchPart
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.theme import Themes
from app.gui.widgets.clear_line import ClearLine
from app.services.program import Program


class SearchWiring(QObject):
    """Gives the list of chats its search, and the chat that is shown the bar that finds."""

    def __init__(self, program: Program, window: MainWindow, themes: Themes) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        icons = Icons(program.resources)
        self.part = SearchPart(program.message_search, icons)
        window.parts.history.take_search(self.part)
        window.actions_by_name.tell_keys(self.part.line)
        window.actions_by_name["search_action"].triggered.connect(lambda _checked=False: self.begin())
        page = window.parts.chat_page
        self.bar = FindBar(Finder(page.transcript, program.chat, themes), icons)
        page.show_find(self.bar)
        window.actions_by_name.tell_keys(self.bar)
        self.bar.left.connect(page.composer.draft.setFocus)
        for name, slot in {
            "find_action": self.find,
            "find_next_action": lambda: self._step(1),
            "find_previous_action": lambda: self._step(-1),
        }.items():
            window.actions_by_name[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        # After the page, whose turns are there then.
        self._disconnect = [
            program.chat.opened.connect(program.message_search.arrive),
            program.message_search.reached.connect(self._show),
            program.message_search.arrived.connect(self._show_chat),
        ]

    def close(self) -> None:
        """Listen to the services no longer."""
        self.bar.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def begin(self) -> None:
        """Let somebody type what they look for."""
        if not self._window.panes.shows("left"):
            self._window.panes.toggle("left")
        self.part.begin()

    def find(self) -> None:
        """Let somebody type what they look for: in the page that is shown where it has a search, else in the chat.

        Once more goes on to the next line of such a page.
        """
        lines = [line for line in self._window.findChildren(ClearLine) if line.searches_page and line.isVisible()]
        if lines:
            focus = self._window.focusWidget()
            line = lines[(lines.index(focus) + 1) % len(lines) if focus in lines else 0]
            line.setFocus(Qt.FocusReason.ShortcutFocusReason)
            line.selectAll()
            return
        self._go_to_chat()
        self.bar.begin()

    def _step(self, by: int) -> None:
        self._go_to_chat()
        self.bar.step(by)

    def _show(self, message: int, text: str) -> None:
        """Go to a message that was found, and mark in its chat what was looked for."""
        self._go_to_chat()
        turn = self._program.chat.shown.known[message]
        transcript = self._window.parts.chat_page.transcript
        transcript.setFocus()
        transcript.take(turn.number)
        self.bar.look_for(text, turn.number)

    def _show_chat(self) -> None:
        """Go to a chat that was found by its title."""
        self._go_to_chat()
        self._window.parts.chat_page.transcript.setFocus()

    def _go_to_chat(self) -> None:
        if self._window.page != "chat":
            self._window.page_wanted.emit("chat")
