"""One value with a name, a slider for the usual range and a box for every allowed number, on one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.core.sampling import Bounds
from app.gui import theme
from app.gui.widgets.boxes import KEPT_DECIMALS, NumberBox, WheelSlider
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint

CAPTION_WIDTH_PX = 102
BOX_WIDTH_PX, BOX_HEIGHT_PX = 68, 28
PAGES = 10


@dataclass(frozen=True)
class Scale:
    """What a slider covers: the usual range and the step; the box takes all of `bounds`, some values as words."""

    bounds: Bounds
    low: float
    high: float
    step: float
    words: Mapping[float, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the value has no decimals."""
        return self.step >= 1

    @property
    def neutral(self) -> float | None:
        """The value that has no effect; None where each has one."""
        return next(iter(self.words), None)

    def position(self, value: float) -> int:
        """Return the slider's step that is nearest to a value."""
        return round((min(max(value, self.low), self.high) - self.low) / self.step)

    def beyond(self, value: float) -> int:
        """Return -1 for a value below the slider's range, 1 above it, 0 within."""
        return (value > self.high) - (value < self.low)


class SliderRow(QWidget):
    """Emits `moved` with the new value when somebody moves the slider or types a number."""

    moved = Signal(float)
    """Somebody wants another value: the value."""

    def __init__(
        self,
        name: str,
        title: str,
        hint: str,
        scale: Scale,
        *,
        spoken: str = "",
        caption_px: int = CAPTION_WIDTH_PX,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._scale, self._spoken = scale, spoken or title
        self.slider = WheelSlider()
        self.slider.setObjectName(f"{name}_slider")
        self.slider.setRange(0, scale.position(scale.high))
        if scale.neutral is not None:
            self.slider.fill_from(scale.position(scale.neutral))
        self.slider.setPageStep(max(self.slider.maximum() // PAGES, 1))
        self.box = NumberBox(
            scale.bounds.low, scale.bounds.high, whole=scale.whole, words=scale.words, step=scale.step
        )
        self.box.setObjectName(f"{name}_box")
        self.box.setAccessibleName(self._spoken)
        self.box.setFixedSize(theme.scaled(BOX_WIDTH_PX), theme.scaled(BOX_HEIGHT_PX))
        self._caption = caption_for(title, self.box, caption_px)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._caption)
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        self._hint = " ".join([hint, *self._beyond_words()])
        self._hint_on_hover(self._hint)
        self._speak()
        self.slider.valueChanged.connect(self._slider_moved)
        self.box.valueChanged.connect(self._box_changed)

    def set_value(self, value: float) -> None:
        """Show a value without saying that somebody moved it."""
        with QSignalBlocker(self.box), QSignalBlocker(self.slider):
            self.box.setValue(value)
            self.slider.setValue(self._scale.position(value))
        self._speak()

    def set_idle(self, reason: str) -> None:
        """Show muted, for a reason, that the value has no effect now; an empty reason ends that."""
        if bool(reason) != bool(self._caption.property("idle")):
            for widget in (self._caption, self.slider, self.box):
                widget.setProperty("idle", bool(reason))
                widget.style().polish(widget)
        self._hint_on_hover(f"{self._hint} {reason}".strip())

    def _slider_moved(self, position: int) -> None:
        value = round(self._scale.low + position * self._scale.step, KEPT_DECIMALS)
        with QSignalBlocker(self.box):
            self.box.setValue(value)
        self._speak()
        self.moved.emit(value)

    def _box_changed(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(self._scale.position(value))
        self._speak()
        self.moved.emit(value)

    def _beyond_words(self) -> list[str]:
        """Say what the box takes that the slider does not reach; it makes its end of anything beyond."""
        scale, shown, words = self._scale, self.box.textFromValue, []
        if scale.bounds.low < scale.low:
            begins = self.tr("The slider begins at {end}; down to {least} can be typed.")
            words.append(begins.format(end=shown(scale.low), least=shown(scale.bounds.low)))
        if scale.bounds.high > scale.high:
            ends = self.tr("The slider ends at {end}; up to {most} can be typed.")
            words.append(ends.format(end=shown(scale.high), most=shown(scale.bounds.high)))
        return words

    def _speak(self) -> None:
        self.slider.set_beyond(self._scale.beyond(self.box.value()))
        self.slider.setAccessibleName(f"{self._spoken}, {self.box.text()}")

    def _hint_on_hover(self, hint: str) -> None:
        for widget in (self._caption, self.slider, self.box):
            set_hint(widget, hint)


def caption_for(title: str, box: QWidget, width_px: int = CAPTION_WIDTH_PX) -> QLabel:
    """Return the caption of a box, as wide as those above and below; a longer one takes a second line."""
    caption = label(title)
    caption.setFixedWidth(theme.scaled(width_px))
    caption.setWordWrap(True)
    caption.setBuddy(box)
    return caption
