"""All tensors of a file: name, shape, type, size and share, sorted by any of them, and found by words."""

from __future__ import annotations

from collections.abc import Callable

from app.core.gguf_view import GgufView, TensorColumn, TensorView
from app.gui.file_view.file_table import FileTable
from app.gui.file_view.table_pane import SaveButton, TablePane
from app.gui.file_view.table_rows import Cells, Column, TableRows
from app.services.model_viewing import ModelViewing
from app.services.units import byte_size, count
from app.services.view_export import tensors_csv
from app.services.viewing_words import one_line, shape_text, share_text

COLUMNS: tuple[TensorColumn, ...] = ("name", "shape", "type", "size", "size")


class TensorsPane(TablePane):
    """Sorting and searching are the service's, beside the window."""

    def __init__(self, viewing: ModelViewing, save: SaveButton) -> None:
        self._viewing = viewing
        self._view: GgufView | None = None
        self._all = 0
        rows = TableRows(
            (
                Column(self.tr("Name")),
                Column(self.tr("Shape"), self.tr("How many numbers stand in a row, and how many rows there are")),
                Column(self.tr("Type"), self.tr("How exactly each number is kept")),
                Column(self.tr("Size"), "", is_figure=True),
                Column(self.tr("Share"), self.tr("Of the size of all tensors"), is_figure=True),
            ),
            self._cells,
            _hint,
            self._sort,
        )
        table = FileTable(rows, "file_view_tensors", self.tr("Tensors"), sorts=True)
        sentence = self.tr(
            "Tensors are the tables of numbers that the model has learned; the type says how exactly each number is kept."
        )
        super().__init__(sentence, table, save, search=self.tr("Search names and types"))
        save.made = self._make
        self.line.textChanged.connect(viewing.narrow)

    def show_view(self, view: GgufView) -> None:
        """Show another file, or the same in another order."""
        if self._view is None or view.tensors is not self._view.tensors:
            self.table.rows.show(view.tensors)
        self._view = view
        self._all = sum(row.tensors for row in view.types)
        shown = len(view.tensors)
        if not self._all:
            self.state.setText(self.tr("This file holds no tensors."))
        elif shown < self._all:
            words = self.tr("{shown} of {count} tensors")
            self.state.setText(words.format(shown=count(shown), count=count(self._all)))
        else:
            one, several = self.tr("1 tensor"), self.tr("{count} tensors")
            self.state.setText(one if shown == 1 else several.format(count=count(shown)))
        if self.save is not None:
            self.save.setEnabled(bool(shown))

    def _sort(self, column: int, descending: bool) -> None:
        self._viewing.sort(COLUMNS[column] if column >= 0 else "file", descending=descending and column >= 0)

    def _cells(self, tensor: TensorView) -> Cells:
        whole = self._view.weights if self._view is not None else None
        return (
            one_line(tensor.name),
            shape_text(tensor),
            tensor.type,
            byte_size(tensor.size),
            share_text(tensor.size, whole),
        )

    def _make(self) -> Callable[[], bytes] | None:
        view = self._view
        return None if view is None else lambda: tensors_csv(view.tensors)


def _hint(tensor: TensorView) -> str:
    return one_line(tensor.name)
