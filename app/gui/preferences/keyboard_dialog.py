"""The keys that do something in the window, and what they do.

Shows what it is given: which keys there are the actions know, and the transcript.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog

WIDTH_PX = 760
_MNEMONIC = re.compile("&(.)")


class Keys(NamedTuple):
    """What is done, and the keys that do it; any of them."""

    words: str
    keys: tuple[QKeySequence, ...]

    @property
    def shown(self) -> str:
        """The keys as this system writes them."""
        return ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in self.keys)


def keys_of(action: QAction) -> Keys:
    """Return the keys of an action, with its words as they stand alone."""
    return Keys(_MNEMONIC.sub(r"\1", action.text()).rstrip("…"), tuple(action.shortcuts()))


class KeyboardDialog(TallDialog):
    """Four lists: the keys of the window, those for the message at hand, and those where people write."""

    def __init__(
        self,
        window: Sequence[Keys],
        message: Sequence[Keys],
        composer: Sequence[Keys],
        editor: Sequence[Keys],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("keyboard_dialog")
        self.setWindowTitle(self.tr("Keyboard"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        contents = QWidget()
        whole = QVBoxLayout(contents)
        whole.setSpacing(theme.SPACE_S)
        whole.addWidget(label(self.tr("Keyboard"), pixels=theme.HEADING_PX, bold=True))
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_XXL)
        hint = self.tr("“Previous message” and “Next message” put one at hand; it has a ring around it.")
        left = self._column(self.tr("In the window"), "", window)
        left.addStretch(1)
        columns.addLayout(left, 1)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_L)
        right.addLayout(self._column(self.tr("With a message at hand"), hint, message))
        right.addLayout(self._column(self.tr("While a message is written"), "", composer))
        right.addLayout(self._column(self.tr("While a text is changed"), "", editor))
        right.addStretch(1)
        columns.addLayout(right, 1)
        whole.addLayout(columns)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("keyboard_close_button")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(close)
        self.hold(contents, row)
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where it is higher than the screen, keys scroll it
        self._area.setAccessibleName(self.tr("Keys"))
        close.setFocus()

    def _column(self, title: str, hint: str, keys: Sequence[Keys]) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(title, bold=True))
        if hint:
            line = label(hint, look="muted", pixels=theme.SMALL_PX)
            line.setWordWrap(True)
            column.addWidget(line)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_L)
        grid.setVerticalSpacing(theme.SPACE_XS)
        grid.setColumnStretch(0, 1)
        for row, each in enumerate(keys):
            shown = label(each.shown, look="muted")
            shown.setAccessibleName(f"{each.words}: {each.shown}")
            grid.addWidget(label(each.words), row, 0)
            grid.addWidget(shown, row, 1, Qt.AlignmentFlag.AlignRight)
        column.addLayout(grid)
        return column
