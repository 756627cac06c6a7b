"""Places in a text as Qt counts them: an emoji takes two units there and is one character here."""

from __future__ import annotations

_LAST_OF_ONE_UNIT = "\uffff"


def units(text: str) -> int:
    """Return how many units a text has."""
    if text.isascii() or max(text) <= _LAST_OF_ONE_UNIT:
        return len(text)
    return len(text) + sum(character > _LAST_OF_ONE_UNIT for character in text)


def characters(text: str, count: int) -> int:
    """Return how many characters lie before a unit of a text."""
    if text.isascii() or max(text) <= _LAST_OF_ONE_UNIT:
        return count
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * count].decode("utf-16-le", "replace"))
