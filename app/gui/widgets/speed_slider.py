"""How fast answers are written, as a slider with its value: from a token a second to as fast as it goes.

Follows the pace of answers and changes it; knows no answer.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.boxes import WheelSlider
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.step_mode import MOST_SPEED, StepMode
from app.services.units import count

SLIDER_PX, COMPACT_PX = 96, 56
_UNLIMITED = MOST_SPEED + 1
"""The last place of the slider."""


class SpeedSlider(QWidget):
    """There wherever people can let an answer wait."""

    def __init__(self, step_mode: StepMode, *, prefix: str = "", compact: bool = False) -> None:
        """`prefix` begins the names of its parts; a compact one says its value in few letters."""
        super().__init__()
        self._step_mode = step_mode
        self._is_compact = compact
        self._slider = WheelSlider()
        self._slider.setObjectName(f"{prefix}speed_slider")
        self._slider.setRange(1, _UNLIMITED)
        self._slider.setFixedWidth(theme.scaled(COMPACT_PX if compact else SLIDER_PX))
        self._speed = label(look="muted", pixels=theme.SMALL_PX, name=f"{prefix}speed_value")
        self._speed.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        widest = 0
        for speed in (None, float(MOST_SPEED)):
            self._speed.setText(self._shown(speed))
            widest = max(widest, self._speed.sizeHint().width())
        self._speed.setMinimumWidth(widest)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS if compact else theme.SPACE_S)
        row.addWidget(self._slider)
        row.addWidget(self._speed)
        for each in (self._slider, self._speed):
            set_hint(each, self.tr("How many tokens a second are written; no figure of the answer counts the wait"))
        self._slider.valueChanged.connect(self._take)
        self._disconnect = step_mode.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Follow the pace no longer."""
        self._disconnect()

    def _take(self, place: int) -> None:
        self._step_mode.set_speed(None if place == _UNLIMITED else float(place))

    def _show(self) -> None:
        speed = self._step_mode.speed
        with QSignalBlocker(self._slider):
            self._slider.setValue(_UNLIMITED if speed is None else round(speed))
        self._speed.setText(self._shown(speed))
        self._slider.setAccessibleName(self.tr("Speed, {speed}").format(speed=self._words(speed)))

    def _shown(self, speed: float | None) -> str:
        if not self._is_compact:
            return self._words(speed)
        return self.tr("no limit") if speed is None else self.tr("{rate}/s").format(rate=count(round(speed)))

    def _words(self, speed: float | None) -> str:
        if speed is None:
            return self.tr("as fast as it goes")
        return self.tr("{rate} tok/s").format(rate=count(round(speed)))
