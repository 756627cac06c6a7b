from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QTableView

from app.gui.file_view.part import FilePart
from app.gui.widgets.search_box import SearchPopup
from tests.gui.conftest import Stage


class Viewer:
    """The part “Inspect” as somebody sits before it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.viewing = stage.desk.program.planner.viewing

    @property
    def part(self) -> FilePart:
        return self.stage.find_as(FilePart)

    def opens(self, path: Path, other: Path | None = None) -> None:
        """Have a file shown, as the library does, and wait for it; two where another one is to be compared."""
        self.stage.triggers("inspect_file_action")
        self.chooses("Inspect a model file", path)
        self.rests()
        if other is not None:
            self.browses("file_view_compare_button")
            self.chooses("Inspect a model file", other)
            self.rests()

    def popup(self) -> SearchPopup | None:
        """Return the list of models, where it is open."""
        open_ones = [each for each in self.part.findChildren(SearchPopup) if each.isVisible()]
        return open_ones[0] if open_ones else None

    def offered(self) -> list[str]:
        """Return what the list of models has."""
        popup = self.popup()
        assert popup is not None
        return [str(popup.shown.index(row, 0).data()) for row in range(popup.shown.rowCount())]

    def browses(self, button: str) -> None:
        """Press a button, and go from the models that it offers to all files."""
        self.stage.clicks(button)
        popup = self.popup()
        if popup is not None:
            popup.list.clicked.emit(popup.shown.index(0, 0))

    def chooses(self, title: str, path: Path) -> None:
        """Choose a file in the chooser that is open."""
        (dialog,) = [each for each in self.stage.window.findChildren(QFileDialog) if each.isVisible()]
        assert dialog.windowTitle() == title
        dialog.fileSelected.emit(str(path))
        dialog.close()

    def rests(self) -> None:
        """Wait until nothing is read any more."""
        self.stage.desk.until(lambda: not self.viewing.is_reading and not self.viewing.tokens.is_reading)

    def turns_to(self, name: str) -> None:
        """Go to one of the tables."""
        self.stage.clicks(f"file_view_{name}_tab")
        self.rests()

    def rows(self, table: str, most: int = 200) -> list[list[str]]:
        """Return what a table says."""
        model = self.stage.find_as(QTableView, f"file_view_{table}").model()
        columns = range(model.columnCount())
        return [
            [str(model.index(row, column).data()) for column in columns] for row in range(min(model.rowCount(), most))
        ]

    def column(self, table: str, column: int) -> list[str]:
        return [row[column] for row in self.rows(table)]


@pytest.fixture
def viewer(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Viewer:
    """Of somebody without any model, so that files are known by what they say of themselves."""
    models = stage.desk.program.models
    monkeypatch.setattr(models, "_folders", (tmp_path / "none",))
    models.refresh()
    stage.desk.until(lambda: models.has_looked and not models.found)
    return Viewer(stage)
