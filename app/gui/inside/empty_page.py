"""What a part of the page Inside shows where it has nothing to show: a sentence in the middle, and the way on below it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui import theme


def lay_out_empty(page: QWidget, words: QLabel, button: QPushButton, below: QWidget | None = None) -> None:
    """Lay the sentence and the button out, in all parts alike."""
    words.setAlignment(Qt.AlignmentFlag.AlignCenter)
    words.setWordWrap(True)
    column = QVBoxLayout(page)
    column.setSpacing(theme.SPACE_M)
    column.addStretch(1)
    column.addWidget(words)
    column.addWidget(button, 0, Qt.AlignmentFlag.AlignCenter)
    if below is not None:
        column.addWidget(below, 0, Qt.AlignmentFlag.AlignCenter)
    column.addStretch(1)
