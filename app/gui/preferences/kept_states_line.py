"""What is kept on disk of what models have read, as one line with a button that removes it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.buttons import text_button
from app.gui.widgets.labels import label
from app.services.kept_states import KeptStates
from app.services.units import byte_size


class KeptStatesLine(QWidget):
    """Absent while nothing is kept and nothing is to be."""

    def __init__(self, states: KeptStates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._states = states
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_M)
        self._told = label(look="muted", pixels=theme.SMALL_PX, name="kept_states_use")
        self._told.setWordWrap(True)
        self._remove = text_button(self.tr("Remove"), name="remove_kept_states")
        self._remove.clicked.connect(states.clear)
        row.addWidget(self._told, 1)
        row.addWidget(self._remove)
        self.show_states()
        states.refresh()

    def show_states(self) -> None:
        """Say what there is now."""
        look = self._states.look
        files, size = (0, 0) if look is None else look
        self.setVisible(bool(files or self._states.gigabytes))
        text = self.tr("What models have read of chats takes {size} on disk.")
        self._told.setText(text.format(size=byte_size(size)))
        self._remove.setEnabled(files > 0)
        self._remove.setAccessibleName(self.tr("Remove what models have read of chats"))
