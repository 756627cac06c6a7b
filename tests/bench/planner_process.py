"""The planner's page with a mixture before a GPU in a window off the screen: `python -m tests.bench.planner_process`.

The real services and the real part of the page; `move` moves a slider and tells how long it took until the page was painted.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.core.devices import Device
from app.gui.icons import Icons
from app.gui.planner.device_picture import DevicePicture
from app.gui.planner.plan_part import PlanPart
from app.gui.theme import Themes
from app.gui.widgets.fit_badge import FitLook
from app.services.planning_models import PlannedFile
from app.services.planning_values import PlanChoice
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
        look = FitLook(program.planner.fits, Icons(program.resources), themes)
        planning = program.planner.planning
        planning.models._known[MODEL] = (None, PlannedFile(MODEL, planned(MODEL)))
        planning.devices.note((GPU,))
        self._part = PlanPart(planning, program.machine, look)
        self._window = QWidget()
        self._window.setFixedSize(WIDTH_PX, HEIGHT_PX)
        QVBoxLayout(self._window).addWidget(self._part)
        self._window.show()
        QTest.qWaitForWindowExposed(self._window)
        planning.choose_model(MODEL)
        desk.until(lambda: "CUDA0" in planning.devices.gpus.here)
        self._planning = planning
        self.begin()
        choices, answer = self._part.choices, self._part.answer
        self._rows = {
            "context": self._part.choices.context,
            "sequences": self._part.choices.sequences,
            "layers": self._part.choices.layers,
            "batch": self._part.choices.batch,
            "prompt": self._part.choices.prompt,
            "cached": self._part.choices.cached,
        }
        self._kv_type = choices.kv
        self._memory = answer.findChildren(DevicePicture)[0]
        self._pictures = {"memory": self._memory, "speed": answer.speed}
        self._paints = {name: Paints(picture) for name, picture in self._pictures.items()}

    def begin(self) -> Answer:
        """Choose what each slider begins with: of a short context much of a prompt would not count."""
        self._planning.change(**structs.asdict(PlanChoice(context=32_768)))
        self._paint()
        return {}

    def move(self, slider: str) -> Answer:
        """Move a slider by a stop and return how long it took until the answer was painted, and whether it was another.

        Whether anything came of it is told by what is painted: pictures of memory and speed, and what they say.
        """
        before, said = {name: paints.count for name, paints in self._paints.items()}, self._said()
        change = self._next_type if slider == "kv_type" else lambda: self._next_stop(slider)
        began = time.perf_counter_ns()
        change()
        self._paint()
        taken = time.perf_counter_ns() - began
        watched = [name for name, paints in self._paints.items() if paints.count > before[name]]
        changed = [name for name, words in self._said().items() if words != said.get(name)]
        return {"ns": taken, "painted": watched, "changed": changed}

    def _next_stop(self, slider: str) -> None:
        widget = self._rows[slider].slider
        step = 1 if widget.value() < widget.maximum() else -widget.maximum()
        widget.setValue(widget.value() + step)

    def _next_type(self) -> None:
        box = self._kv_type
        box.setCurrentIndex((box.currentIndex() + 1) % box.count())
        box.activated.emit(box.currentIndex())

    def _said(self) -> dict[str, str]:
        """Return what the answer says: pictures have their words, by which screen readers know them."""
        answer = self._part.answer
        shown = {name: picture for name, picture in self._pictures.items() if picture.isVisible()}
        texts = {name: picture.accessibleName() for name, picture in shown.items()}
        return {**texts, "answer": answer.answer.text(), "first": answer.first.text()}

    def _paint(self) -> None:
        """Lay out and paint what waits for it, as the event loop would do next."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.UpdateRequest)


def main() -> None:
    """Make the window and answer until the parent is done."""
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        handlers = Handlers(application, Path(folder))
        serve({"begin": handlers.begin, "move": handlers.move})


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main()
