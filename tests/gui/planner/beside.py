"""The part of the planner that sets models beside GPUs, as somebody sits before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QLabel

from app.gui.planner.comparison.part import ComparisonPart
from app.gui.planner.comparison.rows_model import NEED_ROLE
from app.gui.planner.page import PlannerPage
from app.services.plan_comparison import PlanComparison
from app.services.plan_values import Chosen, ModelChoice, Wanted
from tests.gui.conftest import Stage

GUARD_MS = 60_000
"""How long anything may take before it counts as stuck."""


class Beside:
    """The part as somebody sits before it."""

    def __init__(self, stage: Stage, model: Path) -> None:
        self.stage = stage
        self.model = model
        stage.window.page_wanted.emit("planner")
        page = stage.find_as(PlannerPage, "planner_page")
        page.show_part("compare")
        self.part = stage.find_as(ComparisonPart, "plan_comparison")
        self.table = self.part.table
        stage.desk.until(lambda: self.table.rows.rows)

    @property
    def service(self) -> PlanComparison:
        return self.stage.desk.program.planner.comparison

    def choose(self, *gpus: str, models: tuple[str, ...] = ("",), wanted: Wanted = Wanted(), **use: int) -> None:  # noqa: B008
        """Have others compared, and wait for the rows."""
        path = self.service.chosen.models[0].path
        chosen = Chosen(tuple(ModelChoice(path, name) for name in models), gpus, wanted=wanted, **use)
        self.service.choose(chosen)
        self.stage.desk.until(lambda: self.service.worked is not None and self.service.worked.chosen == chosen)

    def waits(self, fact: Callable[[], object]) -> None:
        """Let the window and the background do what they have to until something is so."""

        def is_so() -> bool:
            self.stage.settle()
            return bool(fact())

        self.stage.bot.waitUntil(is_so, timeout=GUARD_MS)

    def column(self, place: int) -> list[str]:
        return [self.table.rows.index(row, place).data() for row in range(self.table.rows.rowCount())]

    def needs(self) -> list[str]:
        return [self.table.rows.index(row, 0).data(NEED_ROLE) for row in range(self.table.rows.rowCount())]

    def problems(self) -> str:
        """Return what is wrong, a line for each model."""
        rows = self.part.problems.findChildren(QLabel)
        return "\n".join(row.text() for row in rows if row.isVisibleTo(self.part))

    def says(self, name: str) -> str:
        return self.stage.find_as(QLabel, name).text()
