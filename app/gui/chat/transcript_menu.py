"""The menu of the transcript: what can be done with what lies under the mouse, and with what is selected."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.chat.spots import Spotted
from app.gui.chat.transcript_keys import COPY_PLAIN

translate = QCoreApplication.translate
Does = Callable[[], None]


class TranscriptMenu(QMenu):
    """One menu, which goes when it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("transcript_menu")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def add_spot(self, spotted: Spotted, use: Does, copy_link: Does) -> None:
        """Offer what can be done with a link, a block of code or a folded message."""
        kind = spotted.spot.kind
        if kind == "link":
            self._add(translate("Transcript", "Open link"), use)
            self._add(translate("Transcript", "Copy link"), copy_link)
        elif kind == "file":
            self._add(translate("Transcript", "Read the file"), use)
        elif kind != "scroll":
            words = spotted.spot.value if kind in ("fold", "think") else translate("Transcript", "Copy code")
            self._add(words, use)
        if not self.isEmpty():
            self.addSeparator()

    def add_copying(self, copy: Does, copy_plain: Does, select_all: Does, *, can_copy: bool) -> None:
        """Offer to copy what is selected, as Markdown or as it is shown, and to select everything."""
        # Where nothing is selected the same keys copy the message.
        copies, copies_plain = (QKeySequence(QKeySequence.StandardKey.Copy), COPY_PLAIN) if can_copy else (None, None)
        self._add(translate("Transcript", "Copy"), copy, copies, can_use=can_copy)
        self._add(translate("Transcript", "Copy as plain text"), copy_plain, copies_plain, can_use=can_copy)
        self._add(translate("Transcript", "Select all"), select_all, QKeySequence(QKeySequence.StandardKey.SelectAll))

    def _add(self, words: str, does: Does, keys: QKeySequence | None = None, *, can_use: bool = True) -> None:
        action = self.addAction(words.replace("&", "&&"))
        action.setEnabled(can_use)
        action.triggered.connect(lambda _checked=False: does())
        if keys is not None:
            # Only shown: the transcript listens to the keys itself, and a second listener would silence both.
            action.setShortcut(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
