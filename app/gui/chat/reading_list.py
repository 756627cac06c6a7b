"""The files that are being read for a draft, each as one row that can be taken away."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.row_area import RowArea
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel
from app.services.attaching import Reading

ROW_PX = 38
MOST_ROWS = 3
"""More rows than these scroll."""


class ReadingList(RowArea):
    """Not there while nothing is read."""

    left = Signal(int)
    """Somebody does not want a file any more: its number."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._rows: dict[int, QFrame] = {}
        self.setObjectName("file_reading_list")
        self.setAccessibleName(self.tr("Files that are being read"))
        self.fit(0, ROW_PX)

    def show_files(self, files: Sequence[Reading]) -> None:
        """Show other files."""
        wanted = {each.number: each for each in files}
        for number in self._rows.keys() - wanted.keys():
            self.drop(self._rows.pop(number))
        for number, reading in wanted.items():
            if number not in self._rows:
                self._rows[number] = self._row(reading)
                self.column.addWidget(self._rows[number])
        self.fit(min(len(self._rows), MOST_ROWS), ROW_PX)

    def _row(self, reading: Reading) -> QFrame:
        row = QFrame()
        row.setObjectName("file_reading")
        row.setProperty("look", "chip")
        row.setFixedHeight(ROW_PX)
        words = self.tr("Reading {name} …").format(name=reading.name)
        row.setAccessibleName(words)
        said = ElidedLabel(theme.SMALL_PX)
        said.set_text(words)
        leave = IconButton(self._icons, "close", self.tr("Do not attach the file"), object_name="leave_file_button")
        leave.clicked.connect(lambda: self.left.emit(reading.number))
        layout = QHBoxLayout(row)
        layout.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_XS, 0)
        layout.addWidget(said, 1)
        layout.addWidget(leave)
        return row
