"""The planner with a model in three quantisations on four GPUs, of which some meet what is needed."""

from __future__ import annotations

from msgspec.structs import replace

from app.core.devices import MainMemory
from app.gui.planner.comparison.part import ComparisonPart
from app.gui.planner.page import PlannerPage
from app.services.plan_values import Chosen, ModelChoice, Wanted
from app.services.planning_models import PlannedFile
from tests.e2e.scene import Scene
from tests.planner.planned_models import planned

GIB = 1 << 30
MODEL = "/models/Qwen3-8B.gguf"
MAIN = MainMemory(32 * GIB, 20 * GIB, 32 * GIB)


def plan_comparison(scene: Scene) -> None:
    """Two conversations are to be fast enough: what meets that comes first."""
    planner = scene.program.planner
    planner.models._known[MODEL] = (None, PlannedFile(MODEL, replace(planned("qwen3-8b"), name="Qwen3 8B")))
    scene.patch.setattr(planner.models, "want", lambda _path: None)
    scene.patch.setattr(planner.devices, "_main_memory", lambda: MAIN)
    scene.window.page_wanted.emit("planner")
    scene.find(PlannerPage, "planner_page").show_part("compare")
    models = (ModelChoice(MODEL), ModelChoice(MODEL, "Q8_0"), ModelChoice(MODEL, "Q6_K"))
    gpus = ("rtx-3060", "rtx-4090", "l4")
    chosen = Chosen(models, gpus, context=16_384, users=2, prompt=4_096, wanted=Wanted(5.0, 28.0))
    planner.comparison.choose(chosen)
    scene.desk.until(lambda: planner.comparison.worked is not None and planner.comparison.worked.chosen == chosen)
    scene.desk.until(lambda: not planner.comparison.is_busy)
    part = scene.find(ComparisonPart, "plan_comparison")
    part.table.setFocus()
    scene.rest()
