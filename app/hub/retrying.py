"""When a server wants to be asked again, as its headers say."""

from __future__ import annotations

import re
import time
from email.message import Message
from email.utils import parsedate_to_datetime

_LIMIT = re.compile(r'"\w{1,50}"\s*;\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,9})', re.ASCII)


LONGEST_S = 86_400.0
"""What is asked beyond a day is no figure to rely on: people are told a day or more."""


def named(headers: Message) -> str:
    """Return what names the time: Retry-After, or the hub's RateLimit where nothing is left of it; empty for neither."""
    told = (headers.get("Retry-After") or "").strip()
    if told:
        return told
    found = _LIMIT.search((headers.get("RateLimit") or "")[:500])
    return found[1] if found is not None else ""


def seconds(retry_after: str) -> float | None:
    """Return the seconds that a server names, as a number or by a date, a day at most; None where it names none."""
    text = retry_after.strip()
    if text.isdecimal() and len(text) <= 9:
        return min(max(1.0, float(text)), LONGEST_S)
    try:
        wanted = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None
    return min(max(1.0, wanted), LONGEST_S)
