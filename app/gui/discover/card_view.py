"""A model's card as it is read: the Markdown of its authors without pictures and HTML; a link opens on a click alone."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.core.card_text import is_web_address
from app.gui import theme
from app.gui.chat.text_alone import Background, TextAlone
from app.services.turns import Turn


class CardView(TextAlone):
    """Shows a text as an answer in the chat is shown."""

    def __init__(self, themes: theme.Themes, background: Background) -> None:
        super().__init__(themes, background, theme.SPACE_S)
        self._text = ""
        self._number = 0
        self.setObjectName("discover_card")
        self.setAccessibleName(self.tr("What its authors write"))
        self.link_clicked.connect(_open)

    def show_card(self, text: str) -> None:
        """Show another card; the one that is there keeps its place."""
        if text != self._text:
            self._text = text
            self._number += 1
            self.show_text(Turn(self._number, "assistant", text))


def _open(address: str) -> None:
    """Open a web page where people open theirs."""
    if is_web_address(address):
        QDesktopServices.openUrl(QUrl(address))
