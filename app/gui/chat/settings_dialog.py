"""With which settings an answer was written, as a list, and to use them again.

Knows no service; says what is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat import footer
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.services.turns import Turn

WIDTH_PX = 400


class SettingsDialog(TallDialog):
    """Names on the left, values on the right."""

    use_wanted = Signal()
    """Somebody wants to go on with these settings."""

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("answer_settings")
        self.setWindowTitle(self.tr("Settings of this answer"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        contents = QWidget()
        self._column = QVBoxLayout(contents)
        self._column.setSpacing(theme.SPACE_S)
        self._column.addWidget(label(self.windowTitle(), pixels=theme.HEADING_PX, bold=True))
        self._add_list(footer.figures(turn))
        changes = turn.finished.settings if turn.finished is not None else ()
        for change in changes:
            heading = label(footer.since(change), bold=True)
            heading.setContentsMargins(0, theme.SPACE_S, 0, 0)
            self._column.addWidget(heading)
            self._add_list(footer.active_settings(change.settings))
        for note in footer.notes(turn):
            said = label(note, look="muted", pixels=theme.SMALL_PX)
            said.setWordWrap(True)
            self._column.addWidget(said)
        self._column.addStretch(1)
        self.hold(contents, self._buttons(can_use=bool(changes)))
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where it is higher than the screen, keys scroll it
        self._area.setAccessibleName(self.windowTitle())

    def _buttons(self, *, can_use: bool) -> QHBoxLayout:
        use = QPushButton(self.tr("Use these settings again"))
        use.setObjectName("answer_settings_use")
        use.setEnabled(can_use)
        use.clicked.connect(self.accept)
        use.clicked.connect(self.use_wanted)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("answer_settings_close")
        close.clicked.connect(self.reject)
        for button in (use, close):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(use)
        row.addStretch(1)
        row.addWidget(close)
        close.setFocus()
        return row

    def _add_list(self, facts: Sequence[tuple[str, str]]) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_L)
        grid.setVerticalSpacing(theme.SPACE_XS)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(facts):
            caption: QLabel = label(name, look="muted")
            shown = label(value)
            shown.setAccessibleName(f"{name}: {value}")
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(caption, row, 0)
            grid.addWidget(shown, row, 1, Qt.AlignmentFlag.AlignRight)
        self._column.addLayout(grid)
