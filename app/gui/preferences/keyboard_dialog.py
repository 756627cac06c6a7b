"""The keys that do something in the window, and what they do.

Shows what it is given: which keys there are the actions know, and the transcript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
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


class KeysOf(Enum):
    """Where keys hold, in the order in which they are listed."""

    WINDOW = auto()
    COMPARISON = auto()
    MESSAGE = auto()
    COMPOSER = auto()
    EDITOR = auto()
    QUEUE = auto()
    CHATS = auto()
    SECTION = auto()
    CANDIDATE = auto()
    TOKEN = auto()
    STAGE = auto()


_LEFT = (KeysOf.WINDOW, KeysOf.COMPARISON, KeysOf.TOKEN)
"""They are about half of the lines."""


class KeyboardDialog(TallDialog):
    """A list for each place where keys hold, in two columns."""

    def __init__(self, known: Mapping[KeysOf, Sequence[Keys]], parent: QWidget | None = None) -> None:
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
        for is_left in (True, False):
            column = QVBoxLayout()
            column.setSpacing(theme.SPACE_L)
            for place in known:
                if (place in _LEFT) == is_left:
                    column.addLayout(self._column(self._title(place), self._hint(place), known[place]))
            column.addStretch(1)
            columns.addLayout(column, 1)
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

    def _title(self, place: KeysOf) -> str:
        return {
            KeysOf.WINDOW: self.tr("In the window"),
            KeysOf.COMPARISON: self.tr("In a comparison"),
            KeysOf.MESSAGE: self.tr("With a message at hand"),
            KeysOf.COMPOSER: self.tr("While a message is written"),
            KeysOf.EDITOR: self.tr("While a text is changed"),
            KeysOf.QUEUE: self.tr("On a question that waits"),
            KeysOf.CHATS: self.tr("In the list of chats"),
            KeysOf.SECTION: self.tr("On a heading of the side panel"),
            KeysOf.CANDIDATE: self.tr("On a candidate for the next token"),
            KeysOf.TOKEN: self.tr("Inside, on a token of an answer"),
            KeysOf.STAGE: self.tr("Inside, on a stage of the sampler"),
        }[place]

    def _hint(self, place: KeysOf) -> str:
        hint = self.tr("“Previous message” and “Next message” put one at hand; it has a ring around it.")
        return hint if place is KeysOf.MESSAGE else ""

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
