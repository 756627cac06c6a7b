"""The messages that were found as an item model: what follows is added, and anything else is another list."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QDate, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core.search import FoundChat, FoundMessage
from app.gui.widgets.chat_words import day_in_words, one_line

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


class FoundRole(IntEnum):
    """What a row is asked for beside its title."""

    HIT = Qt.ItemDataRole.UserRole
    """The message that was found, or the chat."""
    DAY = Qt.ItemDataRole.UserRole + 1
    """When it was written, short: the title stands beside it."""


class FoundModel(QAbstractListModel):
    """One row for each hit."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: tuple[FoundChat | FoundMessage, ...] = ()

    def show_hits(self, hits: tuple[FoundChat | FoundMessage, ...]) -> None:
        """Show these, titles above messages; what is shown already stays as it is."""
        before = self._hits
        if hits == before:
            return
        if before and hits[: len(before)] == before:
            self.beginInsertRows(_NO_PARENT, len(before), len(hits) - 1)
            self._hits = hits
            self.endInsertRows()
            return
        self.beginResetModel()
        self._hits = hits
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return one thing about a row."""
        if not index.isValid():
            return None
        hit = self._hits[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.tr("Title of a chat") if isinstance(hit, FoundChat) else one_line(hit.title)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._in_words(hit)
            case FoundRole.HIT:
                return hit
            case FoundRole.DAY:
                return day_in_words(_when_ms(hit), QDate.currentDate(), QLocale.FormatType.ShortFormat)
        return None

    def _in_words(self, hit: FoundChat | FoundMessage) -> str:
        day = day_in_words(_when_ms(hit), QDate.currentDate())
        if isinstance(hit, FoundChat):
            return self.tr("Title of a chat, {day}: {text}").format(day=day, text=hit.snippet.text)
        words = self.tr("{title}, your message, {day}: {text}")
        if hit.is_answer:
            words = self.tr("{title}, an answer, {day}: {text}")
        return words.format(title=one_line(hit.title), day=day, text=hit.snippet.text)


def _when_ms(hit: FoundChat | FoundMessage) -> int:
    return hit.changed_ms if isinstance(hit, FoundChat) else hit.created_ms
