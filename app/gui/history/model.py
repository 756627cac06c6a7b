"""The conversations as an item model: rows made from the service's list, changed where that changed and nowhere else.

Knows nothing of painting and opens nothing; a row is a heading, a folder or a conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QDate, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core.conversation import Conversation
from app.gui.history.rows import Folder, Row, rows_of
from app.gui.widgets.chat_words import day_in_words, one_line
from app.services.chat_folders import ChatFolders
from app.services.conversations import Conversations
from app.services.units import count

Index = QModelIndex | QPersistentModelIndex
Today = Callable[[], QDate]
MOST_STEPS = 64
"""A list that differs in more places is another list."""
_NO_PARENT = QModelIndex()


class Role(IntEnum):
    """What a row is asked for beside its text."""

    ID = Qt.ItemDataRole.UserRole
    """The conversation; None for a heading and a folder."""
    OPEN = Qt.ItemDataRole.UserRole + 1
    BUSY = Qt.ItemDataRole.UserRole + 2
    FOLDER = Qt.ItemDataRole.UserRole + 3
    """Of a folder what it is called; None for anything else."""
    INSIDE = Qt.ItemDataRole.UserRole + 4
    """Of a conversation the folder that it stands under; empty for one that stands under none."""
    PINNED = Qt.ItemDataRole.UserRole + 5
    FOLDED = Qt.ItemDataRole.UserRole + 6
    CHATS = Qt.ItemDataRole.UserRole + 7
    """Of a folder how many are in it."""


class HistoryModel(QAbstractListModel):
    """Follows the conversations when it is told to `refresh`."""

    def __init__(
        self,
        conversations: Conversations,
        folders: ChatFolders,
        today: Today = QDate.currentDate,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self._folders = folders
        self._arranged: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())
        self._ask_today = today
        self._today = today()
        self._heads: tuple[Conversation, ...] = ()
        self._rows: list[Row] = []
        self._open: int | None = None
        self._busy: frozenset[int] = frozenset()
        self.refresh()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return one thing about a row."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, str):
            return row if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
        if isinstance(row, Folder):
            return self._of_folder(row, role)
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return one_line(row.title)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._in_words(row)
            case Role.ID:
                return row.id
            case Role.OPEN:
                return row.id == self._open
            case Role.BUSY:
                return row.id in self._busy
            case Role.INSIDE:
                return "" if row.pinned else row.folder
            case Role.PINNED:
                return row.pinned
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return that headings cannot be reached."""
        if not index.isValid() or isinstance(self._rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        usable = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        can_go = Qt.ItemFlag.ItemIsDragEnabled if isinstance(self._rows[index.row()], Conversation) else usable
        return usable | can_go | Qt.ItemFlag.ItemNeverHasChildren

    def index_of(self, conversation: int | None) -> QModelIndex:
        """Return where a conversation stands, or an index that is not valid."""
        for number, row in enumerate(self._rows):
            if isinstance(row, Conversation) and row.id == conversation:
                return self.index(number)
        return QModelIndex()

    def index_of_folder(self, folder: str) -> QModelIndex:
        """Return where a folder stands, or an index that is not valid."""
        at = (number for number, row in enumerate(self._rows) if isinstance(row, Folder) and row.name == folder)
        return next((self.index(number) for number in at), QModelIndex())

    def refresh(self) -> None:
        """Take what the service says now, and today's date."""
        heads, today = self._conversations.heads, self._ask_today()
        arranged = (self._folders.names, self._folders.folded)
        if heads is not self._heads or today != self._today or arranged != self._arranged:
            self._heads, self._today, self._arranged = heads, today, arranged
            self._use(rows_of(heads, today, *arranged))
        opened, busy = self._conversations.open_id, self._conversations.busy
        changed = busy ^ self._busy | ({opened, self._open} - {None} if opened != self._open else set())
        self._open, self._busy = opened, busy
        for conversation in changed:
            index = self.index_of(conversation)
            if index.isValid():
                self.dataChanged.emit(index, index, [Role.OPEN, Role.BUSY, Qt.ItemDataRole.AccessibleTextRole])

    def _in_words(self, head: Conversation) -> str:
        parts = [one_line(head.title), day_in_words(head.changed_ms, self._today)]
        if head.id == self._open:
            parts.append(self.tr("open"))
        if head.id in self._busy:
            parts.append(self.tr("being answered"))
        if head.pinned:
            parts.append(self.tr("pinned"))
        if head.folder:
            parts.append(self.tr("in the folder “{name}”").format(name=head.folder))
        return ", ".join(parts)

    def _of_folder(self, row: Folder, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole | Role.FOLDER:
                return row.name
            case Qt.ItemDataRole.AccessibleTextRole:
                chats = self.tr("1 chat") if row.chats == 1 else self.tr("{count} chats")
                state = self.tr("folded") if row.is_folded else self.tr("unfolded")
                said = self.tr("Folder “{name}”, {chats}, {state}")
                return said.format(name=row.name, chats=chats.format(count=count(row.chats)), state=state)
            case Role.FOLDED:
                return row.is_folded
            case Role.CHATS:
                return row.chats
        return None

    def _use(self, rows: list[Row]) -> None:
        """Change the rows step by step, so that whoever looks keeps place, selection and what is being typed."""
        wanted = [_key(row) for row in rows]
        if not self._remove_gone(set(wanted)) or not self._put_in_order(rows, wanted):
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        for number, row in enumerate(rows):
            earlier = self._rows[number]
            if earlier is not row:
                self._rows[number] = row
                if earlier != row:
                    self.dataChanged.emit(self.index(number), self.index(number))

    def _remove_gone(self, wanted: set[object]) -> bool:
        """Remove rows that are no more, in stretches from the end; false when there are too many stretches."""
        gone = [number for number, row in enumerate(self._rows) if _key(row) not in wanted]
        stretches: list[tuple[int, int]] = []
        for number in reversed(gone):
            if stretches and stretches[-1][0] == number + 1:
                stretches[-1] = (number, stretches[-1][1])
            else:
                stretches.append((number, number))
        if len(stretches) > MOST_STEPS:
            return False
        for first, last in stretches:
            self.beginRemoveRows(_NO_PARENT, first, last)
            del self._rows[first : last + 1]
            self.endRemoveRows()
        return True

    def _put_in_order(self, rows: list[Row], wanted: list[object]) -> bool:
        """Insert and move until the rows are those wanted; false when that takes too many steps."""
        keys = [_key(row) for row in self._rows]
        known = set(keys)
        number = 0
        for _ in range(MOST_STEPS):
            while number < len(keys) and keys[number] == wanted[number]:
                number += 1
            if number == len(wanted):
                return True
            if wanted[number] not in known:
                end = number + 1
                while end < len(wanted) and wanted[end] not in known:
                    end += 1
                self.beginInsertRows(_NO_PARENT, number, end - 1)
                self._rows[number:number] = rows[number:end]
                keys[number:number] = wanted[number:end]
                self.endInsertRows()
            elif number + 1 < len(keys) and keys[number + 1] == wanted[number]:
                self._move(keys, number, min(wanted.index(keys[number]), len(keys) - 1))
            else:
                self._move(keys, keys.index(wanted[number]), number)
        return len(keys) == len(wanted) and keys == wanted

    def _move(self, keys: list[object], source: int, target: int) -> None:
        place = target if target < source else target + 1
        self.beginMoveRows(_NO_PARENT, source, source, _NO_PARENT, place)
        self._rows.insert(target, self._rows.pop(source))
        keys.insert(target, keys.pop(source))
        self.endMoveRows()


def _key(row: Row) -> object:
    if isinstance(row, Folder):
        return ("folder", row.name)
    return row if isinstance(row, str) else row.id
