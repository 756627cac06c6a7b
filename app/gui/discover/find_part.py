"""The part of the page Models in which they are found: a list on the left, and on the right what is chosen in it.

The list is what Tokenlight knows itself until somebody searches the hub.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.discover.catalogue_list import CatalogueList
from app.gui.discover.catalogue_pane import CataloguePane
from app.gui.discover.repository_pane import RepositoryPane
from app.gui.discover.search_pane import SearchPane
from app.gui.discover.token_dialog import open_token_dialog
from app.gui.icons import Icons
from app.services.program import Program

_SEARCH_PX = 340


class FindPart(QWidget):
    """Joins the lists to what shows one of them."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""
    load_wanted = Signal(str)
    """Somebody wants to chat with a model that is here: its file."""

    def __init__(self, program: Program, themes: theme.Themes, background: Background) -> None:
        super().__init__()
        self.setObjectName("discover_part")
        self._discovering, self._recommending = program.discovering, program.planner.recommending
        icons = Icons(program.resources)
        self.catalogue = CatalogueList(icons, themes)
        self.search = SearchPane(program.discovering, self.catalogue)
        self.search.setFixedWidth(theme.scaled(_SEARCH_PX))
        self.known = CataloguePane(program.downloads, icons, themes)
        self.repository = RepositoryPane(program, themes, background)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.known)
        self._stack.addWidget(self.repository)
        self.catalogue.chosen.connect(self._choose_known)
        self.catalogue.itemClicked.connect(lambda _item: self._choose_known())
        self.known.repository_wanted.connect(program.discovering.open)
        self.search.model_wanted.connect(program.discovering.open)
        self.search.token_wanted.connect(lambda: open_token_dialog(program.hub_token, self))
        for pane in (self.known, self.repository):
            pane.downloads_wanted.connect(self.downloads_wanted)
            pane.load_wanted.connect(self.load_wanted)
        self.setFocusProxy(self.search.line)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(self.search)
        row.addWidget(self._stack, 1)
        themes.changed.connect(self._show_known)
        self._disconnect = [
            self._recommending.changed.connect(self._show_known),
            self._discovering.searched.connect(self._show_side),
            self._discovering.paged.connect(self._show_side),
        ]
        self._show_known()
        self._show_side()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()
        self._recommending.rest_models(self)
        for part in (self.search, self.known, self.repository):
            part.disconnect_services()

    def showEvent(self, event: QShowEvent) -> None:
        """Have worked out what fits as long as somebody looks."""
        super().showEvent(event)
        self._recommending.want_models(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._recommending.rest_models(self)

    def _show_known(self) -> None:
        self.catalogue.show_choice(self._recommending.models)
        self.known.show_model(self.catalogue.current, self._recommending.models)

    def _choose_known(self) -> None:
        """Show one of the catalogue, also where its page on the hub was open."""
        if self._discovering.query is None and self._discovering.repository:
            self._discovering.close()
        self.known.show_model(self.catalogue.current, self._recommending.models)

    def _show_side(self) -> None:
        is_known = self._discovering.query is None and not self._discovering.repository
        self._stack.setCurrentWidget(self.known if is_known else self.repository)
