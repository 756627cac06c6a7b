"""Asks before a model's file goes to the trash of this system, and says what uses it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.model import FoundModel
from app.gui.discover.file_dialog import FileDialog
from app.gui.discover.words import shown
from app.gui.widgets.words import isolated
from app.services.library_files import LibraryFiles


class TrashDialog(FileDialog):
    """The trash is the system's: what lies there is brought back from there."""

    def __init__(self, files: LibraryFiles, model: FoundModel, parent: QWidget | None = None) -> None:
        super().__init__(files, model, "trash", parent)
        self.begin(self.tr("Move “{name}” to the trash?").format(name=isolated(shown(model.name))))
        self.cancel.setFocus()  # Enter alone throws nothing away

    def go_on(self) -> None:
        """Move it."""
        self._files.move_to_trash()

    def words_of_deed(self, *, is_loaded: bool) -> str:
        """Say that it is unloaded first where that is so."""
        return self.tr("Unload and move to the trash") if is_loaded else self.tr("Move to the trash")
