"""One whole number with a name and a wide box, for values that no slider covers."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.labels import label
from app.gui.widgets.slider_row import Scale
from app.gui.widgets.words import set_hint

WIDE_BOX_PX = 106


class NumberRow(QWidget):
    """Emits `moved` with the new value when somebody types or steps."""

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
    ) -> None:
        super().__init__()
        self.box = NumberBox(scale.bounds.low, scale.bounds.high, whole=True, words=scale.words, step=scale.step)
        self.box.setObjectName(f"{name}_box")
        self.box.setAccessibleName(spoken or title)
        self.box.setFixedWidth(theme.scaled(WIDE_BOX_PX))
        caption = label(title)
        caption.setBuddy(self.box)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(caption)
        row.addStretch(1)
        row.addWidget(self.box)
        for widget in (caption, self.box):
            set_hint(widget, hint)
        self.box.valueChanged.connect(self.moved)

    def set_value(self, value: float) -> None:
        """Show a value without saying that somebody moved it."""
        with QSignalBlocker(self.box):
            self.box.setValue(value)
