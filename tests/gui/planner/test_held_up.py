"""A machine that something held up: the window says so beside its figures, in the plan and in the comparison."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLabel

from app.core.machine_speed import KeptAnswers, KnownMemory
from app.gui.planner.page import PlannerPage
from tests.gui.conftest import Stage
from tests.gui.planner.beside import Beside

SLOWED = "Something slowed down every answer on this machine so far"
SLOW = KeptAnswers(weak_decode=tuple((2.0, 1e6, 1e5, 2.0, 1000.0) for _ in range(4)))


def test_that_every_answer_was_held_up_stands_beside_the_figures(ready: Stage, model: Path) -> None:
    settings, planner = ready.desk.program.settings, ready.desk.program.planner
    settings.change(memory_speeds={"CPU": KnownMemory(40.0)})
    beside = Beside(ready, model)
    assert SLOWED not in beside.says("plan_comparison_use")
    settings.change(answers_here={f"CPU, {threads}": SLOW for threads in range(1, 65)})
    planner.devices.gpus  # noqa: B018  somebody asks
    ready.desk.until(lambda: planner.devices.gpus.here["CPU"].is_held_up)
    beside.choose(next(gpu.id for gpu in beside.service.gpus if gpu.group == "here"))
    assert SLOWED in beside.says("plan_comparison_use")
    ready.find_as(PlannerPage, "planner_page").show_part("plan")
    ready.desk.until(lambda: planner.planning.view is not None and planner.planning.view.speed.caveats)
    caveat = ready.find_as(QLabel, "plan_caveat")
    assert not caveat.isHidden() and caveat.text().startswith(SLOWED)
    assert SLOWED not in ready.find_as(QLabel, "plan_speed_words").text(), "it is said once"
    settings.change(answers_here={})
    planner.devices.gpus  # noqa: B018
    ready.desk.until(lambda: not planner.devices.gpus.here["CPU"].is_held_up)
    ready.desk.until(caveat.isHidden)
