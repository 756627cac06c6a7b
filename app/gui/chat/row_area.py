"""Rows of one height under one another that scroll where there are more than are seen at once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.gui import theme


class RowArea(QScrollArea):
    """Takes no keyboard itself; shows as much of `column` as it is told."""

    keyboard_left = Signal()
    """The row that had the keyboard is gone: who holds the rows says where it goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        self.column = QVBoxLayout(inside)
        """What the rows stand in."""
        self.column.setContentsMargins(0, 0, 0, theme.SPACE_XS)
        self.column.setSpacing(theme.SPACE_XS)
        self.setWidget(inside)

    def fit(self, rows: int, row_px: int) -> None:
        """Be as high as so many rows, and not there where there is none."""
        self.setVisible(rows > 0)
        self.setFixedHeight(rows * (row_px + theme.SPACE_XS) if rows else theme.SPACE_XS)

    def drop(self, row: QWidget) -> None:
        """Take a row away for good."""
        focus: QWidget | None = self.window().focusWidget()
        had_keyboard = focus is not None and row.isAncestorOf(focus)
        self.column.removeWidget(row)
        if had_keyboard:  # before it hides, as Qt would give the keyboard to whatever comes next in the window
            self.keyboard_left.emit()
        row.hide()
        row.deleteLater()
