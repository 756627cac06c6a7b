"""Where people choose the two settings of a grid, and up to four values for each."""

from __future__ import annotations

import re

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QVBoxLayout

from app.core.sampling import BOUNDS, SamplingSettings
from app.gui import theme
from app.gui.compare.lane_words import setting_titles
from app.gui.widgets.boxes import ChoiceBox, read_number
from app.gui.widgets.labels import label
from app.services.lane_starts import GRID_SETTINGS, GRID_STEPS, MOST_STEPS, WITHOUT_EFFECT_AT_0, Lanes, grid_for

_BETWEEN = re.compile(r"[;\s]+|,(?=\s)|,(?=[^\s]*,)")
FIRST, SECOND = "temperature", "top_p"


class GridMaker(QFrame):
    """Two rows, one for what goes from column to column and one for what goes from row to row."""

    made = Signal(object)
    """The lanes of a grid (`Lanes`): it comes with every value that is changed."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("grid_maker")
        self.setProperty("look", "card")
        self._present = SamplingSettings()
        self._problem = label(look="problem", pixels=theme.SMALL_PX, name="grid_problem")
        self._problem.setWordWrap(True)
        self._across = self._box("grid_columns_box", self.tr("From column to column"))
        self._down = self._box("grid_rows_box", self.tr("From row to row"))
        self._values_across = self._line("grid_columns_values", self.tr("Values of the columns"))
        self._values_down = self._line("grid_rows_values", self.tr("Values of the rows"))
        self._lay_out()
        for box, line, name in self._pairs(FIRST, SECOND):
            box.setCurrentIndex(box.findData(name))
            self._fill(box, line)
            box.activated.connect(lambda _index, box=box, line=line: self._choose(box, line))
            line.textChanged.connect(lambda _text: self.make())
        self._look()

    def show_present(self, present: SamplingSettings) -> None:
        """Let everything that does not go from cell to cell be as in these settings."""
        self._present = present

    def make(self) -> None:
        """Have the lanes of the grid, unless its values make none; what is wrong with them is said."""
        self._look()
        across, down = self._values(self._across, self._values_across), self._values(self._down, self._values_down)
        if self._problem_words() or across is None or down is None:
            return
        columns, rows = str(self._across.currentData()), str(self._down.currentData())
        lanes: Lanes = grid_for(self._present, columns, across, rows, down)
        self.made.emit(lanes)

    def _pairs(self, across: str, down: str) -> tuple[tuple[ChoiceBox, QLineEdit, str], ...]:
        return ((self._across, self._values_across, across), (self._down, self._values_down, down))

    def _box(self, name: str, words: str) -> ChoiceBox:
        box, titles = ChoiceBox(), setting_titles()
        box.setObjectName(name)
        box.setAccessibleName(words)
        for setting in GRID_SETTINGS:
            box.addItem(titles[setting], setting)
        return box

    def _line(self, name: str, words: str) -> QLineEdit:
        line = QLineEdit()
        line.setObjectName(name)
        line.setProperty("look", "field")
        line.setAccessibleName(words)
        line.setPlaceholderText(self.tr("Up to four numbers, with spaces between them"))
        return line

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_S)
        grid.setColumnStretch(2, 1)
        captions = (self.tr("Columns"), self.tr("Rows"))
        rows = ((self._across, self._values_across), (self._down, self._values_down))
        for row, (caption, (box, line)) in enumerate(zip(captions, rows, strict=True)):
            words = label(caption)
            words.setBuddy(box)
            for column, widget in enumerate((words, box, line)):
                grid.addWidget(widget, row, column)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        whole.setSpacing(theme.SPACE_S)
        whole.addLayout(grid)
        whole.addWidget(self._problem)

    def _choose(self, box: ChoiceBox, line: QLineEdit) -> None:
        self._fill(box, line)
        self.make()

    def _fill(self, box: ChoiceBox, line: QLineEdit) -> None:
        with QSignalBlocker(line):
            line.setText("  ".join(f"{value:g}" for value in GRID_STEPS[str(box.currentData())]))

    def _values(self, box: ChoiceBox, line: QLineEdit) -> list[float] | None:
        """Return the numbers of a line; None where it is none, too many, or one is out of range."""
        setting = str(box.currentData())
        numbers = [read_number(part, whole=setting == "top_k") for part in _BETWEEN.split(line.text()) if part]
        values = [number for number in numbers if number is not None]
        bounds = BOUNDS[setting]
        fits = all(bounds.low <= value <= bounds.high for value in values)
        is_right = 0 < len(values) == len(numbers) <= MOST_STEPS and fits and len(set(values)) == len(values)
        return values if is_right else None

    def _problem_words(self) -> str:
        if self._across.currentData() == self._down.currentData():
            return self.tr("Choose two different settings.")
        for box, line, _name in self._pairs("", ""):
            if self._values(box, line) is None:
                bounds = BOUNDS[str(box.currentData())]
                words = self.tr("{setting}: write one to four different numbers from {low} to {high}.")
                return words.format(setting=box.currentText(), low=f"{bounds.low:g}", high=f"{bounds.high:g}")
        across, down = (self._values(box, line) or [] for box, line, _name in self._pairs("", ""))
        return self.tr("A grid needs at least two cells.") if len(across) * len(down) < 2 else ""

    def _greedy_words(self) -> str:
        """Return that some cells will be the same, where they always take the likeliest token; empty where none is."""
        pairs = self._pairs("", "")
        has_zero = any(
            box.currentData() == "temperature" and 0 in (self._values(box, line) or ()) for box, line, _ in pairs
        )
        idle = next((box.currentText() for box, _line, _ in pairs if box.currentData() in WITHOUT_EFFECT_AT_0), "")
        said = self.tr("At temperature 0 {setting} changes nothing, so the cells with it will be the same.")
        return said.format(setting=idle) if has_zero and idle else ""

    def _look(self) -> None:
        problem = self._problem_words()
        self._problem.setText(problem or self._greedy_words())
        self._problem.setProperty("look", "problem" if problem else "muted")
        self._problem.setVisible(bool(self._problem.text()))
