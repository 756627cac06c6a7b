"""What servers and repositories call things, so that a sentence can hold it."""

from __future__ import annotations

from app.core.printable import printable

_LONGEST = 120


def short(text: str) -> str:
    """Return it on one line, with nothing that turns the sentence around, and cut where it is long."""
    shown = printable(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
