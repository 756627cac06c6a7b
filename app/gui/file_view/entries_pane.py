"""The entries of a file: key, type and value, and all of a long one on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QPushButton

from app.core.gguf_view import EntryView, GgufView
from app.gui import theme
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.file_view.file_table import FileTable
from app.gui.file_view.table_pane import SaveButton, TablePane
from app.gui.file_view.table_rows import Cells, Column, TableRows
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.model_viewing import ModelViewing
from app.services.units import count
from app.services.view_export import entries_csv
from app.services.viewing_words import length_words, one_line, value_text

if TYPE_CHECKING:
    from pathlib import Path


class EntriesPane(TablePane):
    """A few thousand rows at most: they are searched and sorted as they are."""

    def __init__(self, viewing: ModelViewing, save: SaveButton) -> None:
        self._viewing = viewing
        self._path: Path | None = None
        self._view: GgufView | None = None
        self._found: tuple[EntryView, ...] = ()
        self._order: tuple[int, bool] = (-1, False)
        self._wanted = ""
        """The key of which all is waited for."""
        rows = TableRows(
            (
                Column(self.tr("Key")),
                Column(self.tr("Type"), self.tr("What kind of value it is; [] is a list of them")),
                Column(self.tr("Value")),
            ),
            _cells,
            sort=self._sort,
        )
        table = FileTable(rows, "file_view_entries", self.tr("Metadata"), wide=2, sorts=True)
        sentence = self.tr(
            "What its authors wrote into the file about the model: its name, its sizes, how text is cut into tokens."
        )
        super().__init__(sentence, table, save, search=self.tr("Search keys and values"))
        self.whole = QPushButton(self.tr("See all of it…"))
        self.whole.setObjectName("file_view_whole_button")
        self.whole.setAccessibleName(self.whole.text())
        set_hint(self.whole, self.tr("The value of the chosen row in full, to read and to copy"))
        self.problem = label(look="problem", pixels=theme.SMALL_PX, name="file_view_whole_problem")
        self.problem.setWordWrap(True)
        self.problem.setMinimumWidth(1)
        self.add_below(self.whole, self.problem)
        save.made = self._make
        self.line.textChanged.connect(lambda _text: self._show())
        self.whole.clicked.connect(lambda _checked=False: self._open())
        table.opened.connect(self._open)
        table.selectionModel().currentRowChanged.connect(lambda _now, _before: self._show_button())
        self._disconnect = viewing.value.changed.connect(self._show_whole)
        self._show_button()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def show_view(self, path: Path, view: GgufView) -> None:
        """Show another file."""
        self._path, self._wanted = path, ""
        if self._view is None or view.entries is not self._view.entries:
            self._view = view
            self._show()
        self._view = view

    def _show(self) -> None:
        view = self._view
        if view is None:
            return
        words = self.line.text().casefold().split()
        found = [each for each in view.entries if _has(each, words)]
        column, is_down = self._order
        if column >= 0:
            found.sort(key=_KEYS[column], reverse=is_down)
        self._found = tuple(found)
        self.table.rows.show(self._found)
        self._show_button()
        self.problem.setText("")
        there = len(view.entries) + view.entries_left_out
        if len(found) < there:
            said = self.tr("{shown} of {count} entries").format(shown=count(len(found)), count=count(there))
        else:
            said = self.tr("1 entry") if there == 1 else self.tr("{count} entries").format(count=count(there))
        if view.entries_left_out:
            left_out = self.tr("The last {count} are not shown.").format(count=count(view.entries_left_out))
            said = f"{said}. {left_out}"
        self.state.setText(said)

    def _sort(self, column: int, descending: bool) -> None:
        self._order = (column, descending)
        self._show()

    def _show_button(self) -> None:
        self.whole.setEnabled(0 <= self.table.row < len(self._found))

    def _open(self) -> None:
        if self._path is not None and 0 <= self.table.row < len(self._found):
            self._wanted = self._found[self.table.row].key
            self.problem.setText("")
            self._viewing.value.open(self._path, self._wanted)

    def _show_whole(self) -> None:
        shown = self._viewing.value.shown
        if not self._wanted or shown.key != self._wanted:
            return
        self._wanted = ""
        if shown.problem is not None:
            self.problem.setText(render(shown.problem))
        if shown.whole is None:
            return
        facts = self.tr("the rest is not shown") if shown.whole.is_cut else ""
        viewer = PasteViewer(shown.whole.text, self, title=one_line(shown.key), shown=shown.shown, facts=facts)
        viewer.setObjectName("file_view_whole")
        viewer.open()

    def _make(self) -> Callable[[], bytes] | None:
        found = self._found
        return None if self._view is None else lambda: entries_csv(found)


def _cells(entry: EntryView) -> Cells:
    length = length_words(entry)
    value = value_text(entry)
    return one_line(entry.key), entry.type, f"{value}  ({render(length)})" if length is not None else value


def _has(entry: EntryView, words: list[str]) -> bool:
    if not words:
        return True
    said = f"{entry.key} {entry.value}".casefold()
    return all(word in said for word in words)


def _value_key(entry: EntryView) -> tuple[int, float, str]:
    """Return what to sort a value by: numbers by what they are worth, then texts, then lists by how long they are."""
    value = entry.value
    if isinstance(value, tuple):
        return 2, entry.length or 0, ""
    return (1, 0, value) if isinstance(value, str) else (0, value if value == value else 0, "")


_KEYS: tuple[Callable[[EntryView], Any], ...] = (
    lambda entry: entry.key,
    lambda entry: entry.type,
    _value_key,
)
