"""The inspection of a script: rows that find every third token of a prompt likely and the others not.

Takes as long as the script's prefill; knows nothing of llama.cpp.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from app.engine.backend import Row, Rows, TokenIds

LIKELY_EVERY = 3


class ScriptedInspection:
    """Evaluates at the speed of a prefill."""

    batch = 16

    def __init__(self, noise: Row, tokens_per_s: float, likely: float) -> None:
        """`noise` is the row in which nothing is likely; at 0 tokens a second it takes no time."""
        self._noise = noise
        self._tokens_per_s = tokens_per_s
        self._likely = likely
        self._wait = threading.Event()
        self._stop: Callable[[], bool] | None = None

    def rows(self, ids: TokenIds, position: int) -> Rows | None:
        """Return a row for each token, shape (tokens, vocabulary); None where it was told to stop."""
        for _ in range(len(ids) if self._tokens_per_s else 0):
            if self._stop is not None and self._stop():
                return None
            self._wait.wait(1 / self._tokens_per_s)
        made = np.tile(self._noise, (len(ids), 1))
        for place in range(len(ids) - 1):
            if (position + place) % LIKELY_EVERY == 0:
                made[place, ids[place + 1]] = self._likely
        return made

    def read(self, ids: TokenIds, position: int, *, watched: bool = False, row: bool = False) -> bool:
        """Take as long as `rows`; a script computes nothing that could be watched."""
        return self.rows(ids, position) is not None

    def set_abort(self, stop: Callable[[], bool]) -> None:
        """Look at `stop` between two tokens."""
        self._stop = stop

    def close(self) -> None:
        """Nothing to free."""
