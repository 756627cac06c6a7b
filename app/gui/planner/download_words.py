"""How a model that is planned and not on this machine comes here: by its page among the models."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint


class DownloadWords(QWidget):
    """Says that it is not here, and leads to where it is downloaded; shown for models of a hub alone."""

    wanted = Signal(str)
    """Somebody wants to see the page of a repository: its name."""

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self.words = label(self.tr("This model is not on this machine."), look="muted", name="plan_download_words")
        self.button = QPushButton(self.tr("See its page to download it"))
        self.button.setObjectName("plan_download_button")
        self.button.setAccessibleName(self.button.text())
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        set_hint(self.button, self.tr("Opens the model on the page Models, with all its quantisations"))
        self.button.clicked.connect(lambda _checked=False: self.wanted.emit(self._name.partition(":")[0]))
        self.words.setWordWrap(True)
        self.words.setMinimumWidth(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.words)
        column.addWidget(self.button)
        self.setVisible(False)

    def show_model(self, name: str) -> None:
        """Say so of a model, `org/repo` or `org/repo:file`; nothing where the name is empty."""
        self._name = name
        self.setVisible(bool(name))
