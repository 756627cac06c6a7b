"""The shared rules of JSON schemas, held against what they stand for in every case: the days of the calendar."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache

from app.core.schema_rules import FIXED

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z][a-z-]*|\S')


@cache
def pattern_of(name: str) -> str:
    """Return a rule as a regular expression, which is written as rules are but for texts and names."""
    made = []
    for part in _PARTS.findall(FIXED[name]):
        if part.startswith('"'):
            made.append(re.escape(part[1:-1]))
        else:
            made.append(pattern_of(part) if part in FIXED else part)
    return f"(?:{''.join(made)})"


def is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def test_a_date_is_a_day_of_the_calendar() -> None:
    day = re.compile(pattern_of("day"))
    ends = [(2, 28), (2, 29), (2, 30), (12, 31)]
    usual = [(month, number) for month in range(15) for number in range(40)]
    for year in range(10_000):
        for month, number in usual if year in (1900, 2000, 2024, 2026) else ends:
            text = f"{year:04}-{month:02}-{number:02}"
            assert bool(day.fullmatch(text)) == is_day(text), text
