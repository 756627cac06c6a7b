"""The planner's page with a mixture before a GPU in a window off the screen: `python -m tests.bench.planner_process`.

The real services and the real part of the page; `move` moves a slider and tells how long it took until the page was painted.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.core.devices import Device
from app.gui.planner.plan_part import PlanPart
from app.gui.theme import Themes
from app.services.planning_models import PlannedFile
from tests.bench.children import Answer, serve
from tests.bench.kv_map_process import Paints
from tests.desk import Desk
from tests.planner.planned_models import planned

GIB = 1 << 30
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 12 * GIB)
MODEL = "qwen3-30b-a3b"
WIDTH_PX, HEIGHT_PX = 1_040, 1_400


class Handlers:
    """What the parent can ask for."""

    def __init__(self, application: QApplication, folder: Path) -> None:
        self._desk = desk = Desk(folder / "home", pytest.MonkeyPatch())
        program = desk.program
        themes = Themes(application, program.resources, program.settings)
        planning = program.planner.planning
        planning.models._known[MODEL] = (None, PlannedFile(MODEL, planned(MODEL)))
        planning.devices.note((GPU,))
        self._part = PlanPart(planning, program.machine, themes)
        self._window = QWidget()
        self._window.setFixedSize(WIDTH_PX, HEIGHT_PX)
        QVBoxLayout(self._window).addWidget(self._part)
        self._window.show()
        QTest.qWaitForWindowExposed(self._window)
        planning.choose_model(MODEL)
        desk.until(lambda: "CUDA0" in planning.devices.gpus.here)
        planning.change(context=32_768)
        self._paint()
        self._rows = {
            "context": self._part.choices.context,
            "sequences": self._part.choices.sequences,
            "layers": self._part.choices.layers,
            "batch": self._part.choices.batch,
            "prompt": self._part.choices.prompt,
            "cached": self._part.choices.cached,
        }
        self._paints = {name: Paints(row.slider) for name, row in self._rows.items()}

    def move(self, slider: str) -> Answer:
        """Move a slider by a stop and return how long it took until the page was painted."""
        widget, before = self._rows[slider].slider, self._paints[slider].count
        step = 1 if widget.value() < widget.maximum() else -widget.maximum()
        began = time.perf_counter_ns()
        widget.setValue(widget.value() + step)
        self._paint()
        return {"ns": time.perf_counter_ns() - began, "painted": self._paints[slider].count > before}

    def _paint(self) -> None:
        """Lay out and paint what waits for it, as the event loop would do next."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.UpdateRequest)


def main() -> None:
    """Make the window and answer until the parent is done."""
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        handlers = Handlers(application, Path(folder))
        serve({"move": handlers.move})


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main()
