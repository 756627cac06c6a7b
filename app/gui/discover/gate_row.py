"""What a gated model asks for, and what to do: accept the terms on its page, and give an access token of that account."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app.gui import theme
from app.gui.discover.token_dialog import open_token_dialog
from app.gui.widgets.labels import label
from app.services.hub_token import HubTokenKeeping


class GateRow(QFrame):
    """Stands over the page of a model that is given to those who accept its terms."""

    kept = Signal()
    """An access token was given: what was refused may be given now."""

    def __init__(self, keeping: HubTokenKeeping) -> None:
        super().__init__()
        self._keeping = keeping
        self._address = ""
        self.setObjectName("discover_gate")
        self.setProperty("look", "hint")
        said = self.tr(
            "This model is given to those who accept its terms: accept them on its web page with your account, then"
            " give an access token of that account. Where its authors answer by hand, that takes a while."
        )
        self.words = label(said, pixels=theme.SMALL_PX, name="discover_gate_words")
        self.words.setWordWrap(True)
        self.words.setMinimumWidth(1)
        self.terms = QPushButton(self.tr("Read and accept the terms"))
        self.terms.setObjectName("discover_terms_button")
        self.terms.setAccessibleName(self.tr("Read and accept the terms on the model's web page"))
        self.token = QPushButton(self.tr("Access token…"))
        self.token.setObjectName("discover_token_button")
        self.token.setAccessibleName(self.tr("Give or forget an access token"))
        self.terms.clicked.connect(lambda _checked=False: self._open())
        self.token.clicked.connect(lambda _checked=False: self.open_token())
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.terms)
        row.addWidget(self.token)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.words)
        column.addLayout(row)
        self._disconnect = keeping.kept.connect(self.kept.emit)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def show_model(self, address: str, *, is_gated: bool) -> None:
        """Show what a model asks for, or nothing; `address` is that of its web page."""
        self._address = address
        self.setVisible(is_gated)

    def open_token(self) -> None:
        """Open what an access token is given in."""
        open_token_dialog(self._keeping, self)

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._address))
