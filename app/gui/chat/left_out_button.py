"""Beside the count of the next send: how many of the oldest messages it goes without, and which.

Knows no service; says which of them somebody wants to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu

from app.gui import theme
from app.gui.chat import footer
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.words import set_hint
from app.services.turns import Turn
from app.services.units import count

ICON_PX = 16
MOST_SHOWN = 10
"""Of the messages that are left out, those next to the ones that are sent."""
PREVIEW_CHARACTERS = 48
_READ_CHARACTERS = 400


class LeftOut(NamedTuple):
    """One message that is left out: its turn's number, and who says what in a few words."""

    number: int
    words: str

    @classmethod
    def of(cls, turn: Turn) -> LeftOut:
        """Return a message with its first words."""
        said = " ".join(turn.words[:_READ_CHARACTERS].split())
        cut = said[:PREVIEW_CHARACTERS].rpartition(" ")[0] or said[:PREVIEW_CHARACTERS]
        return cls(turn.number, f"{footer.who(turn)}: {said if len(said) <= PREVIEW_CHARACTERS else cut + '…'}")


class LeftOutButton(IconButton):
    """Says how many; shows which on hover, and in a menu when it is pressed."""

    wanted = Signal(int)
    """Somebody wants to see a message (its turn's number)."""

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons, "up", "", object_name="left_out_button", look="quiet")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setFont(theme.font(theme.SMALL_PX))
        self.setAccessibleName(self.tr("Messages that are left out"))
        self._words = ""
        self._messages: tuple[LeftOut, ...] = ()
        self._older = 0
        self.clicked.connect(self._open)
        self.hide()

    def show_messages(self, words: str, turns: Sequence[Turn]) -> None:
        """Say that messages are left out, and keep which, oldest first; with no words there are none."""
        shown = tuple(map(LeftOut.of, turns[-MOST_SHOWN:]))
        older = len(turns) - len(shown)
        if (words, shown, older) == (self._words, self._messages, self._older):
            return
        self._words, self._messages, self._older = words, shown, older
        self.setText(words)
        self.setAccessibleName(words)
        set_hint(self, "\n".join([*self._before(), *(each.words for each in shown)]))
        self.setVisible(bool(words))

    def _before(self) -> list[str]:
        """Return what stands for the messages before those that are shown."""
        return [self.tr("{count} older ones").format(count=count(self._older))] if self._older else []

    def _open(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("left_out_menu")
        menu.setAccessibleName(self._words)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for words in self._before():
            menu.addAction(words).setEnabled(False)
        for each in self._messages:
            action = menu.addAction(each.words.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, number=each.number: self.wanted.emit(number))
        menu.popup(self.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
