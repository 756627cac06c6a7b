"""The downloads: how far each is, how fast and how long still, what can be done about it, and how many run at once."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.core.download import DownloadAction
from app.gui import theme
from app.gui.dialogs import Dialogs
from app.gui.discover.download_card import DownloadCard
from app.gui.discover.token_dialog import open_token_dialog
from app.gui.discover.words import shown
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import isolated, set_hint
from app.services.downloads import Downloads
from app.services.hub_token import HubTokenKeeping
from app.services.units import byte_size
from app.system.settings_file import LEAST_AT_ONCE, MOST_AT_ONCE

_BOX_PX = 56
ASK_ABOVE = 50 << 20
"""Bytes that are here: less is fetched again in a moment."""


class DownloadsPart(QWidget):
    """A card each, in the order in which they were wanted; a card stays the same while its download goes on."""

    page_wanted = Signal(str)
    """Somebody wants to see a repository on the hub: its name."""
    load_wanted = Signal(str)
    """Somebody wants to chat with a model that is here: its file."""

    def __init__(self, downloads: Downloads, keeping: HubTokenKeeping) -> None:
        super().__init__()
        self.setObjectName("downloads_part")
        self._downloads = downloads
        self._keeping = keeping
        self._cards: dict[str, DownloadCard] = {}
        self.nothing = label(
            self.tr("Nothing is on its way: find a model, and download it from its page."),
            look="muted",
            name="downloads_nothing",
        )
        self.nothing.setWordWrap(True)
        self.nothing.setMinimumWidth(1)
        self.at_once = NumberBox(LEAST_AT_ONCE, MOST_AT_ONCE, whole=True)
        self.at_once.setObjectName("downloads_at_once")
        self.at_once.setAccessibleName(self.tr("Downloads at once"))
        self.at_once.setFixedWidth(theme.scaled(_BOX_PX))
        set_hint(self.at_once, self.tr("So many run at the same time; the others wait for their turn"))
        with QSignalBlocker(self.at_once):
            self.at_once.setValue(downloads.at_once)
        self.still = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="downloads_still"))
        self.at_once.valueChanged.connect(lambda value: self._set_at_once(int(value)))
        self.setFocusProxy(self.at_once)
        self._lay_out()
        self._disconnect = downloads.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def _show(self) -> None:
        rows = {row.key: row for row in self._downloads.rows}
        for key in [key for key in self._cards if key not in rows]:
            self._take_away(key)
        for key, row in rows.items():
            if key not in self._cards:
                card = self._cards[key] = DownloadCard(row)
                card.wanted.connect(self._act)
                card.load_wanted.connect(self.load_wanted)
                card.token_wanted.connect(lambda: open_token_dialog(self._keeping, self))
                card.page_wanted.connect(self.page_wanted)
                self._column.insertWidget(len(self._cards) - 1, card)
                card.show()  # at once: the keyboard may have to go to it
            self._cards[key].show_row(row)
        for place, key in enumerate(rows):
            if self._column.indexOf(self._cards[key]) != place:
                self._column.removeWidget(self._cards[key])
                self._column.insertWidget(place, self._cards[key])
        running = sum(row.state in ("running", "checking") for row in rows.values())
        self.still.setVisible(running > self._downloads.at_once)
        self.still.setText(self.tr("{count} still run: those are not stopped.").format(count=running))
        self.nothing.setVisible(not rows)

    def _set_at_once(self, count: int) -> None:
        self._downloads.set_at_once(count)
        self._show()

    def _act(self, key: str, action: DownloadAction) -> None:
        """Do what a card's button says; ask before more is deleted than is quickly fetched again."""
        row = self._downloads.row(key)
        if action != "cancel" or row is None or row.done < ASK_ABOVE:
            self._downloads.act(key, action)
            return
        question = self.tr("Cancel the download of {name}? {size} of it are here, and are deleted.")

        def decide(goes: bool) -> None:
            if goes:
                self._downloads.act(key, action)

        words = question.format(name=isolated(shown(row.wanted.name)), size=byte_size(row.done))
        Dialogs(self.window()).ask_to_delete(words, decide)

    def _take_away(self, key: str) -> None:
        """Remove a card; the keyboard goes to the one that takes its place."""
        card = self._cards.pop(key)
        focus: QWidget | None = self.focusWidget()
        had_keyboard = focus is not None and card.isAncestorOf(focus) and focus.hasFocus()
        place = self._column.indexOf(card)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
        if had_keyboard:
            item = self._column.itemAt(min(place, len(self._cards) - 1)) if self._cards else None
            beside = item.widget() if item is not None else None
            if isinstance(beside, DownloadCard):
                beside.take_keyboard()
            else:
                self.at_once.setFocus()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        caption = label(self.tr("Downloads at once"), look="muted", pixels=theme.SMALL_PX)
        caption.setBuddy(self.at_once)
        head.addWidget(caption)
        head.addWidget(self.at_once)
        head.addWidget(self.still, 1)
        head.addStretch(1)
        contents = QWidget()
        self._column = QVBoxLayout(contents)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.SPACE_S)
        self._column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("downloads_area")
        area.setAccessibleName(self.tr("Downloads"))
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setWidget(contents)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(head)
        column.addWidget(self.nothing)
        column.addWidget(area, 1)
