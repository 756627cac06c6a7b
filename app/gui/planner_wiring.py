"""Joins the page Planner to the window: how people come to it, and how they go back to the chat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.gui.dialogs import Dialogs
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.services.hub_models import is_hub_path
from app.services.program import Program

if TYPE_CHECKING:
    from app.gui.planner.page import PlannerPage


class PlannerWiring(QObject):
    """Makes the page when somebody wants it."""

    hub_page_wanted = Signal(str)
    """Somebody wants to see the page of a repository of the hub: its name."""

    def __init__(self, program: Program, window: MainWindow, make_page: Callable[[], PlannerPage]) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._make_page = make_page
        self._page: PlannerPage | None = None
        window.page_wanted.connect(self._go)
        window.actions_by_name["planner_action"].triggered.connect(lambda _checked=False: self.show())
        self._disconnect = [program.chat.opened.connect(self._leave)]

    def close(self) -> None:
        """Listen to the services no longer."""
        if self._page is not None:
            self._page.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show(self, path: str = "") -> None:
        """Go to the page; where a path is given, plan the model that lies there."""
        if self._page is None:
            self._page = page = self._make_page()
            self._window.add_page("planner", page)
            page.file_wanted.connect(self._choose_file)
            page.chat_wanted.connect(lambda: self._window.page_wanted.emit("chat"))
            page.hub_page_wanted.connect(self.hub_page_wanted)
            page.show_part("plan")
        if path:
            self._page.show_part("plan")
            self._program.planner.planning.choose_model(path)
        self._window.show_page("planner")

    def _choose_file(self) -> None:
        planning = self._program.planner.planning
        is_file = bool(planning.path) and not is_hub_path(planning.path)
        folder = Path(planning.path).parent if is_file else planning.models.folder
        icons = Icons(self._program.resources)
        Dialogs(self._window).choose_model(folder, icons, lambda path: planning.choose_model(str(path)))

    def _go(self, name: str) -> None:
        if name == "planner":
            self.show()

    def _leave(self) -> None:
        """Another chat is shown."""
        if self._window.page == "planner":
            self._window.show_page("chat")
