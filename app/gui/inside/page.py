"""The page Inside: one answer as its tokens, what is known of the token that is looked at, and what is built on that.

Others find their places here. `lower_part` is below the tokens, for the laboratory of samplers. `prompt_part.tools` is the
row over the tokens of the prompt. Which answer and which token is looked at, and what is known of both, the service
tells (`inspecting`); `token_changed` says the same in Qt.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.prompt_part import PromptPart
from app.gui.widgets.page_tabs import PageTabs
from app.services.inspecting import Inspecting

_LEAST_WIDTH_PX = 720


class InsidePage(QScrollArea):
    """Shows what the service looks at; scrolls where the window is smaller than it."""

    token_changed = Signal(object)
    """Another token is looked at: its index in the answer, or None."""

    def __init__(self, inspecting: Inspecting, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("inside_page")
        self.setAccessibleName(self.tr("Inside the answer"))
        self.inspecting = inspecting
        self._themes = themes
        self._icons = icons
        self.prompt_part = PromptPart(inspecting, themes)
        self.answer_part = QWidget()
        self.lower_part = QVBoxLayout()
        """What stands below the tokens."""
        self._parts = QStackedWidget()
        self._parts.addWidget(self.answer_part)
        self._parts.addWidget(self.prompt_part)
        self._tabs = PageTabs(
            (
                ("answer", "inside_answer_tab", self.tr("Answer"), self.tr("The tokens that the model wrote")),
                ("prompt", "inside_prompt_tab", self.tr("Prompt"), self.tr("The tokens that the model was given")),
            )
        )
        self._tabs.wanted.connect(self.show_part)
        self._fill()
        self.show_part("answer")
        self._disconnect = [inspecting.token_changed.connect(self.token_changed.emit)]

    @property
    def part(self) -> str:
        """Whether the tokens of the answer are shown, or those of the prompt: “answer” or “prompt”."""
        return "answer" if self._parts.currentWidget() is self.answer_part else "prompt"

    def show_part(self, name: str) -> None:
        """Show the tokens of the answer, or those of the prompt."""
        self._parts.setCurrentWidget(self.answer_part if name == "answer" else self.prompt_part)
        self._tabs.show_page(name)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self.prompt_part.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def _fill(self) -> None:
        contents = QWidget()
        contents.setMinimumWidth(_LEAST_WIDTH_PX)
        column = QVBoxLayout(contents)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_M)
        head = QHBoxLayout()
        head.addWidget(self._tabs)
        head.addStretch(1)
        column.addLayout(head)
        column.addWidget(self._parts, 1)
        column.addLayout(self.lower_part)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(contents)
