"""Looks at the folders of models again and again, while somebody wants to see them, and notices what has changed there.

By names, sizes and times: what tells of changes at once does not see folders of the network.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from app.core.job_events import FoldersLooked
from app.system.jobs import Jobs

LOOK_S, MOST_S = 3.0, 60.0
SHARE = 20
"""A look that takes long is followed by a pause of so many times that."""


class FolderWatch:
    """Has a job ask `has_changed`, and calls `refresh` when it says so; begins with `start`."""

    def __init__(self, has_changed: Callable[[], bool], refresh: Callable[[], None], jobs: Jobs) -> None:
        self._has_changed = has_changed
        self._refresh = refresh
        self._jobs = jobs
        self._runs = False
        self._waits = False

    def start(self) -> None:
        """Begin to look."""
        self._runs = True
        self._look_in(LOOK_S)

    def stop(self) -> None:
        """Look no more."""
        self._runs = False

    def take(self, event: FoldersLooked) -> None:
        """Take in what a look found, and have the next one made."""
        self._waits = False
        if not self._runs:
            return
        if event.has_changed:
            self._refresh()
        self._look_in(min(max(LOOK_S, event.took_s * SHARE), MOST_S))

    def _look_in(self, seconds: float) -> None:
        if self._waits:
            return
        self._waits = True

        def look() -> FoldersLooked:
            begun = time.perf_counter()
            return FoldersLooked(self._has_changed(), time.perf_counter() - begun)

        self._jobs.submit("folders", look, lambda: FoldersLooked(False, MOST_S), after_s=seconds)
