"""The lines of the list: conversations under headings for days and months, and titles made fit for one line.

Plain values; knows no model and no widget. Days are those of the place where people sit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.core.conversation import LONGEST_TITLE, Conversation

translate = QCoreApplication.translate

Row = str | Conversation
"""A heading, or a conversation."""

_WEEK_DAYS = 7
_UNSEEN = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0xFEFF, 0xFFFC])
_SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")


def one_line(title: str) -> str:
    """Return a title on one line, without what turns the order of letters around it; never empty."""
    shown = " ".join(title[: LONGEST_TITLE * 2].translate(_UNSEEN).translate(_SPACES).split())[:LONGEST_TITLE]
    return shown or translate("History", "Untitled")


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


def day_in_words(changed_ms: int, today: QDate) -> str:
    """Return when a conversation changed last, for people who hear the list."""
    if changed_ms >= start_ms(today):
        return translate("History", "today")
    if changed_ms >= start_ms(today.addDays(-1)):
        return translate("History", "yesterday")
    day = QDate(1970, 1, 1).startOfDay().addMSecs(changed_ms - start_ms(QDate(1970, 1, 1))).date()
    return QLocale().toString(day, QLocale.FormatType.LongFormat)


def start_ms(day: QDate) -> int:
    """Return when a day begins here, in milliseconds since 1970."""
    return int(day.startOfDay().toMSecsSinceEpoch())


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
