"""Joins the page Models to the window: how people come to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.gui.dialogs import Dialogs
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.outside.away import Away
from app.gui.outside.task_bar import TaskBar, session_bus
from app.services.first_model import lacks_model
from app.services.program import Program
from app.services.wishes import Wish

if TYPE_CHECKING:
    from app.gui.discover.first_model_card import FirstModelCard
    from app.gui.discover.page import ModelsPage


class ModelsWiring(QObject):
    """Makes the page when somebody wants it."""

    options_wanted = Signal(str)
    """Somebody wants to load a model with other options: its file."""
    plan_wanted = Signal(str)
    """Somebody wants to plan with a model."""

    def __init__(
        self,
        program: Program,
        window: MainWindow,
        make_page: Callable[[], ModelsPage],
        make_card: Callable[[], FirstModelCard],
    ) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._make_page, self._make_card = make_page, make_card
        self._page: ModelsPage | None = None
        window.page_wanted.connect(self._go)
        window.actions_by_name["models_action"].triggered.connect(lambda _checked=False: self.show())
        window.actions_by_name["inspect_file_action"].triggered.connect(lambda _checked=False: self.choose_file())
        window.parts.model_bar.inspect_wanted.connect(self.choose_file)
        self._card: FirstModelCard | None = None
        self._task_bar = TaskBar(program.downloads, window, session_bus)
        self._away = Away(program.notices, window)
        window.parts.notice_bar.remedy_wanted.connect(self._remedy)
        self._disconnect = [
            program.chat.opened.connect(self._leave),
            program.models.changed.connect(self._offer_first),
            program.session.changed.connect(self._offer_first),
        ]

    def close(self) -> None:
        """Listen to the services no longer."""
        self._task_bar.close()
        self._away.close()
        if self._page is not None:
            self._page.disconnect_services()
        if self._card is not None:
            self._card.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show(self, part: str = "") -> None:
        """Go to the page, or to one of its parts."""
        if self._page is None:
            self._page = self._make_page()
            self._page.load_wanted.connect(self._load)
            self._page.options_wanted.connect(self.options_wanted)
            self._page.plan_wanted.connect(self.plan_wanted)
            self._page.inspect_wanted.connect(lambda path: self.inspect(Path(path)))
            self._window.add_page("models", self._page)
            self._page.show_part("library" if self._program.models.found else "find")
        if part:
            self._page.show_part(part)
        self._window.show_page("models")
        self._page.take_keyboard()

    def inspect(self, path: Path) -> None:
        """Go to what a file is made of, which is read now."""
        self._program.planner.viewing.open(path)
        self.show("inspect")

    def choose_file(self) -> None:
        """Let people choose a file to see what it is made of; the one that is loaded lies nearest."""
        loaded = self._program.session.model
        folder = Path(loaded.path).parent if loaded is not None else self._program.models.folder
        title = self.tr("Inspect a model file")
        Dialogs(self._window).choose_model(folder, Icons(self._program.resources), self.inspect, title)

    def show_repository(self, name: str) -> None:
        """Go to the page of a repository of the hub, which is read now."""
        self.show("find")
        self._program.discovering.open(name)

    def _offer_first(self) -> None:
        """Offer a model to whoever has none."""
        welcome, program = self._window.parts.chat_page.welcome, self._program
        is_lacking = lacks_model(program.session, program.models)
        if is_lacking and self._card is None:
            self._card = self._make_card()
            self._card.hide()
            self._card.load_wanted.connect(self._load)
            self._card.others_wanted.connect(self.show)
            self._card.downloads_wanted.connect(lambda: self.show("downloads"))
            welcome.set_offer(self._card)
        focus: QWidget | None = self._window.focusWidget()
        if not is_lacking and self._card is not None and focus is not None and self._card.isAncestorOf(focus):
            self._write()  # Qt would hand the keyboard to whichever button comes next
        welcome.show_offer(is_offered=is_lacking)

    def _load(self, path: str) -> None:
        """Load a model, unless it is loaded, and go to where one chats with it: nobody has to offer that any more."""
        latest = self._program.notices.latest
        if latest is not None and latest.path == path:
            self._program.notices.settle("load_downloaded")
        loaded = self._program.session.model
        if loaded is None or loaded.path != path:
            self._program.session.use(Wish(Path(path)))
        self._window.show_page("chat")
        self._write()

    def _write(self) -> None:
        """Have the keyboard where a message is written: that is what a model is got for."""
        self._window.parts.chat_page.composer.draft.setFocus()

    def _remedy(self, remedy: str) -> None:
        latest = self._program.notices.latest
        if remedy == "load_downloaded" and latest is not None:
            self._load(latest.path)

    def _go(self, name: str) -> None:
        if name == "models":
            self.show()

    def _leave(self) -> None:
        """Another chat is shown."""
        if self._window.page == "models":
            self._window.show_page("chat")
