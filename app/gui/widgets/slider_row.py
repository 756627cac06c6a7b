"""One value with a name, a slider for the usual range and a box for every allowed number."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.sampling import Bounds
from app.gui import theme
from app.gui.widgets.boxes import NumberBox, WheelSlider
from app.gui.widgets.labels import label

BOX_WIDTH_PX = 72


@dataclass(frozen=True)
class Scale:
    """What a slider covers: the usual range and the step; the box takes all of `bounds`."""

    bounds: Bounds
    low: float
    high: float
    step: float
    decimals: int


class SliderRow(QWidget):
    """Emits `moved` with the new value when somebody moves the slider or types a number."""

    moved = Signal(float)

    def __init__(self, name: str, title: str, hint: str, scale: Scale, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scale = scale
        self.slider = WheelSlider()
        self.slider.setObjectName(f"{name}_slider")
        self.slider.setAccessibleName(title)
        self.slider.setRange(0, round((scale.high - scale.low) / scale.step))
        self.slider.setPageStep(max(self.slider.maximum() // 10, 1))
        self.box = NumberBox(scale.bounds.low, scale.bounds.high, scale.decimals)
        self.box.setObjectName(f"{name}_box")
        self.box.setAccessibleName(title)
        self.box.setSingleStep(scale.step)
        self.box.setFixedWidth(BOX_WIDTH_PX)
        caption = label(title)
        caption.setBuddy(self.box)
        for widget in (caption, self.slider, self.box):
            widget.setToolTip(hint)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(theme.SPACE_M)
        layout.setVerticalSpacing(0)
        layout.addWidget(caption, 0, 0)
        layout.addWidget(self.slider, 1, 0)
        layout.addWidget(self.box, 0, 1, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        self.slider.valueChanged.connect(self._slider_moved)
        self.box.valueChanged.connect(self._box_changed)

    def set_value(self, value: float) -> None:
        """Show a value without saying that somebody moved it."""
        with QSignalBlocker(self.box), QSignalBlocker(self.slider):
            self.box.setValue(value)
            self.slider.setValue(round((value - self._scale.low) / self._scale.step))

    def _slider_moved(self, position: int) -> None:
        value = round(self._scale.low + position * self._scale.step, self._scale.decimals)
        with QSignalBlocker(self.box):
            self.box.setValue(value)
        self.moved.emit(value)

    def _box_changed(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round((value - self._scale.low) / self._scale.step))
        self.moved.emit(value)
