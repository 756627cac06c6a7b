from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDoubleSpinBox,
    QLineEdit,
    QMenu,
    QScrollArea,
)
from pytestqt.qtbot import QtBot

from app.core.sampling import SamplingSettings
from app.gui.sampling.panel import SamplingPanel
from app.gui.theme import Themes
from tests.desk import Desk
from tests.gui.looking import Looking

COLUMN = QSize(304, 700)
NARROW_PX = 280


class Stand(Looking):
    """The settings in a column of their own, and the program behind them."""

    def __init__(self, desk: Desk, qtbot: QtBot, application: QApplication) -> None:
        self.desk = desk
        self.sampling = desk.program.sampling
        self.themes = Themes(application, desk.program.resources, desk.program.settings)
        self.panel = SamplingPanel(self.sampling)
        self.looked_at = self.panel
        self.window = QScrollArea()
        self.window.setWidgetResizable(True)
        self.window.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.window.setWidget(self.panel)
        self.window.resize(COLUMN)
        with qtbot.waitExposed(self.window):
            self.window.show()

    @property
    def values(self) -> SamplingSettings:
        return self.sampling.values

    def sees(self, name: str) -> bool:
        return self.find(name).isVisibleTo(self.window)

    def reads(self, name: str) -> str:
        return str(self.find(name).property("text"))

    def clicks(self, name: str) -> None:
        QTest.mouseClick(self.find(name), Qt.MouseButton.LeftButton)


def opens_more(stand: Stand) -> None:
    """Unfold the less usual settings, if they are not."""
    if not stand.sees("sampling_more"):
        QTest.mouseClick(stand.find("sampling_more_button"), Qt.MouseButton.LeftButton)


def types(stand: Stand, name: str, text: str) -> QDoubleSpinBox:
    """Type a number as people do, and confirm it."""
    box = stand.find_as(QDoubleSpinBox, name)
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return)
    return box


def writes(stand: Stand, name: str, text: str) -> QLineEdit:
    """Write a line and confirm it."""
    line = stand.find_as(QLineEdit, name)
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)
    return line


def menu_entries(stand: Stand) -> dict[str, QAction]:
    """Return what the menu of the presets offers, by name."""
    menu = stand.find("preset_menu_button").findChild(QMenu)
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return {action.objectName(): action for action in menu.actions()}


def chooses(stand: Stand, entry: str) -> None:
    menu_entries(stand)[entry].trigger()


def saves(stand: Stand, name: str) -> None:
    chooses(stand, "save_preset_action")
    writes(stand, "preset_name", name)
