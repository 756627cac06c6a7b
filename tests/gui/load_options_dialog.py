"""The dialog of load options, as somebody uses it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPushButton,
    QToolButton,
)

from app.core.devices import Device
from app.core.metrics import DeviceMemory
from app.gui.models.load_dialog import LoadOptionsDialog
from tests.gui.conftest import Stage

MIB = 1 << 20
HUGE, LARGE = 1 << 50, 900 << 30
TRAINED = 1024
CPU = Device("CPU", "a processor", "cpu", "CPU", 16 << 30, None)
GPU = Device("CUDA0", "NVIDIA L4", "gpu", "CUDA", 24 << 30, 20 << 30)


class Options:
    """The dialog as somebody sits before it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.asked = len(stage.desk.dry_run.asked)
        menu = stage.find_as(QToolButton, "model_button").menu()
        menu.aboutToShow.emit()
        action = menu.findChild(QAction, "load_options_action")
        assert action is not None
        action.trigger()
        self.dialog = stage.find_as(LoadOptionsDialog)
        stage.desk.until(lambda: len(stage.desk.dry_run.asked) > self.asked)

    def answer(self, *memory: DeviceMemory, devices: tuple[Device, ...] = (CPU,)) -> None:
        self.stage.desk.dry_run.answer(*memory, devices=devices)
        self.stage.settle()

    def answer_all(self, kv: int | None) -> None:
        """Answer whatever is asked, those questions too that look for a smaller context where the cache is huge."""
        while self.stage.desk.program.load_options._measuring is not None:
            fits = (self.stage.desk.dry_run.asked[-1].options.context or 0) <= 12_288
            self.answer(
                DeviceMemory("CPU", MIB, MIB if kv in (LARGE, HUGE) and fits else kv, MIB, complete=kv is not None)
            )

    def chooses_context(self, tokens: str) -> None:
        """Type a context and wait until it is asked what that takes."""
        asked = len(self.stage.desk.dry_run.asked)
        self.types("context_box", tokens)
        self.stage.desk.until(lambda: len(self.stage.desk.dry_run.asked) > asked)

    def types(self, name: str, text: str) -> None:
        box = self.dialog.findChild(QDoubleSpinBox, name)
        assert box is not None
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)
        QTest.keyClick(box, Qt.Key.Key_Tab)

    def is_typing(self, name: str, text: str) -> None:
        """Type into a box and stay in it."""
        box = self.dialog.findChild(QDoubleSpinBox, name)
        assert box is not None
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)

    def chooses(self, name: str, text: str) -> None:
        box = self.dialog.findChild(QComboBox, name)
        assert box is not None
        box.setFocus()
        while box.currentText() != text:
            QTest.keyClick(box, Qt.Key.Key_Down)

    def clicks(self, name: str) -> None:
        QTest.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

    def button(self, name: str) -> QPushButton:
        found = self.dialog.findChild(QPushButton, name)
        assert found is not None
        return found

    def reads(self, name: str) -> str:
        found = self.dialog.findChild(QLabel, name)
        assert found is not None
        return found.text() if found.isVisibleTo(self.dialog) else ""

    def texts(self) -> list[str]:
        return [each.text() for each in self.dialog.findChildren(QLabel) if each.isVisibleTo(self.dialog)]

    @property
    def measured(self) -> dict[str, object]:
        """What was asked of the last dry run, as far as it is no default."""
        options = self.stage.desk.dry_run.asked[-1].options
        return {
            "context": options.context,
            "gpu_layers": options.gpu_layers,
            "kv_type_k": options.kv_type_k,
            "kv_type_v": options.kv_type_v,
        }
