"""The page Planner: whether a model fits and how fast it would be.

Others find their place here: `add_part` gives the page another part, which is made when it is first shown; with more than
one there is a row of tabs.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.planner.part import PlannerPart
from app.gui.widgets.page_tabs import PageTabs

_LEAST_WIDTH_PX = 400


class _Parts(QWidget):
    """The parts, one at a time, each as high as it is; a stack would be as high as the highest of them."""

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._shown: QWidget | None = None

    def show_part(self, part: QWidget) -> None:
        """Show a part in the place of the one that was shown."""
        if part is self._shown:
            return
        if self._shown is not None:
            self._shown.hide()
        self._shown = part
        if self._column.indexOf(part) < 0:
            self._column.addWidget(part)
        part.show()


class PlannerPage(QScrollArea):
    """Shows one part of the planner; scrolls where the window is lower than it."""

    file_wanted = Signal()
    """Somebody wants to choose a model file."""
    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that a diagnosis offers, a `Remedy`."""
    hub_page_wanted = Signal(str)
    """Somebody wants to see the page of a repository of the hub: its name."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("planner_page")
        self.setAccessibleName(self.tr("Planner"))
        self.tabs = PageTabs(())
        self.tabs.setVisible(False)
        self._parts = _Parts()
        self._made: dict[str, PlannerPart] = {}
        self._makers: dict[str, Callable[[], PlannerPart]] = {}
        self._name = ""
        self.tabs.wanted.connect(self.show_part)
        self._fill()

    @property
    def part(self) -> str:
        """The part that is shown; empty before the first one."""
        return self._name

    def add_part(self, name: str, make: Callable[[], PlannerPart]) -> None:
        """Have another part, “plan” or “compare”; it is made when it is first shown."""
        self._makers[name] = make
        self.tabs.add_page(name, f"planner_{name}_tab", *self._words()[name])
        self.tabs.setVisible(len(self._makers) > 1)

    def show_part(self, name: str) -> None:
        """Show a part."""
        if name not in self._made:
            part = self._made[name] = self._makers[name]()
            part.file_wanted.connect(self.file_wanted)
            part.chat_wanted.connect(self.chat_wanted)
            part.remedy_wanted.connect(self.remedy_wanted)
            part.hub_page_wanted.connect(self.hub_page_wanted)
            part.part_wanted.connect(self.show_part)
        self._name = name
        self._parts.show_part(self._made[name])
        self.tabs.show_page(name)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for part in self._made.values():
            part.disconnect_services()

    def _words(self) -> dict[str, tuple[str, str]]:
        """Return what each part is called, and what is said of it."""
        return {
            "plan": (self.tr("One model"), self.tr("Whether it fits, what it takes, and how fast it would be")),
            "compare": (
                self.tr("Compare GPUs and models"),
                self.tr("Models beside GPUs, and which of them meet what you need"),
            ),
        }

    def _fill(self) -> None:
        contents = QWidget()
        contents.setMinimumWidth(theme.scaled(_LEAST_WIDTH_PX))
        column = QVBoxLayout(contents)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._parts, 1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(contents)
