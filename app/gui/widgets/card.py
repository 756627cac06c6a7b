"""A titled section of the side panel."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label


class Card(QFrame):
    """A frame with a heading and room below it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName(title)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_L)
        self.body.setSpacing(theme.SPACE_M)
        self.body.addWidget(label(title.upper(), look="section", pixels=theme.SMALL_PX - 1, bold=True))
