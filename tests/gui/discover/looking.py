"""What people do on the page Models, and wait for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QTreeWidget

from tests.gui.conftest import Stage


def searches(stage: Stage, text: str = "tiny") -> None:
    """Type a name, press Enter and wait for what is found."""
    line = stage.find("discover_line")
    line.setFocus()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)
    rests(stage)


def rests(stage: Stage) -> None:
    """Wait until nothing is asked any more."""
    found = stage.desk.program.discovering
    stage.desk.until(lambda: not found.is_searching and not found.is_reading)


def found_by(stage: Stage) -> list[str]:
    """Return the names that are listed."""
    rows = stage.find_as(QListWidget, "discover_list")
    return [rows.item(row).text().partition("\n")[0] for row in range(rows.count())]


def opens(stage: Stage, row: int = 0) -> None:
    """Choose what was found, and wait for its page."""
    stage.find_as(QListWidget, "discover_list").setCurrentRow(row)
    rests(stage)


def table(stage: Stage) -> list[list[str]]:
    """Return what the list of quantisations says."""
    tree = stage.find_as(QTreeWidget, "discover_quantisations")
    items = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return [[item.text(column) for column in range(tree.columnCount())] for item in items if item is not None]
