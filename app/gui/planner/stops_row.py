"""A whole number with a name, a slider over a few stops and a box for every allowed number, on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.boxes import NumberBox, WheelSlider
from app.gui.widgets.slider_row import BOX_HEIGHT_PX, caption_for
from app.gui.widgets.words import set_hint

CAPTION_PX, BOX_PX = 96, 76


class StopsRow(QWidget):
    """Emits `moved` with the new number."""

    moved = Signal(int)
    """Somebody wants another number."""

    def __init__(
        self,
        name: str,
        title: str,
        hint: str,
        stops: Sequence[int],
        bounds: tuple[int, int],
        *,
        words: Mapping[float, str] | None = None,
    ) -> None:
        super().__init__()
        self._title, self._hint = title, hint
        self._stops: tuple[int, ...] = tuple(stops)
        self.slider = WheelSlider()
        self.slider.setObjectName(f"{name}_slider")
        self.slider.setProperty("look", "plain")
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setPageStep(max(1, len(self._stops) // 8))
        self.box = NumberBox(*bounds, whole=True, words=words)
        self.box.setObjectName(f"{name}_box")
        self.box.setAccessibleName(title)
        self.box.setFixedSize(theme.scaled(BOX_PX), theme.scaled(BOX_HEIGHT_PX))
        self._caption = caption_for(title, self.box, CAPTION_PX)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._caption)
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        for widget in (self._caption, self.slider, self.box):
            set_hint(widget, hint)
        self.slider.valueChanged.connect(self._take_slider)
        self.box.valueChanged.connect(self._take_box)

    def set_stops(self, stops: Sequence[int]) -> None:
        """Let the slider stop at other numbers."""
        if tuple(stops) != self._stops:
            self._stops = tuple(stops)
            with QSignalBlocker(self.slider):
                self.slider.setRange(0, len(self._stops) - 1)

    def show_value(self, value: int) -> None:
        """Show a number without saying that somebody moved it."""
        with QSignalBlocker(self.box), QSignalBlocker(self.slider):
            self.box.setValue(value)
            self.slider.setValue(self._nearest(value))
        self._speak()

    def allow(self, reason: str) -> None:
        """Let it be moved, or not for a reason, which its hint says then."""
        for widget in (self._caption, self.slider, self.box):
            widget.setEnabled(not reason)
            set_hint(widget, reason or self._hint)

    def _take_slider(self, place: int) -> None:
        with QSignalBlocker(self.box):
            self.box.setValue(self._stops[place])
        self._speak()
        self.moved.emit(self._stops[place])

    def _take_box(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(self._nearest(round(value)))
        self._speak()
        self.moved.emit(round(value))

    def _nearest(self, value: int) -> int:
        return min(range(len(self._stops)), key=lambda place: abs(self._stops[place] - value))

    def _speak(self) -> None:
        value = round(self.box.value())
        self.slider.set_beyond((value > self._stops[-1]) - (value < self._stops[0]))
        self.slider.setAccessibleName(f"{self._title}, {self.box.text()}")


def context_stops(end: int) -> list[int]:
    """Return contexts in tokens: four to each doubling, in steps of llama.cpp's 256, and at last the end."""
    stops = {256 * round(2.0**doubling * quarter / 4) for doubling in range(20) for quarter in (4, 5, 6, 7)}
    return [*sorted(stop for stop in stops if stop < end), end]
