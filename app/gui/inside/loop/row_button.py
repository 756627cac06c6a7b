"""The button that has the row of numbers of a token read from the model, where it is not there yet."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from app.gui.widgets.words import render, set_hint
from app.services.loop_values import LoopValues


class RowButton(QPushButton):
    """Knows no service: whoever shows it tells the values."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setText(self.tr("Read its numbers"))
        self.hide()

    def show_values(self, values: LoopValues | None) -> None:
        """Offer to read the row where it is not there; None where another stage is explained."""
        is_offered = values is not None and not values.embedding and not values.is_example
        can_read = values is not None and values.can_read_embedding and not values.reads_embedding
        self.setVisible(is_offered)
        self.setEnabled(can_read)
        why = render(values.embedding_why) if values is not None and values.embedding_why is not None else ""
        set_hint(self, why or self.tr("Have the row of this token read from the model; it takes a moment"))
