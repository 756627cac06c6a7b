"""The lines of the list: conversations under headings for days and months, and what stands over them.

Plain values; knows no model and no widget. Days are those of the place where people sit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.core.conversation import Conversation
from app.gui.widgets.chat_words import start_ms

translate = QCoreApplication.translate


class Folder(NamedTuple):
    """The row of a folder, over the chats in it."""

    name: str
    chats: int
    is_folded: bool


Row = str | Folder | Conversation
"""A heading, a folder, or a conversation."""

_WEEK_DAYS = 7


def rows_of(
    heads: Sequence[Conversation], today: QDate, folders: Sequence[str] = (), folded: Collection[str] = ()
) -> list[Row]:
    """Return conversations, newest first: those that stay on top, then the folders with theirs, then the others by day."""
    pinned = [head for head in heads if head.pinned]
    rows: list[Row] = [pinned_heading(), *pinned] if pinned else []
    inside: dict[str, list[Conversation]] = {name: [] for name in folders}
    others: list[Conversation] = []
    for head in heads:
        if not head.pinned:
            inside.get(head.folder, others).append(head)
    for name, chats in inside.items():
        rows.append(Folder(name, len(chats), name in folded))
        rows += () if name in folded else chats
    return rows + _by_day(others, today)


def pinned_heading() -> str:
    """Return what stands over the chats that stay on top."""
    return translate("History", "Pinned")


def _by_day(heads: Sequence[Conversation], today: QDate) -> list[Row]:
    """Return conversations with a heading before the first of each day or month."""
    rows: list[Row] = []
    groups = _groups(today)
    title, since = next(groups)
    is_headed = False
    for head in heads:
        while head.changed_ms < since:
            title, since = next(groups)
            is_headed = False
        if not is_headed:
            rows.append(title)
            is_headed = True
        rows.append(head)
    return rows


def _groups(today: QDate) -> Iterator[tuple[str, int]]:
    """Yield headings and since when each holds; there is always an earlier month."""
    yield translate("History", "Today"), start_ms(today)
    yield translate("History", "Yesterday"), start_ms(today.addDays(-1))
    yield translate("History", "Previous 7 days"), start_ms(today.addDays(-_WEEK_DAYS))
    day = today.addDays(-_WEEK_DAYS - 1)
    month = QDate(day.year(), day.month(), 1)
    while month.year() > 1970:
        yield f"{QLocale().standaloneMonthName(month.month())} {month.year()}", start_ms(month)
        month = month.addMonths(-1)
    yield translate("History", "Before"), -(2**63)
