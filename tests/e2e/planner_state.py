"""The page Planner before a large model and a GPU that takes some of its layers."""

from __future__ import annotations

from app.core.devices import Device, MainMemory
from app.gui.planner.plan_part import PlanPart
from app.services.planning_models import PlannedFile
from tests.e2e.scene import Scene
from tests.planner.planned_models import planned

GIB = 1 << 30
MODEL = "/models/Qwen3-8B.gguf"
GPU = Device("CUDA0", "NVIDIA GeForce RTX 4090", "gpu", "CUDA", 24 * GIB, 9 * GIB)
MAIN = MainMemory(32 * GIB, 20 * GIB, 32 * GIB)
CONTEXT = 32_768


def planner(scene: Scene) -> None:
    """A context that is too long was chosen: what would help is offered."""
    planning = scene.program.planner.planning
    planning.models._known[MODEL] = (None, PlannedFile(MODEL, planned("qwen3-8b")))
    scene.patch.setattr(planning.models, "want", lambda _path: None)
    scene.patch.setattr(planning.devices, "_main_memory", lambda: MAIN)
    scene.patch.setattr(planning._asked, "get", lambda _path, _options: None)
    planning.devices.note((GPU,))
    planning.choose_model(MODEL)
    scene.window.page_wanted.emit("planner")
    scene.desk.until(lambda: "CUDA0" in planning.devices.gpus.here)
    planning.change(context=CONTEXT)
    scene.find(PlanPart, "plan_part").choices.context.slider.setFocus()
    scene.rest()
