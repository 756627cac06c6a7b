"""Rows of any kind for a table of Qt: nothing is made of a row before it is seen, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.gui.widgets.words import hint_of

_Index = QModelIndex | QPersistentModelIndex
Cells = tuple[str, ...]
_NO_INDEX = QModelIndex()


class Column(NamedTuple):
    """What a column is called, what that means, and whether it holds figures, which end at the right."""

    title: str
    hint: str = ""
    is_figure: bool = False


class TableRows(QAbstractTableModel):
    """Whoever has it sorted decides what that means; rows are shown in the order that they come in."""

    def __init__(
        self,
        columns: Sequence[Column],
        cells: Callable[[Any], Cells],
        hint: Callable[[Any], str] | None = None,
        sort: Callable[[int, bool], None] | None = None,
    ) -> None:
        """`cells` makes of a row what stands in its columns, `hint` what is said of it on hover.

        `sort` gets a column, below zero for none, and whether the largest come first.
        """
        super().__init__()
        self.columns = tuple(columns)
        self.rows: Sequence[Any] = ()
        self._cells, self._hint, self._sort = cells, hint, sort
        self._made: tuple[int, Cells] = (-1, ())
        """The cells that were made last: Qt asks for one at a time, and for each of them in many ways."""

    def show(self, rows: Sequence[Any]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self.rows = rows
        self._made = (-1, ())
        self.endResetModel()

    def cells(self, row: int) -> Cells:
        """Return what stands in a row."""
        if self._made[0] != row:
            self._made = (row, self._cells(self.rows[row]))
        return self._made[1]

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return how many there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the title of a column and what it means."""
        if orientation is Qt.Orientation.Vertical:
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return hint_of(column.hint) if column.hint else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return _side(column)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a cell shows or says."""
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.cells(index.row())[index.column()]
            case Qt.ItemDataRole.TextAlignmentRole:
                return _side(self.columns[index.column()])
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self.columns[index.column()].title}: {self.cells(index.row())[index.column()]}"
            case Qt.ItemDataRole.ToolTipRole:
                if self._hint is not None:
                    return hint_of(self._hint(self.rows[index.row()]))
                return hint_of(self.cells(index.row())[index.column()])
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Ask for another order."""
        if self._sort is not None:
            self._sort(column, order is Qt.SortOrder.DescendingOrder)


def _side(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.is_figure else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
