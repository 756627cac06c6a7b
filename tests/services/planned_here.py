"""A machine with a GPU and much memory, and what is planned on it."""

from __future__ import annotations

from app.core.model import LoadOptions
from app.planner.gpu import Gpu
from app.planner.memory_plan import PlannedDevice
from app.services.planning import Planning
from app.services.planning_devices import KnownGpus
from app.services.planning_values import PlanChoice, PlanView
from app.services.planning_view import Place, make_plan, place_of, view_of
from tests.desk import Desk
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR, TABLE

GIB = 1 << 30
MAIN = PlannedDevice("CPU", False, 64 * GIB, 40 * GIB)
"""Its main memory."""


def ask(desk: Desk, planning: Planning) -> LoadOptions:
    """Wait until llama.cpp is asked about the choice."""
    desk.until(lambda: desk.dry_run.asked and desk.dry_run.asked[-1].options.context == planning.choice.context)
    return desk.dry_run.asked[-1].options


def here(gpu: Gpu = TABLE["l4"], free: int = 22 * GIB) -> Place:
    devices = (PlannedDevice("CUDA0", True, 23 * GIB, free), MAIN)
    return place_of("here", devices, KnownGpus(here={"CUDA0": gpu, "CPU": PROCESSOR}))


def view(name: str, choice: PlanChoice, place: Place) -> PlanView:
    return view_of(make_plan(planned(name), choice, place), choice, place, None)
