"""Joins what attaches files, by button, key, drop and paste, to the service that reads them."""

from __future__ import annotations

from pathlib import Path

from app.core.attached_files import Attachment, file_of
from app.core.words import translate
from app.gui.dialogs import Dialogs
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
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
        self._editor = editor = window.parts.chat_page.turn_actions.editor
        window.files_dropped.connect(self._take_where_written)
        window.actions_by_name["attach_action"].triggered.connect(lambda _checked=False: self._choose_where_written())
        editor.files_wanted.connect(self._choose_for_message)
        editor.files_pasted.connect(self._take_for_message)
        editor.file_left.connect(program.attaching.leave)
        editor.opened.connect(self._show)
        editor.closed.connect(program.attaching.leave_changes)
        composer.files_wanted.connect(self._choose)
        composer.file_left.connect(program.attaching.leave)
        composer.draft.files_pasted.connect(self._take)
        composer.draft.too_long.connect(self._tell_too_long)
        for pasted in (composer.draft.picture_pasted, editor.picture_pasted):
            pasted.connect(self._tell_picture)
        self._disconnect = [
            program.attaching.attached.connect(self._attach),
            program.attaching.attached_to.connect(self._attach_to),
            program.attaching.changed.connect(self._show),
            program.chat.opened.connect(self._show),
        ]

    def close(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def _choose(self) -> None:
        self._dialogs.choose_files(self._folder, Icons(self._program.resources), self._take)

    def _choose_for_message(self) -> None:
        self._dialogs.choose_files(self._folder, Icons(self._program.resources), self._take_for_message)

    def _choose_where_written(self) -> None:
        if self._editor.has_keyboard:
            self._choose_for_message()
        else:
            self._choose()

    def _take_where_written(self, paths: list[Path]) -> None:
        if self._editor.has_keyboard:
            self._take_for_message(paths)
        else:
            self._take(paths)

    def _take_for_message(self, paths: list[Path]) -> None:
        """Attach files to the message that is being changed; it may be left while somebody chooses."""
        self._folder = paths[0].parent
        if self._editor.turn is not None:
            self._program.attaching.attach(paths, self._editor.turn.message)

    def _attach_to(self, message: int, framed: str) -> None:
        self._tell(self._editor.attach(message, framed), framed)

    def _take(self, paths: list[Path]) -> None:
        self._folder = paths[0].parent
        self._window.page_wanted.emit("chat")
        self._program.attaching.attach(paths)

    def _attach(self, framed: str) -> None:
        self._tell(self._window.parts.chat_page.composer.attach(framed), framed)

    def _tell(self, became: Attachment, framed: str) -> None:
        file = file_of(framed)
        if file is not None and became == "known":
            self._program.attaching.tell_again(file.name)
        elif file is not None and became == "no_room":
            self._program.attaching.tell_no_room(file.name)

    def _show(self) -> None:
        attaching, turn = self._program.attaching, self._editor.turn
        self._window.parts.chat_page.composer.show_reading(attaching.reading)
        self._editor.show_reading(attaching.reading_for(turn.message) if turn is not None else ())

    def _tell_picture(self) -> None:
        sentence = translate(
            "Composer", "Pictures cannot be attached: paste text, or attach text, Markdown, source, CSV or PDF files."
        )
        self._program.attaching.tell(sentence)

    def _tell_too_long(self, characters: int) -> None:
        sentence = translate(
            "Composer",
            "This text has {characters} characters, too many for one message: paste a part of it.",
            characters=count(characters),
        )
        self._program.attaching.tell(sentence)
