"""The context of a load: a slider over what the model was trained for, and a box for any other number.

Says which number is wanted; knows no options.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from app.core.model import CONTEXT_STEP, DEFAULT_CONTEXT, MOST_CONTEXT
from app.gui.widgets.boxes import NumberBox, WheelSlider

LEAST_STOP = 1024
USUAL_LENGTH = 4 * DEFAULT_CONTEXT
"""Where the slider ends for a model that does not say what it was trained for."""


def stops(trained: int | None) -> list[int]:
    """Return the contexts in tokens that the slider stops at: doubling, and at last what the model was trained for."""
    end = trained or USUAL_LENGTH
    doubling = [LEAST_STOP << power for power in range(MOST_CONTEXT.bit_length())]
    return [*(stop for stop in doubling if stop < end), end]


class ContextChoice:
    """A slider and a box that show the same number of tokens; None is what the program chooses."""

    def __init__(self, box: ContextBox, slider: ContextSlider) -> None:
        self.box, self.slider = box, slider
        slider.wanted.connect(box.setValue)

    def show_value(self, context: int | None, trained: int | None) -> None:
        """Show what is chosen for a model that was trained for so many tokens."""
        self.box.end = trained
        with QSignalBlocker(self.box):
            self.box.setValue(context or 0)
        self.slider.show_value(context, trained, self.box.text())


class ContextBox(NumberBox):
    """Takes every number that is typed; the arrow keys end where the training ended."""

    def __init__(self, word: str) -> None:
        super().__init__(0, MOST_CONTEXT, whole=True, words={0: word}, step=CONTEXT_STEP)
        self.end: int | None = None
        """Tokens that the model was trained for; None is unknown."""

    def stepBy(self, steps: int) -> None:
        """Go up or down, and not up beyond the training."""
        before = self.value()
        super().stepBy(steps)
        if steps > 0 and self.end is not None and self.value() > self.end:
            self.setValue(max(before, self.end))


class ContextSlider(WheelSlider):
    """Goes from what the program chooses over a few sizes to what the model was trained for."""

    wanted = Signal(int)
    """Somebody wants another context: its tokens, 0 for what the program chooses."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._stops = [0, *stops(None)]
        self.setObjectName("context_slider")
        self.setPageStep(1)
        self.valueChanged.connect(lambda place: self.wanted.emit(self._stops[place]))

    def show_value(self, context: int | None, trained: int | None, words: str) -> None:
        """Show the stop at or below a context; `words` are what the box says."""
        self._stops = [0, *stops(trained)]
        below = [place for place, stop in enumerate(self._stops) if 0 < stop <= (context or 0)]
        with QSignalBlocker(self):
            self.setRange(0, len(self._stops) - 1)
            self.setValue(max(below, default=1) if context else 0)
        self.setAccessibleName(f"{self._title}, {words}")
