"""The lines of the list: conversations under headings for days and months, and what stands over them.

Plain values; knows no model and no widget. Days are those of the place where people sit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.core.conversation import Conversation
from app.gui.widgets.chat_words import start_ms

translate = QCoreApplication.translate

Row = str | Conversation
"""A heading, or a conversation."""

_WEEK_DAYS = 7


def rows_of(heads: Sequence[Conversation], today: QDate) -> list[Row]:
    """Return conversations, newest first, with a heading before the first of each day or month."""
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
