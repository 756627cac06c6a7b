"""How a chat is told wherever chats are listed: its title on one line, and the day that it is of.

Days are those of the place where people sit.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.core.conversation import LONGEST_TITLE

translate = QCoreApplication.translate

_UNSEEN = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0xFEFF, 0xFFFC])
_SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")


def one_line(title: str) -> str:
    """Return a title on one line, without what turns the order of letters around it; never empty."""
    shown = " ".join(title[: LONGEST_TITLE * 2].translate(_UNSEEN).translate(_SPACES).split())[:LONGEST_TITLE]
    return shown or translate("History", "Untitled")


def day_in_words(changed_ms: int, today: QDate, form: QLocale.FormatType = QLocale.FormatType.LongFormat) -> str:
    """Return when a conversation changed last; in the long form for people who hear the list."""
    if changed_ms >= start_ms(today):
        return translate("History", "today")
    if changed_ms >= start_ms(today.addDays(-1)):
        return translate("History", "yesterday")
    day = QDate(1970, 1, 1).startOfDay().addMSecs(changed_ms - start_ms(QDate(1970, 1, 1))).date()
    return QLocale().toString(day, form)


def start_ms(day: QDate) -> int:
    """Return when a day begins here, in milliseconds since 1970."""
    return int(day.startOfDay().toMSecsSinceEpoch())
