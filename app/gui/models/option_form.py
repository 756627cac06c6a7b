"""A form of load options: names on the left, controls of one width on the right; knows no option."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox, NumberBox
from app.gui.widgets.labels import label
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import set_hint

CONTROL_PX = 180


class OptionForm(QWidget):
    """Names on the left, controls of one width on the right."""

    def __init__(self) -> None:
        super().__init__()
        self._captions: dict[QWidget, QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._grid.setColumnStretch(0, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def number(self, name: str, title: str, low: int, high: int, word: str = "") -> NumberBox:
        """Add a number whose lowest value shows as a word."""
        box = NumberBox(low, high, whole=True, words={low: word} if word else None)
        self.add(name, title, box)
        return box

    def choice(self, name: str, title: str, items: list[str], hint: str) -> ChoiceBox:
        """Add a choice of a few words."""
        box = ChoiceBox()
        box.addItems(items)
        set_hint(box, hint)
        self.add(name, title, box)
        return box

    def allow(self, control: QWidget, hint: str, reason: str) -> None:
        """Let a control be used, or not for a reason, which its hint says then."""
        caption = self._captions.get(control, control)
        for part in (caption, control):
            part.setEnabled(not reason)
            set_hint(part, reason or hint)

    def check(self, name: str, title: str) -> QCheckBox:
        """Add what is on or off."""
        box = TickBox(title)
        box.setObjectName(name)
        self._grid.addWidget(box, self._grid.rowCount(), 0, 1, 2)
        return box

    def add(self, name: str, title: str, control: QWidget, *, beside: QWidget | None = None) -> None:
        """Add a control under its name, with something more between the two."""
        control.setObjectName(name)
        control.setAccessibleName(title)
        control.setFixedSize(CONTROL_PX, control.sizeHint().height())
        caption: QLabel = label(title)
        caption.setBuddy(control)
        self._captions[control] = caption
        row = self._grid.rowCount()
        left = QHBoxLayout()
        left.setSpacing(theme.SPACE_L)
        left.addWidget(caption)
        if beside is not None:
            left.addWidget(beside, 1)
        self._grid.addLayout(left, row, 0)
        self._grid.addWidget(control, row, 1)
