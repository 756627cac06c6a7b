"""Joins the page Models to the window: how people come to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.gui.main_window import MainWindow
from app.services.program import Program
from app.services.wishes import Wish

if TYPE_CHECKING:
    from app.gui.discover.page import ModelsPage


class ModelsWiring(QObject):
    """Makes the page when somebody wants it."""

    def __init__(self, program: Program, window: MainWindow, make_page: Callable[[], ModelsPage]) -> None:
        super().__init__(window)
        self._session = program.session
        self._window = window
        self._make_page = make_page
        self._page: ModelsPage | None = None
        window.page_wanted.connect(self._go)
        window.actions_by_name["models_action"].triggered.connect(lambda _checked=False: self.show())
        self._disconnect = [program.chat.opened.connect(self._leave)]

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
            self._page.load_wanted.connect(self._load)
            self._window.add_page("models", self._page)
            self._page.show_part("find")
        self._window.show_page("models")
        self._page.take_keyboard()

    def _load(self, path: str) -> None:
        """Load a model, and go to where one chats with it."""
        self._session.use(Wish(Path(path)))
        self._window.show_page("chat")

    def _go(self, name: str) -> None:
        if name == "models":
            self.show()

    def _leave(self) -> None:
        """Another chat is shown."""
        if self._window.page == "models":
            self._window.show_page("chat")
