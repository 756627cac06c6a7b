"""What is wrong with models that are compared, a line for each, with what can be done about it beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label, wrapped


class Problem(NamedTuple):
    """What is wrong, of which model."""

    path: str
    """Empty where it is of none."""
    name: str
    words: str
    read: str = ""
    """What the button says that has it read; empty where that helps nothing."""
    can_remove: bool = False


class ProblemRows(QWidget):
    """Shows problems; says what somebody wants to do about one."""

    read_wanted = Signal(str)
    """Somebody wants a model read: its path."""
    removal_wanted = Signal(str)
    """Somebody wants a model away: its path."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("plan_comparison_problems")
        self._rows: list[_Row] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.SPACE_XS)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show these, and nothing where there are none."""
        for number in range(len(self._rows), len(problems)):
            row = _Row(number)
            row.read.clicked.connect(lambda _checked=False, row=row: self.read_wanted.emit(row.path))
            row.remove.clicked.connect(lambda _checked=False, row=row: self.removal_wanted.emit(row.path))
            self._rows.append(row)
            self._column.addWidget(row)
        for row, problem in zip(self._rows, problems, strict=False):
            row.show_problem(problem)
        for row in self._rows[len(problems) :]:
            row.hide()
        self.setVisible(bool(problems))


class _Row(QWidget):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.path = ""
        self.words = wrapped(label(look="problem", pixels=theme.SMALL_PX, name=f"plan_problem_{number}"))
        self.read, self.remove = QPushButton(), QPushButton(self.tr("Remove"))
        self.read.setObjectName(f"plan_problem_read_{number}")
        self.remove.setObjectName(f"plan_problem_remove_{number}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.words, 1)
        for button in (self.read, self.remove):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def show_problem(self, problem: Problem) -> None:
        """Show another one."""
        self.path = problem.path
        self.words.setText(problem.words)
        self.read.setText(problem.read or self.tr("Read"))  # also unseen it has a name
        self.read.setVisible(bool(problem.read))
        self.remove.setVisible(problem.can_remove)
        for button in (self.read, self.remove):
            said = self.tr("{action}: {model}").format(action=button.text(), model=problem.name)
            button.setAccessibleName(said)
        self.show()
