"""A GPU of people's own: its figures as its data sheet has them. Knows no service."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QDialogButtonBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.own_gpu import LEAST, MOST_GB_PER_S, MOST_GIB, MOST_TFLOPS, OwnGpu
from app.core.words import Sentence
from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox, NumberBox
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import render, set_hint
from app.services.plan_values import OfferedGpu

CONTROL_PX, WIDTH_PX, MOST_NAME = 210, 440, 60
Keep = Callable[[str, OwnGpu], Sentence | None]


class GpuDialog(TallDialog):
    """Name and figures; what is wrong is said in it, and nothing is kept then."""

    def __init__(
        self, keep: Keep, alike: Sequence[OfferedGpu], entry: tuple[str, OwnGpu] | None, parent: QWidget | None = None
    ) -> None:
        """`alike` are those that it may behave like; `entry` is what is changed."""
        super().__init__(parent)
        tr = self.tr
        self._keep = keep
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._grid.setColumnStretch(0, 1)
        name, gpu = entry or ("", OwnGpu(16, 500))
        self.setObjectName("own_gpu_dialog")
        self.setWindowTitle(tr("Add a GPU") if entry is None else tr("Change a GPU"))
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self.name = QLineEdit(name)
        self.name.setProperty("look", "field")
        self.name.setMaxLength(MOST_NAME)
        self.memory = NumberBox(LEAST, MOST_GIB, whole=False)
        self.bandwidth = NumberBox(LEAST, MOST_GB_PER_S, whole=False, step=10)
        self.tflops = NumberBox(0, MOST_TFLOPS, whole=False, words={0.0: tr("unknown")}, step=5)
        self.like = ChoiceBox()
        self.like.addItem(tr("nothing in the table"), "")
        for each in alike:
            self.like.addItem(each.name, each.id)
        self.shares = TickBox(tr("Its memory is the machine’s own"))
        self.shares.setObjectName("own_gpu_shares")
        self.memory.setValue(gpu.memory_gib)
        self.bandwidth.setValue(gpu.bandwidth)
        self.tflops.setValue(gpu.tflops or 0.0)
        self.like.setCurrentIndex(max(0, self.like.findData(gpu.like)))
        self.shares.setChecked(gpu.shares_memory)
        self.problem = label("", look="problem", name="own_gpu_problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._add("own_gpu_name", tr("Name"), self.name, "")
        self._add("own_gpu_memory", tr("Memory in GiB"), self.memory, tr("As it is sold."))
        self._add(
            "own_gpu_bandwidth", tr("Bandwidth in GB/s"), self.bandwidth, tr("Of its memory, by the data sheet.")
        )
        tensor = tr("Dense FP16 with tensor cores; without it nothing is said of the time to the first token.")
        self._add("own_gpu_tflops", tr("FP16 in TFLOPS"), self.tflops, tensor)
        self._add(
            "own_gpu_like",
            tr("Behaves like"),
            self.like,
            tr("A GPU of the same generation makes figures surer; without one they have wider bands."),
        )
        self._lay_out()
        self.name.setFocus()

    def accept(self) -> None:
        """Keep it, or say what is wrong with it."""
        for box in (self.memory, self.bandwidth, self.tflops):
            box.finish_typing()
        gpu = OwnGpu(
            self.memory.value(),
            self.bandwidth.value(),
            self.tflops.value() or None,
            str(self.like.currentData() or ""),
            self.shares.isChecked(),
        )
        problem = self._keep(self.name.text(), gpu)
        if problem is None:
            super().accept()
            return
        self.problem.setText(render(problem))
        self.problem.show()
        self.name.setFocus()
        self.name.selectAll()

    def _add(self, name: str, title: str, control: QWidget, hint: str) -> None:
        control.setObjectName(name)
        control.setAccessibleName(title)
        control.setFixedWidth(theme.scaled(CONTROL_PX))
        caption = label(title)
        caption.setBuddy(control)
        if hint:
            set_hint(control, hint)
            set_hint(caption, hint)
        row = self._grid.rowCount()
        self._grid.addWidget(caption, row, 0)
        self._grid.addWidget(control, row, 1)

    def _lay_out(self) -> None:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_M)
        column.addLayout(self._grid)
        column.addWidget(self.shares)
        column.addWidget(self.problem)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        kinds = QDialogButtonBox.StandardButton
        for kind, words, name in ((kinds.Save, self.tr("Save"), "save"), (kinds.Cancel, self.tr("Cancel"), "cancel")):
            buttons.button(kind).setText(words)
            buttons.button(kind).setObjectName(f"own_gpu_{name}")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.hold(contents, buttons)
