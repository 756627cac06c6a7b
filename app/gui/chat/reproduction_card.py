"""What is said under an answer that is written once more: how far it is, then what came of it.

Knows no service; says what is wanted.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.reproduction import Reproduction
from app.services.units import count


class ReproductionCard(QFrame):
    """One sentence or a few, and a button."""

    cancelled = Signal()
    """Somebody wants it to end."""
    dismissed = Signal()
    """Somebody has read it."""
    offer_taken = Signal()
    """Somebody wants what is offered."""

    def __init__(self, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self.known: Reproduction | None = None
        """What it shows."""
        self.setObjectName("reproduction_card")
        self.setProperty("look", "chip")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._text = label(name="reproduction_text", pixels=theme.SMALL_PX)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._progress = QProgressBar()
        self._progress.setObjectName("reproduction_progress")
        self._progress.setAccessibleName(self.tr("Reproduce"))
        self._progress.setTextVisible(False)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("reproduction_cancel")
        self._offer = QPushButton()
        self._offer.setObjectName("reproduction_offer")
        self._close = IconButton(icons, "close", self.tr("Dismiss"), object_name="reproduction_close")
        said = QVBoxLayout()
        said.setSpacing(theme.SPACE_XS)
        said.addWidget(self._text)
        said.addWidget(self._progress)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        row.addLayout(said, 1)
        for button in (self._offer, self._cancel, self._close):
            row.addWidget(button)
        self._cancel.clicked.connect(self.cancelled)
        self._close.clicked.connect(self.dismissed)
        self._offer.clicked.connect(self.offer_taken)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def show_reproduction(self, known: Reproduction) -> None:
        """Show how far it is, or what came of it."""
        self.known, is_open = known, known.is_open
        words = self._words_under_way(known) if is_open else " ".join(render(each) for each in known.sentences)
        self._text.setText(words)
        self.setAccessibleName(words)
        self._progress.setVisible(is_open)
        if is_open:
            self._progress.setRange(0, max(known.total, 1))
            self._progress.setValue(known.done)
        self._show_buttons(is_open=is_open, offers=known.offer is not None)
        is_model = known.offer == "load_model"
        self._offer.setText(self.tr("Load it and reproduce") if is_model else self.tr("Larger context…"))
        hint = self.tr(
            "It begins with an empty KV cache: what the cache held of this chat may have to be read again."
        )
        set_hint(self, hint if is_open else "")

    def _show_buttons(self, *, is_open: bool, offers: bool) -> None:
        """The new ones first: the keyboard goes on from one that is hidden to the next that is there."""
        seen = ((self._offer, offers), (self._cancel, is_open), (self._close, not is_open))
        for button, is_seen in sorted(seen, key=lambda each: not each[1]):
            button.setVisible(is_seen)

    def height_in(self, width: int) -> int:
        """Return the height that everything takes in a width."""
        layout = self.layout()
        if layout is None:
            return 0
        self.ensurePolished()
        layout.activate()
        return max(layout.totalHeightForWidth(width), layout.totalMinimumSize().height())

    def _words_under_way(self, known: Reproduction) -> str:
        done, total = count(known.done), count(known.total)
        match known.phase:
            case "reading":
                return self.tr("Reproduce: reading the prompt, {done} of {total} tokens").format(
                    done=done, total=total
                )
            case "comparing":
                one = self.tr("Reproduce: 1 of {total} tokens is the same")
                several = self.tr("Reproduce: {done} of {total} tokens are the same")
                return (one if known.done == 1 else several).format(done=done, total=total)
        return self.tr("Reproduce: waits for its turn")
