"""What an empty conversation shows: one sentence on what to do, and something to begin with."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.starter import Starter
from app.gui.widgets.labels import label

COLUMN_PX = 600
PROGRESS_PX = 240
PATIENCE_MS = 1_000
"""How long the chats may take to be opened before anything is said."""


class Opening(QWidget):
    """What stands in place of a conversation until it is known which one it is: nothing, and after a while why."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._text = label(
            self.tr("Opening your chats …"), look="muted", pixels=theme.READING_PX, name="opening_text"
        )
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._text.show)
        layout = QVBoxLayout(self)
        layout.addWidget(self._text)

    def showEvent(self, event: QShowEvent) -> None:
        """Say nothing at first: opening takes a moment only, and nothing should flash by."""
        super().showEvent(event)
        self._text.hide()
        self._patience.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Wait no longer."""
        super().hideEvent(event)
        self._patience.stop()


class Welcome(QWidget):
    """Starter prompts when a model is there or on its way, else a button to open one."""

    chosen = Signal(str)
    """A starter prompt was chosen."""
    open_wanted = Signal()
    """Somebody wants to open a model."""

    def __init__(self, prompts: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._title = label(pixels=theme.TITLE_PX, bold=True, name="welcome_title")
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._title.setWordWrap(True)
        self._text = label(look="muted", pixels=theme.READING_PX, name="welcome_text")
        self._text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._text.setWordWrap(True)
        self._progress = QProgressBar()
        self._progress.setObjectName("welcome_progress")
        self._progress.setAccessibleName(self.tr("Loading the model"))
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(PROGRESS_PX)
        self._open = QPushButton(self.tr("Open a model…"))
        self._open.setObjectName("open_model_button")
        self._open.setProperty("look", "primary")
        self._open.clicked.connect(self.open_wanted)
        self._starters = self._starter_grid(prompts)
        self._offer: QWidget | None = None
        """What helps to a model where there is none; it is shown and hidden by whoever gave it."""
        self._lay_out()
        self.show_model(None)

    def set_offer(self, offer: QWidget) -> None:
        """Have something stand above the button that opens a model."""
        self._offer = offer
        self._column.insertWidget(self._column.indexOf(self._open), offer)

    def show_offer(self, *, is_offered: bool) -> None:
        """Show it, or have it away; the button to open a model stands back behind it."""
        if self._offer is None or self._offer.isHidden() != is_offered:
            return
        self._offer.setVisible(is_offered)
        self._open.setProperty("look", "" if is_offered else "primary")
        self._open.style().polish(self._open)
        self.show_model(None)

    def show_model(self, name: str | None, *, small: bool = False, percent: float | None = None) -> None:
        """Show what can be done with this model, or without one; `percent` is how far its load is."""
        loading = percent is not None
        self._starters.setVisible(name is not None)
        self._open.setVisible(name is None and not loading)
        self._progress.setVisible(loading)
        self._progress.setValue(round(percent or 0))
        if loading:
            self._title.setText(self.tr("Loading {model}").format(model=name or self.tr("a model")))
            self._text.setText(self.tr("You can ask already: the answer comes as soon as the model is loaded."))
        elif name is None:
            has_offer = self._offer is not None and not self._offer.isHidden()
            self._title.setText(self.tr("Get a model to begin") if has_offer else self.tr("Open a model to begin"))
            words = self.tr(
                "You chat with a model, which is a file whose name ends in .gguf. Drop one here, or choose one."
            )
            if has_offer:
                words = self.tr(
                    "You chat with a model, which is a file whose name ends in .gguf. Download one, or drop one here."
                )
            self._text.setText(words)
        else:
            self._title.setText(self.tr("Ask {model} anything").format(model=name))
            self._text.setText(
                self.tr("A very small model, to try the program: do not rely on what it says.")
                if small
                else self.tr("Everything stays on this machine.")
            )

    def _starter_grid(self, prompts: list[str]) -> QWidget:
        starters = QWidget()
        grid = QGridLayout(starters)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(theme.SPACE_M)
        for number, prompt in enumerate(prompts):
            button = Starter(prompt)
            button.clicked.connect(lambda _checked=False, text=prompt: self.chosen.emit(text))
            grid.addWidget(button, number // 2, number % 2)
            grid.setColumnStretch(number % 2, 1)
        return starters

    def _lay_out(self) -> None:
        column = QWidget()
        column.setMaximumWidth(int(theme.reading_width()))
        inner = self._column = QVBoxLayout(column)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(theme.SPACE_S)
        inner.addWidget(self._title)
        inner.addWidget(self._text)
        inner.addSpacing(theme.SPACE_S)
        inner.addWidget(self._progress, 0, Qt.AlignmentFlag.AlignHCenter)
        inner.addSpacing(theme.SPACE_L)
        inner.addWidget(self._starters)
        inner.addWidget(self._open, 0, Qt.AlignmentFlag.AlignHCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(
            theme.SPACE_XL, theme.SPACE_M, theme.SPACE_XL, theme.SPACE_M
        )  # low windows need all
        layout.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(column, COLUMN_PX)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addStretch(3)
