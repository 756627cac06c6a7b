"""What differs between two files: their sizes by type, their entries and their tensors."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core.gguf_difference import EntryPair, GgufDifference, TensorPair
from app.core.gguf_view import EntryView, GgufView, TensorView
from app.gui import theme
from app.gui.file_view.file_table import FileTable
from app.gui.file_view.table_pane import TablePane
from app.gui.file_view.table_rows import Cells, Column, TableRows
from app.gui.widgets.labels import label
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.words import render
from app.services.model_viewing import ViewedFiles
from app.services.units import UNKNOWN, byte_size, count
from app.services.viewing_words import length_words, one_line, shape_text, value_text

_SizeRow = tuple[str, int | None, int | None]


class DifferencePane(QWidget):
    """The weights themselves are not compared, and it says so."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("file_view_difference")
        self._difference: GgufDifference | None = None
        self.summary = label(name="file_view_difference_summary")
        self.summary.setWordWrap(True)
        self.summary.setMinimumWidth(1)
        first, second = Column(self.tr("1: the first file")), Column(self.tr("2: the second file"))
        figures = (first._replace(is_figure=True), second._replace(is_figure=True))
        more = Column(self.tr("2 compared with 1"), self.tr("How much more or less the second takes"), is_figure=True)
        self.sizes = TablePane(
            self.tr("What each type of number takes in each of them. The whole comes first."),
            _table((Column(self.tr("Type")), *figures, more), self._size_cells, "sizes", self.tr("Sizes"), 0),
        )
        self.entries = TablePane(
            self.tr("What their authors wrote differently about them; – is written in one of them alone."),
            _table((Column(self.tr("Key")), first, second), _entry_cells, "entries", self.tr("Metadata"), 2),
        )
        self.tensors = TablePane(
            self.tr("Tensors of another shape or type, and those that only one of them has (– in the other)."),
            _table((Column(self.tr("Name")), first, second), _tensor_cells, "tensors", self.tr("Tensors"), 0),
        )
        self.tabs = PageTabs(
            (
                ("sizes", "file_view_difference_sizes_tab", self.tr("Sizes"), self.tr("What each type takes")),
                ("entries", "file_view_difference_entries_tab", self.tr("Metadata"), self.tr("Entries that differ")),
                ("tensors", "file_view_difference_tensors_tab", self.tr("Tensors"), self.tr("Tensors that differ")),
            )
        )
        self._stack = QStackedWidget()
        self._panes = {"sizes": self.sizes, "entries": self.entries, "tensors": self.tensors}
        for pane in self._panes.values():
            pane.state.hide()
            self._stack.addWidget(pane)
        self.tabs.wanted.connect(self.show_part)
        self.show_part("sizes")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.summary)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._stack, 1)

    def show_part(self, name: str) -> None:
        """Show one of its tables."""
        self._stack.setCurrentWidget(self._panes[name])
        self.tabs.show_page(name)
        self.setFocusProxy(self._panes[name])

    def show_files(self, files: ViewedFiles) -> None:
        """Show two other files."""
        told = files.difference
        if told is None or told is self._difference:
            return
        self._difference = told
        first, second = files.views
        self.sizes.table.rows.show(_size_rows(first, second))
        self.entries.table.rows.show(told.entries)
        self.tensors.table.rows.show(told.tensors)
        self.summary.setText(self._summary(told))

    def _summary(self, told: GgufDifference) -> str:
        if told.is_none:
            return self.tr("Both say the same of themselves and of their tensors. Their weights were not compared.")
        return self.tr(
            "Entries: {entries} differ, {same_entries} are the same. Tensors: {tensors} differ, {same_tensors} are the same "
            "by shape and type. Their weights were not compared."
        ).format(
            entries=count(len(told.entries)),
            tensors=count(len(told.tensors)),
            same_entries=count(told.same_entries),
            same_tensors=count(told.same_tensors),
        )

    def _size_cells(self, row: _SizeRow) -> Cells:
        name, first, second = row
        named = one_line(name) if name else self.tr("All weights")
        return named, byte_size(first), byte_size(second), _more(first, second)


def _table(columns: tuple[Column, ...], cells: object, name: str, said: str, wide: int) -> FileTable:
    rows = TableRows(columns, cells)  # type: ignore[arg-type]
    return FileTable(rows, f"file_view_difference_{name}", said, wide=wide)


def _size_rows(first: GgufView, second: GgufView) -> list[_SizeRow]:
    here, there = ({row.type: row.size for row in view.types} for view in (first, second))
    whole: _SizeRow = ("", first.weights, second.weights)
    return [whole, *((name, here.get(name, 0), there.get(name, 0)) for name in {**here, **there})]


def _more(first: int | None, second: int | None) -> str:
    if first is None or second is None:
        return UNKNOWN
    if first == second:
        return "±0"
    size = f"{'+' if second > first else '−'}{byte_size(abs(second - first))}"
    return f"{size} ({100 * (second - first) / first:+,.0f} %)".replace("-", "−") if first else size


def _entry_cells(pair: EntryPair) -> Cells:
    is_other = pair.first is not None and pair.second is not None and pair.first.type != pair.second.type
    return one_line(pair.key), *(_entry(each, with_type=is_other) for each in (pair.first, pair.second))


def _entry(entry: EntryView | None, *, with_type: bool) -> str:
    if entry is None:
        return UNKNOWN
    length = length_words(entry)
    said = value_text(entry) + (f"  ({render(length)})" if length is not None else "")
    return f"{entry.type}: {said}" if with_type else said


def _tensor_cells(pair: TensorPair) -> Cells:
    return one_line(pair.name), _tensor(pair.first), _tensor(pair.second)


def _tensor(tensor: TensorView | None) -> str:
    if tensor is None:
        return UNKNOWN
    return f"{tensor.type} · {shape_text(tensor)} · {byte_size(tensor.size)}"
