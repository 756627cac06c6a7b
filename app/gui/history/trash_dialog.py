"""What was deleted in the last thirty days or a little earlier, to be brought back or removed for good."""

from __future__ import annotations

from PySide6.QtCore import QDate, QItemSelectionModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.core.conversation import Trashed
from app.gui import theme
from app.gui.widgets.chat_words import day_in_words, one_line, start_ms
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
        self._list.setUniformItemSizes(True)
        self._list.setSpacing(theme.SPACE_XS)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._empty = label(look="muted", name="trash_empty")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._pages = QStackedWidget()
        self._pages.setFixedHeight(theme.scaled(LIST_PX))  # nothing moves when it empties
        self._pages.addWidget(self._list)
        self._pages.addWidget(self._empty)
        self._restore = self._button(self.tr("Bring back"), "trash_restore_button", self._bring_back)
        self._erase = self._button(
            self.tr("Remove for good…"), "trash_erase_button", lambda: self._ask(self._marked())
        )
        self._close = self._button(self.tr("Close"), "trash_close_button", self.close)
        self._asked: Trashed | None = None
        """What somebody may remove for good; they are asked."""
        self._rows = QStackedWidget()
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Trash"), pixels=theme.HEADING_PX, bold=True))
        stays = self.tr("What lies here stays for at least 30 days, then it is removed for good.")
        hint = label(stays, look="muted", pixels=theme.SMALL_PX)
        hint.setWordWrap(True)
        column.addWidget(hint)
        column.addWidget(self._pages)
        self._rows.addWidget(_row(self._restore, self._erase, None, self._close))
        self._rows.addWidget(self._question_row())
        self.hold(contents, self._rows)
        self._list.itemSelectionChanged.connect(self._show_buttons)
        self._list.itemActivated.connect(lambda _item: self._bring_back())
        self._disconnect = trash.changed.connect(self._show)
        self._show()
        trash.look()

    def done(self, result: int) -> None:
        """Listen no longer, and close."""
        self._disconnect()
        super().done(result)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the question with Esc before the dialog."""
        if event.key() == Qt.Key.Key_Escape and self._asked is not None:
            self._ask(None)
        else:
            super().keyPressEvent(event)

    def _question_row(self) -> QWidget:
        """Lay out what asks before anything goes for good; to keep it is what has the keyboard."""
        question = label(self.tr("This cannot be undone."), name="trash_question")
        self._keep = self._button(self.tr("Keep it"), "trash_keep_button", lambda: self._ask(None))
        really = self._button(self.tr("Really remove"), "trash_really_button", self._remove)
        return _row(question, None, self._keep, really)

    def _button(self, words: str, name: str, slot: object) -> QPushButton:
        button = QPushButton(words)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    def _show(self) -> None:
        items = self._trash.items
        row, goes_on = max(self._list.currentRow(), 0), self._marked() is not None or not self._list.count()
        self._list.clear()
        for item in items or ():
            self._list.addItem(self._words(item))
        self._pages.setCurrentWidget(self._list if items else self._empty)
        self._empty.setText(self.tr("The trash is empty.") if items is not None else self.tr("It is being read…"))
        if items:
            flags = QItemSelectionModel.SelectionFlag
            how = flags.ClearAndSelect if goes_on else flags.NoUpdate
            self._list.setCurrentRow(min(row, len(items) - 1), how)
        self._show_buttons()

    def _show_buttons(self) -> None:
        if self._asked is not None and self._asked != self._marked():
            self._ask(None)
        marked = self._marked() is not None
        self._restore.setEnabled(marked)
        self._erase.setEnabled(marked)

    def _words(self, item: Trashed) -> str:
        facts = in_parts((*self._counts(item), *self._day(item)))
        title = one_line(item.title)
        if item.message is None:
            return self.tr("Chat “{title}”\n{facts}").format(title=title, facts=facts)
        return self.tr("“{text}” in “{title}”\n{facts}").format(text=one_line(item.text), title=title, facts=facts)

    def _counts(self, item: Trashed) -> list[str]:
        """Return how much it is: what people saw in the chat, and apart from that the lanes of comparisons."""
        messages = self.tr("1 message") if item.messages == 1 else self.tr("{count} messages")
        lanes = self.tr("1 lane of a comparison") if item.lanes == 1 else self.tr("{count} lanes of comparisons")
        said = [messages.format(count=count(item.messages))] if item.messages or not item.lanes else []
        return [*said, lanes.format(count=count(item.lanes))] if item.lanes else said

    def _day(self, item: Trashed) -> tuple[str, ...]:
        """Return on which day it was deleted; nothing where the clock was ahead then."""
        today = QDate.currentDate()
        if item.deleted_ms >= start_ms(today.addDays(1)):
            return ()
        return (self.tr("deleted {day}").format(day=day_in_words(item.deleted_ms, today)),)

    def _marked(self) -> Trashed | None:
        rows, items = [index.row() for index in self._list.selectedIndexes()], self._trash.items or ()
        return items[rows[0]] if rows and rows[0] < len(items) else None

    def _bring_back(self) -> None:
        if (item := self._marked()) is not None:
            self._trash.restore(item)

    def _ask(self, item: Trashed | None) -> None:
        """Ask whether to remove something for good, or ask no longer."""
        focus: QWidget | None = self.focusWidget()
        had_keyboard = focus is not None and self._rows.isAncestorOf(focus)
        self._asked = item
        self._rows.setCurrentIndex(0 if item is None else 1)
        if item is not None:
            self._keep.setFocus()
        elif had_keyboard:
            self._erase.setFocus()

    def _remove(self) -> None:
        """Remove what was asked about; nothing is marked then that another press could remove."""
        item = self._asked
        if item is not None:
            self._list.clearSelection()
            (self._list if self._list.count() > 1 else self._close).setFocus()
            self._trash.erase(item)


def _row(*widgets: QWidget | None) -> QWidget:
    """Lay out buttons in a row; None is room between them."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_S)
    for widget in widgets:
        if widget is None:
            row.addStretch(1)
        else:
            row.addWidget(widget)
    return made
