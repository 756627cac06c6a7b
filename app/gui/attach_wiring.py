"""Joins what attaches files, by button, key, drop and paste, to the service that reads them."""

from __future__ import annotations

from pathlib import Path

from app.core.attached_files import file_of
from app.core.words import translate
from app.gui.dialogs import Dialogs
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.services.notices import Notice
from app.services.program import Program
from app.services.units import count


class AttachWiring:
    """Holds where files were chosen last."""

    def __init__(self, program: Program, window: MainWindow, dialogs: Dialogs) -> None:
        self._program = program
        self._window = window
        self._dialogs = dialogs
        self._folder = Path.home()
        composer = window.parts.chat_page.composer
        window.files_dropped.connect(self._take)
        window.actions_by_name["attach_action"].triggered.connect(lambda _checked=False: self._choose())
        composer.files_wanted.connect(self._choose)
        composer.file_left.connect(program.attaching.leave)
        composer.draft.files_pasted.connect(self._take)
        composer.draft.too_long.connect(self._tell_too_long)
        self._disconnect = [
            program.attaching.attached.connect(self._attach),
            program.attaching.changed.connect(self._show),
            program.chat.opened.connect(self._show),
        ]

    def close(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def _choose(self) -> None:
        self._dialogs.choose_files(self._folder, Icons(self._program.resources), self._take)

    def _take(self, paths: list[Path]) -> None:
        self._folder = paths[0].parent
        self._window.page_wanted.emit("chat")
        self._program.attaching.attach(paths)

    def _attach(self, framed: str) -> None:
        file = file_of(framed)
        if not self._window.parts.chat_page.composer.attach(framed) and file is not None:
            self._program.attaching.tell_again(file.name)

    def _show(self) -> None:
        self._window.parts.chat_page.composer.show_reading(self._program.attaching.reading)

    def _tell_too_long(self, characters: int) -> None:
        sentence = translate(
            "Composer",
            "This text has {characters} characters, too many for one message: paste a part of it.",
            characters=count(characters),
        )
        self._program.notices.post(Notice(sentence, level="hint", brief=True))
