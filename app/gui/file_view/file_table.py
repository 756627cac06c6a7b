"""A table of what a file holds: rows of one height, one column that takes what the others leave, and rows to copy."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.gui import theme
from app.gui.file_view.table_rows import TableRows
from app.gui.widgets.figures_header import SIGN_PX, FiguresHeader

ROW_PX, HEADER_PX = 28, 30
MEASURED, MOST_SHARE, LEAST_PX = 300, 0.4, 44
"""Rows that widths are taken from, and how much of the width a column may take that is not the wide one."""
COPIED = 10_000
_PAD_PX = 10


class FileTable(QTableView):
    """Shows some tens of thousands of rows as quickly as ten."""

    opened = Signal()
    """Somebody pressed Enter on a row, or clicked twice."""

    def __init__(self, rows: TableRows, name: str, said: str, *, wide: int = 0, sorts: bool = False) -> None:
        """`wide` is the column that takes what the others leave."""
        super().__init__()
        self.rows = rows
        self._wide = wide
        self._needed: list[int] = []
        self.setModel(rows)
        self.setObjectName(name)
        self.setAccessibleName(said)
        self.setProperty("look", "file_rows")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(theme.scaled(ROW_PX))
        self.verticalHeader().setDefaultSectionSize(theme.scaled(ROW_PX))
        header = FiguresHeader(self)
        self.setHorizontalHeader(header)
        header.setFixedHeight(theme.scaled(HEADER_PX))
        header.setMinimumSectionSize(1)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        if sorts:
            header.setSortIndicatorClearable(True)
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            self.setSortingEnabled(True)
        rows.modelReset.connect(self._measure)
        self.activated.connect(lambda _index: self.opened.emit())

    @property
    def row(self) -> int:
        """The row that is chosen; -1 where none is."""
        index = self.currentIndex()
        return index.row() if index.isValid() else -1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the rows that are selected, with tabs between their cells."""
        if not event.matches(QKeySequence.StandardKey.Copy):
            super().keyPressEvent(event)
            return
        chosen = sorted(index.row() for index in self.selectionModel().selectedRows())[:COPIED]
        if chosen:
            QGuiApplication.clipboard().setText("\n".join("\t".join(self.rows.cells(row)) for row in chosen))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width anew."""
        super().resizeEvent(event)
        self._share()

    def _measure(self) -> None:
        """Find how wide the columns are, by their headings and by the first rows."""
        figures, heads = QFontMetrics(self.font()), QFontMetrics(self.horizontalHeader().font())
        sign = theme.scaled(SIGN_PX) if self.isSortingEnabled() else 0
        widths = [heads.horizontalAdvance(column.title) + sign for column in self.rows.columns]
        for row in range(min(len(self.rows.rows), MEASURED)):
            for place, cell in enumerate(self.rows.cells(row)):
                if place != self._wide:
                    widths[place] = max(widths[place], figures.horizontalAdvance(cell))
        self._needed = [max(width + 2 * _PAD_PX, theme.scaled(LEAST_PX)) for width in widths]
        self._share()

    def _share(self) -> None:
        if not self._needed:
            return
        room, header = self.viewport().width(), self.horizontalHeader()
        most = int(room * MOST_SHARE)
        widths = [min(needed, most) for needed in self._needed]
        others = sum(widths) - widths[self._wide]
        widths[self._wide] = max(room - others, theme.scaled(LEAST_PX))
        for place, width in enumerate(widths):
            if header.sectionSize(place) != width:
                header.resizeSection(place, width)
