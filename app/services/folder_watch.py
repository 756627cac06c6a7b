"""Looks at the folders of models while somebody sees them, and notices what has changed there.

By names, sizes and times: what tells of changes at once does not see folders of the network. Where nobody looks, nothing
is done: a window that comes to the front looks once, as files are mostly moved in other programs.
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
        self._runs = self._is_in_front = False
        self._followers: set[object] = set()
        """Who shows what lies in the folders."""
        self._waiting = 0
        """Looks that were asked for and have not been told of."""

    def start(self, *, is_in_front: bool) -> None:
        """Begin to look; whether the window is in front says who makes it."""
        self._runs, self._is_in_front = True, is_in_front
        self._go_on()

    def stop(self) -> None:
        """Look no more."""
        self._runs = False

    def follow(self, who: object) -> None:
        """Look again and again from now on, as `who` shows what is there; it has searched itself."""
        self._followers.add(who)
        self._go_on()

    def rest(self, who: object) -> None:
        """`who` shows it no longer."""
        self._followers.discard(who)

    def set_in_front(self, is_in_front: bool) -> None:
        """Look once when the window comes to the front, and not again and again where it is not."""
        was_in_front, self._is_in_front = self._is_in_front, is_in_front
        if self._runs and is_in_front and not was_in_front:
            self._look_in(0.0)

    def take(self, event: FoldersLooked) -> None:
        """Take in what a look found, and have the next one made."""
        self._waiting -= 1
        if not self._runs:
            return
        if event.has_changed:
            self._refresh()
        self._go_on(min(max(LOOK_S, event.took_s * SHARE), MOST_S))

    def _go_on(self, seconds: float = LOOK_S) -> None:
        if self._runs and self._followers and self._is_in_front and not self._waiting:
            self._look_in(seconds)

    def _look_in(self, seconds: float) -> None:
        self._waiting += 1

        def look() -> FoldersLooked:
            begun = time.perf_counter()
            return FoldersLooked(self._has_changed(), time.perf_counter() - begun)

        self._jobs.submit("folders", look, lambda: FoldersLooked(False, MOST_S), after_s=seconds)
