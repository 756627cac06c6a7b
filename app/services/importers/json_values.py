"""Values out of JSON that others wrote: each is what it should be, or nothing."""

from __future__ import annotations

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""
_SCALES = ((1e11, 1000.0), (1e14, 1.0), (1e17, 1e-3), (1e20, 1e-6))
"""Up to so much a number is seconds, milliseconds, microseconds, nanoseconds; each with what makes milliseconds of it."""


def as_object(value: object) -> dict[str, object]:
    """Return an object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a list; anything else is an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a text; anything else is an empty one."""
    return value if isinstance(value, str) else ""


def as_key(value: object) -> str | None:
    """Return what names a message; None for what can name none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def milliseconds(value: object) -> int | None:
    """Return a time since 1970 that is written as a number of whatever unit; None for what is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for most, scale in _SCALES:
        if 0 <= value < most:
            found = round(value * scale)
            return found if found <= LATEST_MS else None
    return None
