"""What was deleted in the last thirty days or a little earlier, to be brought back or removed for good."""

from __future__ import annotations

from PySide6.QtCore import QDate, Qt
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget

from app.core.conversation import Trashed
from app.gui import theme
from app.gui.history.rows import day_in_words, one_line
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.tall_dialog import TallDialog
from app.services.trash import Trash
from app.services.units import count

WIDTH_PX, LIST_PX = 560, 280


class TrashDialog(TallDialog):
    """A list of what lies in the trash, and what can be done with the marked entry."""

    def __init__(self, trash: Trash, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trash_dialog")
        self.setWindowTitle(self.tr("Trash"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._trash = trash
        self._list = QListWidget()
        self._list.setObjectName("trash_list")
        self._list.setAccessibleName(self.tr("What was deleted"))
        self._list.setFixedHeight(theme.scaled(LIST_PX))
        self._list.setUniformItemSizes(True)
        self._list.setSpacing(theme.SPACE_XS)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._empty = label(look="muted", name="trash_empty")
        self._empty.setWordWrap(True)
        self._restore = self._button(self.tr("Bring back"), "trash_restore_button", self._bring_back)
        self._erase = self._button(self.tr("Remove for good"), "trash_erase_button", self._remove)
        close = self._button(self.tr("Close"), "trash_close_button", self.close)
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Trash"), pixels=theme.HEADING_PX, bold=True))
        stays = self.tr("What lies here stays for at least 30 days, then it is removed for good.")
        hint = label(stays, look="muted", pixels=theme.SMALL_PX)
        hint.setWordWrap(True)
        column.addWidget(hint)
        column.addWidget(self._list)
        column.addWidget(self._empty)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._restore)
        row.addWidget(self._erase)
        row.addStretch(1)
        row.addWidget(close)
        self.hold(contents, row)
        self._list.itemSelectionChanged.connect(self._show_buttons)
        self._list.itemActivated.connect(lambda _item: self._bring_back())
        self._disconnect = trash.changed.connect(self._show)
        self._show()
        trash.look()

    def done(self, result: int) -> None:
        """Listen no longer, and close."""
        self._disconnect()
        super().done(result)

    def _button(self, words: str, name: str, slot: object) -> QPushButton:
        button = QPushButton(words)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    def _show(self) -> None:
        items = self._trash.items
        row = max(self._list.currentRow(), 0)
        self._list.clear()
        for item in items or ():
            self._list.addItem(self._words(item))
        self._list.setVisible(bool(items))
        self._empty.setVisible(not items)
        self._empty.setText(self.tr("Nothing was deleted.") if items is not None else self.tr("It is being read…"))
        if items:
            self._list.setCurrentRow(min(row, len(items) - 1))
        self._show_buttons()

    def _show_buttons(self) -> None:
        marked = self._marked() is not None
        self._restore.setEnabled(marked)
        self._erase.setEnabled(marked)

    def _words(self, item: Trashed) -> str:
        day = day_in_words(item.deleted_ms, QDate.currentDate())
        messages = self.tr("1 message") if item.messages == 1 else self.tr("{count} messages")
        deleted = self.tr("deleted {day}").format(day=day)
        facts = in_parts((messages.format(count=count(item.messages)), deleted))
        title = one_line(item.title)
        if item.message is None:
            return self.tr("Chat “{title}”\n{facts}").format(title=title, facts=facts)
        return self.tr("“{text}” in “{title}”\n{facts}").format(text=one_line(item.text), title=title, facts=facts)

    def _marked(self) -> Trashed | None:
        row, items = self._list.currentRow(), self._trash.items or ()
        return items[row] if 0 <= row < len(items) else None

    def _bring_back(self) -> None:
        if (item := self._marked()) is not None:
            self._trash.restore(item)

    def _remove(self) -> None:
        if (item := self._marked()) is not None:
            self._trash.erase(item)
