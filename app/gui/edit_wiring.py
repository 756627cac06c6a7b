"""Joins the message that is being changed to the service that counts it."""

from __future__ import annotations

from app.gui.main_window import MainWindow
from app.services.program import Program
from app.services.turns import Turn


class EditWiring:
    """Has what is written counted, and shown what came of it."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        self._counted = program.edited_count
        self._editor = window.parts.chat_page.turn_actions.editor
        self._editor.settled.connect(self._watch)
        self._editor.closed.connect(self._counted.leave)
        self._disconnect = self._counted.changed.connect(self._show)

    def close(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def _watch(self, turn: Turn, message: str, files: tuple[str, ...]) -> None:
        self._counted.watch(turn, message, files)
        self._show()

    def _show(self) -> None:
        self._editor.show_count(self._counted.count)
