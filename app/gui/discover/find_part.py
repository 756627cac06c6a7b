"""The part of the page Models in which they are found: what was searched for on the left, a model's page on the right."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.discover.repository_pane import RepositoryPane
from app.gui.discover.search_pane import SearchPane
from app.services.program import Program

_SEARCH_PX = 340


class FindPart(QWidget):
    """Joins the two; what is chosen among what was found is opened beside it."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""

    def __init__(self, program: Program, themes: theme.Themes, background: Background) -> None:
        super().__init__()
        self.setObjectName("discover_part")
        self.search = SearchPane(program.discovering)
        self.search.setFixedWidth(theme.scaled(_SEARCH_PX))
        self.repository = RepositoryPane(program, themes, background)
        self.search.model_wanted.connect(program.discovering.open)
        self.repository.downloads_wanted.connect(self.downloads_wanted)
        self.setFocusProxy(self.search.line)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(self.search)
        row.addWidget(self.repository, 1)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self.search.disconnect_services()
        self.repository.disconnect_services()
