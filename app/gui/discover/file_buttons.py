"""What can be done with a model's file: another name, and the trash; where it is not ours, why not."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.model import FoundModel
from app.gui.discover.rename_dialog import RenameDialog
from app.gui.discover.trash_dialog import TrashDialog
from app.gui.widgets.buttons import text_button
from app.gui.widgets.flow import Flow
from app.gui.widgets.words import render, set_hint
from app.services.library_files import LibraryFiles


class FileButtons(QWidget):
    """A row of two, each of which asks in a dialog."""

    def __init__(self, files: LibraryFiles) -> None:
        super().__init__()
        self._files = files
        self._model: FoundModel | None = None
        self.rename = text_button(self.tr("Rename its file…"), "library_rename_button")
        self.trash = text_button(self.tr("Move to the trash…"), "library_trash_button")
        row = Flow()
        row.addWidget(self.rename)
        row.addWidget(self.trash)
        self.setLayout(row)
        self.rename.clicked.connect(lambda _checked=False: self._open_rename())
        self.trash.clicked.connect(lambda _checked=False: self._open_trash())
        self.show_model(None)

    def show_model(self, model: FoundModel | None) -> None:
        """Offer what can be done with one."""
        self._model = model
        self.setVisible(model is not None)
        refusal = self._files.refusal(model) if model is not None else None
        for button, words in (
            (self.rename, self.tr("Give its file another name; your own name for it stays")),
            (self.trash, self.tr("Move its file to the trash of this system")),
        ):
            button.setEnabled(model is not None and refusal is None)
            set_hint(button, words if refusal is None else render(refusal))

    def _open_rename(self) -> None:
        if self._model is not None and not self._files.is_busy:
            RenameDialog(self._files, self._model, self.window()).open()

    def _open_trash(self) -> None:
        if self._model is not None and not self._files.is_busy:
            TrashDialog(self._files, self._model, self.window()).open()
