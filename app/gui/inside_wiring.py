"""Joins the page Inside to the window: how people come to it, and how they go back to the chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.gui.main_window import MainWindow
from app.services.program import Program

if TYPE_CHECKING:
    from app.gui.inside.page import InsidePage


class InsideWiring(QObject):
    """Makes the page when somebody wants it."""

    def __init__(self, program: Program, window: MainWindow, make_page: Callable[[], InsidePage]) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._make_page = make_page
        self._page: InsidePage | None = None
        window.page_wanted.connect(self._go)
        window.actions_by_name["inside_action"].triggered.connect(lambda _checked=False: self.show())
        self._disconnect = [program.chat.opened.connect(self._leave)]

    @property
    def is_shown(self) -> bool:
        """Whether people are on the page."""
        return self._window.page == "inside"

    def close(self) -> None:
        """Listen to the services no longer."""
        if self._page is not None:
            self._page.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show(self) -> None:
        """Go to the page."""
        if self._page is None:
            self._page = self._make_page()
            self._window.add_page("inside", self._page)
            self._page.chat_wanted.connect(lambda: self._window.page_wanted.emit("chat"))
        self._window.show_page("inside")

    def _go(self, name: str) -> None:
        if name == "inside":
            self.show()

    def _leave(self) -> None:
        """Another chat is shown."""
        if self.is_shown:
            self._window.show_page("chat")
