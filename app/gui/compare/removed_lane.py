"""Says which lane of a set-up was removed last, with a button that brings it back.

Knows no draft; the place that it takes is there without it, so that nothing moves.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.gui import theme
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import set_hint


class RemovedLane(QWidget):
    """Words and a button at the end of a row; empty where nothing was removed."""

    wanted = Signal()
    """Somebody wants the lane back."""

    def __init__(self) -> None:
        super().__init__()
        self._words = FixedText(right=True, name="removed_lane_text")
        self._restore = QPushButton(self.tr("Undo"))
        self._restore.setObjectName("restore_lane_button")
        self._restore.setAccessibleName(self.tr("Bring back the lane that was removed"))
        set_hint(self._restore, self.tr("Bring this lane back with its settings"))
        self._restore.clicked.connect(self.wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._words, 1)
        row.addWidget(self._restore)
        self.show_lane("")

    def show_lane(self, name: str) -> None:
        """Offer to bring back the lane of this name; nothing where it is empty."""
        words = self.tr("Removed: {lane}").format(lane=name) if name else ""
        self._words.set_text(words)
        set_hint(self._words, words)
        self._restore.setVisible(bool(name))
