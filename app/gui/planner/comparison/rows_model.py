"""The rows of a comparison as a table: those of one model together, sorted by any column. Knows no widget, draws nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.gui.planner.comparison import words
from app.gui.planner.comparison.row_hints import HINTS
from app.gui.widgets.words import hint_of
from app.services.plan_values import Band, ComparedRow
from app.services.units import UNKNOWN, at_most, byte_size, count, rate

ROW_ROLE, SMALL_ROLE, VALUE_ROLE, GROUP_ROLE, NEED_ROLE = (int(Qt.ItemDataRole.UserRole) + n for n in range(5))
FIRST, FITS, CONTEXT, AT_ONCE, FIRST_TOKEN, EACH, TOGETHER, LIMIT = range(8)
_Index = QModelIndex | QPersistentModelIndex
_VERDICTS = ("fits", "less_context", "partly", "too_large", "unknown")
_SIDES = (True, True, False, False, False, False, False, True)
"""Which columns begin at the left."""


class Cell(NamedTuple):
    """What a cell shows: a line, a smaller one under it, and what it is sorted by (None is unknown, and comes last)."""

    words: str
    small: str
    value: float | str | None


class RowsModel(QAbstractTableModel):
    """A row for each model on each GPU."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[ComparedRow] = []
        self._prompt = 0
        self._given: tuple[ComparedRow, ...] = ()
        self._sorted: tuple[int, Qt.SortOrder] | None = None
        self._known: dict[tuple[str, str, str], tuple[Cell, ...]] = {}
        """Cells by the key of their row, made when they are first wanted."""
        self._aside: tuple[int, ...] = ()
        """Columns that have no room: what they say stands under the name."""

    @property
    def rows(self) -> list[ComparedRow]:
        """The rows in the order that they are shown in."""
        return self._rows

    def show_rows(self, rows: Sequence[ComparedRow], prompt: int) -> None:
        """Show other rows, in the order that people chose, or as they come, for prompts of so many tokens."""
        self.beginResetModel()
        self._prompt = prompt
        self._given = tuple(rows)
        self._known.clear()
        self._sort()
        self.endResetModel()

    def set_aside(self, columns: tuple[int, ...]) -> None:
        """Say under the names what stands in these columns, for which there is no room."""
        if columns != self._aside:
            self._aside = columns
            self._known.clear()
            if self._rows:
                self.dataChanged.emit(self.index(0, FIRST), self.index(len(self._rows) - 1, FIRST))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  Qt's own default
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(_SIDES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """Return the title of a column and what it means."""
        if orientation is Qt.Orientation.Vertical:
            return None
        title, hint = self._titles()[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role == Qt.ItemDataRole.ToolTipRole:
            return hint_of(hint)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if _SIDES[section] else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return what a cell shows, says or is worth."""
        row = self._rows[index.row()]
        match role:
            case _ if role == ROW_ROLE:
                return row.key
            case _ if role == GROUP_ROLE:
                return self.group(index.row())
            case _ if role == NEED_ROLE:
                return words.need_line(row)
        cell = self.cell(row, index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell.words
            case Qt.ItemDataRole.ToolTipRole:
                return hint_of(HINTS[index.column()](row))
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row, index.column(), cell)
        if role == SMALL_ROLE:
            return cell.small
        return cell.value if role == VALUE_ROLE else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Show the rows in the order of a column; what is not known comes last. Below zero they stand as they come."""
        self.layoutAboutToBeChanged.emit()
        before = {row.key: place for place, row in enumerate(self._rows)}
        self._sorted = (column, order) if 0 <= column < self.columnCount() else None
        self._sort()
        after = {row.key: place for place, row in enumerate(self._rows)}
        moved = {before[key]: place for key, place in after.items()}
        old = self.persistentIndexList()
        self.changePersistentIndexList(old, [self.index(moved[each.row()], each.column()) for each in old])
        self.layoutChanged.emit()

    def group(self, place: int) -> str:
        """Return the model whose rows begin at a place; empty where the row belongs to the one above it."""
        model = self._rows[place].model
        return "" if place and self._rows[place - 1].model == model else model

    def cell(self, row: ComparedRow, column: int) -> Cell:
        """Return what stands in a column of a row."""
        known = self._known.get(row.key)
        if known is None:
            known = self._known[row.key] = self._cells(row)
        return known[column]

    def _cells(self, row: ComparedRow) -> tuple[Cell, ...]:
        fits = _VERDICTS.index(row.verdict)
        parts = (row.shown_quantisation, byte_size(row.gpu_memory))
        which = " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts if part)
        which = " · ".join((which, *self._said_aside(row)))
        return (
            Cell(words.short_gpu(row.gpu), which, row.gpu_memory),
            Cell(words.verdict_words(row), byte_size(row.needed), fits),
            Cell(count(row.largest_context), "", row.largest_context),
            Cell(count(row.most_users), "", row.most_users),
            _time(row.first_token),
            _speed(row.each),
            _speed(row.together),
            Cell(words.limit_words(row), "", row.limited_by),
        )

    def _said_aside(self, row: ComparedRow) -> list[str]:
        said = []
        if TOGETHER in self._aside and row.together is not None:
            said.append(self.tr("{rate} tok/s together").format(rate=rate(row.together.value)))
        if LIMIT in self._aside and row.limited_by is not None:
            said.append(self.tr("limited by {what}").format(what=words.limit_words(row)))
        if AT_ONCE in self._aside and row.most_users is not None:
            said.append(self.tr("{count} at once").format(count=count(row.most_users)))
        return said

    def _spoken(self, row: ComparedRow, column: int, cell: Cell) -> str:
        title = self._titles()[column][0]
        said = f"{title}: {cell.words}" + (f", {cell.small}" if cell.small else "")
        if column == FIRST:
            parts = (self.tr("Model: {model}").format(model=row.shown_model), said, words.need_line(row))
            return ". ".join(part for part in parts if part)
        why = HINTS[column](row) if cell.words == UNKNOWN else ""
        return f"{said}. {why}" if why else said

    def _titles(self) -> tuple[tuple[str, str], ...]:
        tr = self.tr
        return (
            (
                tr("GPU"),
                tr("With the quantisation (≈ is an estimate: no file of it is here), and its memory"),
            ),
            (tr("Fits?"), tr("Whether it fits, and what it needs of the GPU's memory")),
            (
                tr("Context up to"),
                tr(
                    "The largest context that each of so many conversations could have: all on the GPU where it fits there, "
                    "otherwise with layers in main memory"
                ),
            ),
            (tr("At once"), tr("Conversations of this context that would fit at once")),
            (
                tr("First token of {prompt}").format(prompt=count(self._prompt)),
                self._first_hint(),
            ),
            (tr("tok/s each"), tr("Tokens per second of each conversation with its context full, and the band")),
            (
                tr("tok/s together"),
                tr("Tokens per second of all conversations with their contexts full, and the band"),
            ),
            (tr("Limited by"), tr("What keeps it from being faster, or from fitting")),
        )

    def _first_hint(self) -> str:
        if self._prompt == 1:
            return self.tr(
                "Time to the first token of one prompt of 1 token by itself, and its band: prefill, which is nearly all of it"
            )
        words = self.tr(
            "Time to the first token of one prompt of {prompt} tokens by itself, and its band: prefill, which is nearly all "
            "of it"
        )
        return words.format(prompt=count(self._prompt))

    def _sort(self) -> None:
        """Put the rows in order, those of one model together: first the model whose best row comes first."""
        found = list(self._given)
        if self._sorted is not None:
            column, order = self._sorted
            known = [row for row in found if self.cell(row, column).value is not None]
            rest = [row for row in found if self.cell(row, column).value is None]
            is_down = order is Qt.SortOrder.DescendingOrder
            known.sort(key=lambda row: self.cell(row, column).value, reverse=is_down)  # type: ignore[arg-type, return-value]
            found = known + rest
        groups: dict[str, list[ComparedRow]] = {}
        for row in found:
            groups.setdefault(row.model, []).append(row)
        self._rows = [row for group in groups.values() for row in group]


def _speed(band: Band | None) -> Cell:
    return _unknown() if band is None else Cell(rate(band.value), words.band_of(band), band.value)


def _unknown() -> Cell:
    return Cell(UNKNOWN, "", None)


def _time(band: Band | None) -> Cell:
    """Return a time with its band, which is not said where it is all one figure."""
    if band is None:
        return _unknown()
    time, between = words.seconds(band.value), words.band_of(band, is_time=True)
    return Cell(at_most(band.is_most) + time, "" if between == time else between, band.value)
