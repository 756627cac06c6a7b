"""Gives a model's file another name, after it was said what uses it and what stands against the name."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.file_dialog import FileDialog
from app.gui.discover.words import shown
from app.gui.widgets.kept_label import KeptLabel
from app.gui.widgets.labels import label
from app.gui.widgets.words import isolated, render
from app.services.library_files import LibraryFiles


class RenameDialog(FileDialog):
    """The ending stays, and of a model in several files which part each is."""

    def __init__(self, files: LibraryFiles, model: FoundModel, parent: QWidget | None = None) -> None:
        super().__init__(files, model, "rename", parent)
        self.line = QLineEdit()
        self.line.setObjectName("rename_line")
        self.line.setProperty("look", "field")
        self.line.setAccessibleName(self.tr("New name"))
        self.ending = label(look="muted", name="rename_ending")
        self.wrong = KeptLabel(look="problem", pixels=theme.SMALL_PX, name="rename_problem")
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self.line, 1)
        row.addWidget(self.ending)
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(row)
        column.addWidget(self.wrong)
        self.begin(self.tr("Rename the file of “{name}”").format(name=isolated(shown(model.name))), box)
        self.ending.setText(files.naming.ending)
        self.line.setText(shown(files.naming.stem))
        self.line.selectAll()
        self.line.setFocus()
        self.line.textChanged.connect(lambda _text: self.show_state())
        self.line.returnPressed.connect(self.do.click)
        self.show_state()

    def go_on(self) -> None:
        """Rename it."""
        if self.may_go_on:
            self._files.rename(self.line.text())

    @property
    def may_go_on(self) -> bool:
        """Whether another name is typed that it can have."""
        typed = self.line.text()
        return self._files.naming.is_new(typed) and self._files.naming.problem(typed) is None

    def show_state(self) -> None:
        """Show what stands against the name, too."""
        super().show_state()
        typed, files = self.line.text(), self._files
        problem = files.naming.problem(typed) if files.is_ready and files.naming.is_new(typed) else None
        self.wrong.setText(render(problem) if problem is not None else "")

    def words_of_deed(self, *, is_loaded: bool) -> str:
        """Say that it is unloaded for it where that is so."""
        return self.tr("Unload and rename") if is_loaded else self.tr("Rename")
