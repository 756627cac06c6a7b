"""The page Models: finding them on a hub, and fetching them.

Others find their place here: `add_part` gives the page another part, which is made when it is first shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.scrolled_pages import ScrolledPages


class ModelsPart(Protocol):
    """A widget that follows services until it is told to stop."""

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""


class ModelsPage(QWidget):
    """Shows one part at a time."""

    load_wanted = Signal(str)
    """Somebody wants to chat with a model that is here: its file."""
    options_wanted = Signal(str)
    """Somebody wants to load one with other options."""
    plan_wanted = Signal(str)
    """Somebody wants to plan with one."""
    inspect_wanted = Signal(str)
    """Somebody wants to see what one of them is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("models_page")
        self.setAccessibleName(self.tr("Models"))
        self.tabs = PageTabs(())
        self.tabs.setVisible(False)
        self._stack = ScrolledPages()
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self._made: dict[str, QWidget] = {}
        self._name = ""
        self.tabs.wanted.connect(self.show_part)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._stack, 1)

    @property
    def part(self) -> str:
        """The part that is shown; empty before the first one."""
        return self._name

    def add_part(self, name: str, words: str, hint: str, make: Callable[[], QWidget]) -> None:
        """Have another part, which is a `ModelsPart`; it is made when it is first shown."""
        self._makers[name] = make
        self.tabs.add_page(name, f"models_{name}_tab", words, hint)
        self.tabs.setVisible(len(self._makers) > 1)

    def show_part(self, name: str) -> None:
        """Show a part."""
        if name not in self._made:
            self._made[name] = self._makers[name]()
            self._stack.addWidget(self._made[name])
        self._name = name
        self._stack.setCurrentWidget(self._made[name])
        self.tabs.show_page(name)

    def take_keyboard(self) -> None:
        """Have the keyboard where people begin in the part that is shown."""
        self._made[self._name].setFocus()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for part in self._made.values():
            cast("ModelsPart", part).disconnect_services()
