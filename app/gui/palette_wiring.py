"""Joins the command palette to the window: what it offers, and what becomes of what is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QObject, QTimer

from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.services.program import Program
from app.services.wishes import Wish

if TYPE_CHECKING:
    from app.gui.palette.entries import Entry

MOST_RECENT = 20


class PaletteWiring(QObject):
    """Makes the palette anew whenever somebody wants it: what can be chosen is another thing by then."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program = program
        self._window = window
        self._icons = Icons(program.resources)
        window.actions_by_name["palette_action"].triggered.connect(lambda _checked=False: self.open())

    def close(self) -> None:
        """It listens to no service."""

    def open(self) -> None:
        """Show the palette over the window."""
        from app.gui.palette import entries  # noqa: PLC0415  loaded when it is first wanted
        from app.gui.palette.popup import PalettePopup  # noqa: PLC0415

        program, loaded = self._program, self._program.session.model
        conversations = program.conversations
        offered = (
            *entries.action_entries(self._window.actions_by_name),
            *entries.chat_entries(conversations.heads, conversations.open_id, QDate.currentDate()),
            *entries.model_entries(program.models.found, loaded.path if loaded is not None else None),
        )
        popup = PalettePopup(
            offered, program.settings.values.palette_recent, program.planner.fits, self._icons, self._window
        )
        popup.chosen.connect(lambda entry: popup.destroyed.connect(lambda: self._take_soon(entry)))
        popup.open_over(self._window)

    def _take_soon(self, entry: Entry) -> None:
        """Do what was chosen once the palette is gone and the window has the keyboard, which a field opens with."""
        self._window.activateWindow()
        QTimer.singleShot(0, self, lambda: self._take(entry))

    def _take(self, entry: Entry) -> None:
        self._remember(entry.key)
        match entry.kind:
            case "action":
                self._window.actions_by_name[entry.id].trigger()
            case "chat":
                self._window.show_page("chat")
                self._program.conversations.open(int(entry.id))
            case "model":
                loaded = self._program.session.model
                if loaded is None or loaded.path != entry.id:
                    self._program.notices.dismiss()
                    self._program.session.use(Wish(Path(entry.id)))

    def _remember(self, key: str) -> None:
        recent = self._program.settings.values.palette_recent
        others = (each for each in recent if each != key)
        self._program.settings.change(palette_recent=(key, *others)[:MOST_RECENT])
