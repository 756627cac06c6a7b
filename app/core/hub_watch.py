"""One reading from a hub as others see it: how much has come, and the word to end it.

One thread reads, another one looks and cancels; both may at any time.
"""

from __future__ import annotations

from collections.abc import Callable


class HubWatch:
    """Counts what comes, and ends the reading when somebody says so."""

    def __init__(self) -> None:
        self._received = 0
        self._is_cancelled = False
        self._ends: list[Callable[[], None]] = []

    @property
    def received(self) -> int:
        """Bytes that have come."""
        return self._received

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has ended it."""
        return self._is_cancelled

    def count(self, size: int) -> None:
        """Note that more has come; the thread that reads alone calls it."""
        self._received += size

    def cancel(self) -> None:
        """End it now."""
        self._is_cancelled = True
        for end in tuple(self._ends):
            end()

    def ended_by(self, end: Callable[[], None]) -> None:
        """Have this called when it is cancelled, or at once where it was already."""
        self._ends.append(end)  # before the look: whoever cancels between the two sees it
        if self._is_cancelled:
            end()
