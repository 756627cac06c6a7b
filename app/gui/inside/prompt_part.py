"""The prompt of the answer that is looked at, token by token: chips with their ids.

Others put what they know of these tokens into the row `tools` above them.
"""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gui import theme
from app.services.inspecting import Inspecting


class PromptPart(QWidget):
    """Shows the prompt of the answer that the service looks at."""

    def __init__(self, inspecting: Inspecting, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("inside_prompt")
        self.setAccessibleName(self.tr("Tokens of the prompt"))
        self._inspecting = inspecting
        self._themes = themes
        self.tools = QHBoxLayout()
        """What stands above the tokens, from left to right."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(self.tools)
        column.addStretch(1)

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
