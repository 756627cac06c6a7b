"""How far a pass over another text is, and the button that ends it, on a page that has nothing else to show."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.inside.pass_row import PassRow


class OpenPass(QWidget):
    """Is there while a pass goes on: what waits for it says that it can be cancelled here."""

    cancelled = Signal()

    def __init__(self, name: str, accessible_name: str, heir: QWidget) -> None:
        """`name` begins those of its widgets; `heir` has the keyboard once there is nothing to cancel."""
        super().__init__()
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
        self._heir = heir
        self._row = PassRow(name, accessible_name)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.said.setWordWrap(False)
        self.setLayout(self._row)
        self._row.cancel.clicked.connect(lambda _checked=False: self.cancelled.emit())
        self.show_state(None, "")

    def show_state(self, progress: tuple[int, int] | None, words: str) -> None:
        """Show how far it is and of what text, or nothing."""
        self._row.said.setText(words)
        self._row.show_state(progress, asks=False, comes=self._heir)
        self.setVisible(progress is not None)
