"""The settings under which an answer is replayed: all that shape a draw, five always there and the rest under “More”.

Knows no answer; says what somebody wants.
"""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.sampling.controls import main_controls
from app.gui.sampling.fold_button import FoldButton
from app.gui.sampling.idle import show_idle
from app.gui.sampling.more import MoreSettings
from app.gui.widgets.slider_row import SliderRow

PREFIX = "what_if_"
UNFOLDED_PX = 256
"""So much of what is unfolded is seen where there is room to be made for it."""
REVEALED_PX = 110
"""So much of what is unfolded comes into view at once."""


class WhatIfSettings(QScrollArea):
    """As high as the rows that are always there and some of what is unfolded; the rest scrolls unless there is room."""

    changed = Signal(object)
    """Somebody wants other `SamplingSettings`."""
    grown = Signal()
    """More of them is shown, and that is higher now."""

    def __init__(self, *, grows: bool) -> None:
        """`grows` makes room for what is unfolded; without that it scrolls."""
        super().__init__()
        self._grows = grows
        self._is_growing = False
        """Whether it is about to be higher."""
        self._values = SamplingSettings()
        self._reveals = False
        """Whether the first of what was unfolded is to come into view."""
        self._rows = {
            control.name: SliderRow(f"{PREFIX}{control.name}", control.title, control.hint, control.scale)
            for control in main_controls()
        }
        self._fold = FoldButton("what_if_more_button")
        self._more = MoreSettings(prefix=PREFIX)
        self._more.setObjectName("what_if_more")
        self.setObjectName("what_if_settings")
        self.setAccessibleName(self.tr("Settings to replay with"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._lay_out()
        self._more.hide()
        self._fold.toggled.connect(self._show_more)
        self.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._reveal())
        self._more.changed.connect(self._change)
        for name, row in self._rows.items():
            row.moved.connect(lambda value, name=name: self._change(name, value))
        self.show_values(self._values)

    def show_values(self, values: SamplingSettings) -> None:
        """Show settings without saying that somebody moved them."""
        self._values = values
        for name, row in self._rows.items():
            row.set_value(getattr(values, name))
        show_idle(self._rows, values)
        self._more.show_values(values)
        in_use = self._more.in_use(values)
        words = self.tr("More · {count} changed").format(count=in_use) if in_use else self.tr("More")
        self._fold.set_words(words, self.tr("Typical-p, the other penalties, DRY and XTC"))

    def take_focus(self) -> None:
        """Let the keyboard begin with the first slider."""
        next(iter(self._rows.values())).slider.setFocus()

    def set_usable(self, usable: bool) -> None:
        """Let people move the settings, or not."""
        for widget in (*self._rows.values(), self._more):
            widget.setEnabled(usable)

    def sizeHint(self) -> QSize:
        """Ask for the rows that are always there, and for what is unfolded where room is made for it."""
        inside = self.widget()
        return QSize(inside.sizeHint().width(), self._least) if inside is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Never be lower than these rows."""
        return QSize(0, self._least)

    @property
    def _least(self) -> int:
        shown = (*self._rows.values(), self._fold)
        always = sum(each.sizeHint().height() for each in shown) + theme.SPACE_XS * (len(shown) - 1)
        if not self._grows or not self._fold.isChecked():
            return always
        return always + min(self._more.sizeHint().height() + theme.SPACE_XS, theme.scaled(UNFOLDED_PX))

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, theme.SPACE_S, 0)
        column.setSpacing(theme.SPACE_XS)
        for row in self._rows.values():
            column.addWidget(row)
        column.addWidget(self._fold)
        column.addWidget(self._more)
        column.addStretch(1)
        self.setWidget(inside)

    def _show_more(self, shown: bool) -> None:
        self._reveals = shown
        self._more.setVisible(shown)
        self.updateGeometry()
        self._is_growing = shown and self._grows

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell that there is room for what was unfolded now."""
        super().resizeEvent(event)
        if self._is_growing and self.height() >= self._least:
            self._is_growing = False
            self.grown.emit()

    def _reveal(self) -> None:
        if self._reveals:
            self._reveals = False
            self.ensureVisible(0, self._fold.geometry().bottom() + theme.scaled(REVEALED_PX), 0, 0)

    def _change(self, name: str, value: object) -> None:
        self._values = msgspec.structs.replace(self._values, **{name: value}).validated()
        self.show_values(self._values)
        self.changed.emit(self._values)
