"""Finds the largest context that fits, from one dry run to the next, on a straight line between what is known.

Pure: told what a context takes, it says which one to try next.
"""

from __future__ import annotations

from app.core.model import CONTEXT_STEP

MOST_TRIES = 8
"""So many dry runs at most; the largest that fitted by then is told."""


class LargestContext:
    """The search below a context that does not fit."""

    def __init__(self, context: int, taken: int, lacking: int) -> None:
        """`taken` is what this context takes in bytes, `lacking` how many of them are not there."""
        self._fits: tuple[int, int] | None = None
        """The largest context that fits, and the bytes that it takes."""
        self._large = (-(-context // CONTEXT_STEP) * CONTEXT_STEP, taken, lacking)
        self._tries = 0

    @property
    def next(self) -> int | None:
        """The context to try next; None when the search is over."""
        if self._tries == 0:
            return CONTEXT_STEP
        if self._fits is None or self._tries >= MOST_TRIES or self._large[0] - self._fits[0] <= CONTEXT_STEP:
            return None
        steps = self._guess(self._fits) // CONTEXT_STEP
        return min(max(steps * CONTEXT_STEP, self._fits[0] + CONTEXT_STEP), self._large[0] - CONTEXT_STEP)

    @property
    def found(self) -> int | None:
        """The largest context that fits; None while the search goes on, or if none does."""
        return self._fits[0] if self._fits is not None and self.next is None else None

    def note(self, context: int, taken: int, lacking: int) -> None:
        """Take in what a dry run said of a context: the bytes that it takes, and how many of them are not there."""
        self._tries += 1
        if lacking > 0:
            self._large = (context, taken, lacking)
        else:
            self._fits = (context, taken)

    def _guess(self, fits: tuple[int, int]) -> int:
        """Return where a straight line between what fits and what does not meets what is free."""
        low, low_bytes = fits
        high, high_bytes, lacking = self._large
        growth = high_bytes - low_bytes
        if growth <= 0:
            return (low + high) // 2
        return int(low + (high - low) * max(growth - lacking, 0) / growth)
