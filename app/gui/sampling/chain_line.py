"""The line that says in which order the stages run where that is not the usual one, and the button that sets it back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.stage_words import chain_remark
from app.gui.widgets.words import set_hint


class ChainLine(QWidget):
    """Hidden while all stages run in their usual order."""

    reset_clicked = Signal()
    """Somebody wants the usual order again, with all stages."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chain_line")
        self._words = label(look="muted", pixels=theme.SMALL_PX, name="chain_words")
        self._words.setWordWrap(True)
        self._reset = QToolButton()
        self._reset.setObjectName("reset_chain_button")
        self._reset.setProperty("look", "outlined")
        self._reset.setText(self.tr("Usual order"))
        hint = self.tr("Let all stages run, in the order in which they usually do; their values stay")
        set_hint(self._reset, hint)
        self._reset.setAccessibleName(self.tr("Usual order of the stages"))
        self._reset.clicked.connect(self.reset_clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self._words)
        column.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignRight)
        self.hide()

    def show_values(self, values: SamplingSettings) -> None:
        """Say the chain of these settings."""
        words = chain_remark(values)
        self._words.setText(words)
        self._words.setAccessibleName(words)
        self.setVisible(bool(words))
