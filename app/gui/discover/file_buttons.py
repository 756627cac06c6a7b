"""What can be done with a model's file: another name, and the trash; where it is not ours, why not."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.rename_dialog import RenameDialog
from app.gui.discover.trash_dialog import TrashDialog
from app.gui.widgets.buttons import text_button
from app.gui.widgets.flow import Flow
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import render, set_hint
from app.services.library_files import LibraryFiles


class FileButtons(QWidget):
    """A row of two, each of which asks in a dialog; below it, why a key for one of them did nothing."""

    def __init__(self, files: LibraryFiles) -> None:
        super().__init__()
        self._files = files
        self._model: FoundModel | None = None
        self.rename = text_button(self.tr("Rename its file…"), "library_rename_button")
        self.trash = text_button(self.tr("Move to the trash…"), "library_trash_button")
        self.refused = wrapped(label(look="problem", name="library_file_refused"))
        row = Flow()
        row.addWidget(self.rename)
        row.addWidget(self.trash)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(row)
        column.addWidget(self.refused)
        self.rename.clicked.connect(lambda _checked=False: self.want_rename())
        self.trash.clicked.connect(lambda _checked=False: self.want_trash())
        self.show_model(None)

    def show_model(self, model: FoundModel | None) -> None:
        """Offer what can be done with one."""
        before, self._model = self._model, model
        if model is None or before is None or model.path != before.path:
            self.refused.setVisible(False)  # that was said of another one
        self.setVisible(model is not None)
        refusal = self._files.refusal(model) if model is not None else None
        for button, words in (
            (self.rename, self.tr("Give its file another name; your own name for it stays")),
            (self.trash, self.tr("Move its file to the trash of this system")),
        ):
            button.setEnabled(model is not None and refusal is None)
            set_hint(button, words if refusal is None else render(refusal))

    def want_rename(self) -> None:
        """Ask for another name; say why where it can have none."""
        if self._model is not None and self._may_ask():
            RenameDialog(self._files, self._model, self.window()).open()

    def want_trash(self) -> None:
        """Ask before its file goes to the trash; say why where it cannot go."""
        if self._model is not None and self._may_ask():
            TrashDialog(self._files, self._model, self.window()).open()

    def _may_ask(self) -> bool:
        refusal = self._files.refusal(self._model) if self._model is not None else None
        self.refused.setText(render(refusal) if refusal is not None else "")
        self.refused.setVisible(refusal is not None)
        if refusal is not None:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.refused.text()))
        return refusal is None and not self._files.is_busy
