"""A table with one sentence of what it shows, a line to search it, and a button that saves it for spreadsheets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.file_view.file_table import FileTable
from app.gui.icons import Icons
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.documents_folder import documents_folder
from app.gui.widgets.file_chooser import dress
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.file_export import FileExport

_LINE_PX = 260


class SaveButton(QPushButton):
    """Asks where a table goes, and has it written there."""

    def __init__(self, files: FileExport, icons: Icons, name: str) -> None:
        super().__init__(self.tr("Save as CSV…"))
        self._files, self._icons = files, icons
        self.made: Callable[[], Callable[[], bytes] | None] = lambda: None
        """Returns what makes the file beside the window, of what is shown now; None where there is nothing."""
        self.stem = ""
        """What the file is called where nobody says otherwise."""
        self.setObjectName(name)
        self.setAccessibleName(self.text())
        set_hint(self, self.tr("Save this table for spreadsheets, as it is shown"))
        self.clicked.connect(lambda _checked=False: self._choose())

    def save(self, path: Path) -> None:
        """Write what is shown."""
        make = self.made()
        if make is not None:
            self._files.save(path, make)
            self._files.look_away()  # where it is, is told in a notice

    def _choose(self) -> None:
        folder = str(documents_folder())
        dialog = QFileDialog(self.window(), self.tr("Save the table"), folder)
        dialog.setObjectName("file_view_save_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Tables (*.csv)")])
        dialog.setDefaultSuffix("csv")
        dialog.selectFile(f"{self.stem}.csv")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, self._icons)
        dialog.fileSelected.connect(lambda path: self.save(Path(path)))
        dialog.open()


class TablePane(QWidget):
    """What it shows is said by whoever fills it."""

    def __init__(self, sentence: str, table: FileTable, save: SaveButton | None = None, *, search: str = "") -> None:
        """`search` is what the line says while nothing is typed; without it there is no line."""
        super().__init__()
        self.table, self.save = table, save
        self.sentence = label(sentence, look="muted", name="file_view_sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setMinimumWidth(1)
        self.line = ClearLine(self)
        self.line.searches_page = True
        self.line.setObjectName(f"{table.objectName()}_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(search)
        self.line.setAccessibleName(search)
        self.line.setMaximumWidth(theme.scaled(_LINE_PX))
        self.line.setMinimumWidth(theme.scaled(_LINE_PX) // 2)
        self.line.setVisible(bool(search))
        self.state = label(look="muted", pixels=theme.SMALL_PX, name=f"{table.objectName()}_state")
        self.state.setWordWrap(True)
        self.state.setMinimumWidth(1)
        self.below = QHBoxLayout()
        self.below.setSpacing(theme.SPACE_S)
        self._lay_out(has_row=bool(search) or save is not None)
        self.setFocusProxy(table)

    def add_below(self, *widgets: QWidget) -> None:
        """Put buttons under the table."""
        for widget in widgets:
            self.below.addWidget(widget)
        if isinstance(widgets[-1], QLabel):
            self.below.setStretch(self.below.count() - 1, 1)
        else:
            self.below.addStretch(1)

    def _lay_out(self, *, has_row: bool) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.sentence)
        if has_row:
            above = QHBoxLayout()
            above.setSpacing(theme.SPACE_M)
            above.addWidget(self.line, 3)
            above.addWidget(self.state, 1)
            if self.save is not None:
                above.addWidget(self.save)
            column.addLayout(above)
        else:
            column.addWidget(self.state)
        column.addWidget(self.table, 1)
        column.addLayout(self.below)
