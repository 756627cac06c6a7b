"""How a model that is planned and not on this machine comes here: a command to copy."""

from __future__ import annotations

import shlex

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.labels import label

COMMAND = "python -m app models download"


class DownloadWords(QWidget):
    """Says the command; shown for models of a hub alone."""

    def __init__(self) -> None:
        super().__init__()
        self.words = label(self.tr("It is not on this machine. To download it, type:"), name="plan_download_words")
        self.command = label(name="plan_download_command")
        self.copy = QPushButton(self.tr("Copy the command"))
        self.copy.setObjectName("plan_download_copy")
        self.copy.setProperty("look", "quiet")
        self.copy.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.copy.clicked.connect(lambda _checked=False: QGuiApplication.clipboard().setText(self.command.text()))
        flags = Qt.TextInteractionFlag
        self.command.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.command.setAccessibleName(self.tr("Command that downloads the model"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        for text in (self.words, self.command):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
            column.addWidget(text)
        column.addWidget(self.copy)
        self.setVisible(False)

    def show_model(self, name: str) -> None:
        """Say how this model is downloaded; nothing where the name is empty."""
        self.setVisible(bool(name))
        if name:
            self.command.setText(f"{COMMAND} {shlex.quote(name)}")
