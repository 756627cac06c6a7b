"""The ids and times that what is kept gets, and what deletions are told apart by."""

from __future__ import annotations

import time


class Stamps:
    """No id twice, and no two deletions alike, whatever the clock says."""

    def __init__(self) -> None:
        self._last_id = 0
        self._last_deletion_ms = 0

    def new_id(self) -> int:
        """Return an id that grows with time and was never used: microseconds since 1970, or one more than the last."""
        self._last_id = max(self._last_id + 1, time.time_ns() // 1000)
        return self._last_id

    def reserve(self, count: int) -> int:
        """Return the first of so many new ids, one behind the other."""
        first = self.new_id()
        self._last_id += count - 1
        return first

    def go_beyond(self, newest: int, newest_deletion: int) -> None:
        """Let ids and deletions grow from the newest ones of earlier runs on: the clock may have gone back."""
        self._last_id = max(self._last_id, newest)
        self._last_deletion_ms = max(self._last_deletion_ms, newest_deletion)

    def now_ms(self) -> int:
        """Return the time, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def deletion_ms(self) -> int:
        """Return what one deletion is told from others by: a time later than that of any before it.

        It says nothing of when that was: a clock that was ahead once drives it on. The store takes that down beside it.
        """
        # Not before the latest id was made: of a clock that is a little behind, the store takes this one's word.
        self._last_deletion_ms = max(self._last_deletion_ms + 1, self.now_ms(), self._last_id // 1000)
        return self._last_deletion_ms
