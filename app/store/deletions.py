"""When things were deleted and which of them are old enough to go, whatever the clock said in between.

`deleted_ms` of a message or a conversation says which deletion took it: that only ever grows, so a clock that was years
ahead once drives it on for good. When that was, and from which day on its month counts, stands beside it.
"""

from __future__ import annotations

import sqlite3
import time

TO_ERASE = 0
"""In place of a deletion: what is to be erased as soon as nothing else is to be done."""
KEPT_DAYS = 30
"""How long what was deleted can be brought back."""
DAYS_OF_USE = 3
"""On so many days the chats must have been open since: a clock that is wrong on one of them erases nothing."""
DAY_MS = 24 * 60 * 60 * 1000

# One that is far ahead of the clock says nothing of the time; one that is a little ahead is that of a clock set back.
_TIMES = f"number, MIN(number, :now), (CASE WHEN number > :now + {KEPT_DAYS * DAY_MS} THEN :now ELSE number END) / {DAY_MS}"
_DELETIONS = (
    "SELECT deleted_ms AS number FROM message INDEXED BY message_deleted WHERE deleted_ms > :none "
    "UNION SELECT deleted_ms FROM conversation WHERE deleted_ms > :none"
)


def note(connection: sqlite3.Connection, deletion: int) -> None:
    """Take down that a deletion is made now, or was when what is written late was said."""
    connection.execute(
        f"INSERT OR REPLACE INTO deletion (number, at_ms, from_day) SELECT {_TIMES} FROM (SELECT :number AS number)",
        {"now": _now_ms(), "number": deletion},
    )


def times(connection: sqlite3.Connection) -> dict[int, int]:
    """Return when each deletion was, as far as that is known, in milliseconds since 1970."""
    return dict(connection.execute("SELECT number, at_ms FROM deletion").fetchall())


def mark_old(connection: sqlite3.Connection) -> None:
    """Mark what was deleted so long ago that nobody wants it back: long before the last days of use, too."""
    now_ms = _now_ms()
    connection.execute(
        f"INSERT OR IGNORE INTO deletion (number, at_ms, from_day) SELECT {_TIMES} FROM ({_DELETIONS}) "
        "WHERE typeof(number) = 'integer'",
        {"now": now_ms, "none": TO_ERASE},
    )
    first_of_last_days = _note_day(connection, now_ms // DAY_MS)
    if first_of_last_days is not None:
        for table in ("message", "conversation"):
            connection.execute(
                f"UPDATE {table} SET deleted_ms = ? WHERE deleted_ms IN (SELECT number FROM deletion WHERE from_day < ?)",
                (TO_ERASE, first_of_last_days - KEPT_DAYS),
            )
    connection.execute(f"DELETE FROM deletion WHERE number NOT IN ({_DELETIONS})", {"none": TO_ERASE})


def _note_day(connection: sqlite3.Connection, today: int) -> int | None:
    """Note that the chats are open today; return the first of the last days of use, None where they are too few."""
    connection.execute("DELETE FROM used_day WHERE day > ?", (today,))  # the clock was ahead then
    connection.execute("UPDATE deletion SET from_day = ?1 WHERE from_day > ?1 + ?2", (today, KEPT_DAYS))
    days = [int(day) for (day,) in connection.execute("SELECT day FROM used_day ORDER BY day DESC LIMIT 2")]
    if _has_jumped(today, days):
        connection.execute("UPDATE deletion SET from_day = ?1 WHERE from_day < ?1", (today,))
    connection.execute("INSERT OR IGNORE INTO used_day (day) VALUES (?)", (today,))
    last = "SELECT day FROM used_day ORDER BY day DESC LIMIT 1 OFFSET ?"
    row = connection.execute(last, (DAYS_OF_USE - 1,)).fetchone()
    if row is None:
        return None
    connection.execute("DELETE FROM used_day WHERE day < ?", row)
    return int(row[0])


def _has_jumped(today: int, days: list[int]) -> bool:
    """Whether more than a month has passed at once: somebody was away, or the clock was behind until now.

    Not where it was so the time before, too: what belongs to somebody who seldom comes must go some day.
    """
    gaps = [later - earlier for later, earlier in zip([today, *days], days, strict=False)]
    return bool(gaps) and gaps[0] > KEPT_DAYS and not (len(gaps) > 1 and gaps[1] > KEPT_DAYS)


def _now_ms() -> int:
    return int(time.time() * 1000)
