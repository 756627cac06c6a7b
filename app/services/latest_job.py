"""Work in the background of which only the newest counts: one job at a time, and behind it the last that was wanted.

Must not know what is worked on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from app.core.job_events import LanesAnalysed
from app.system.jobs import Jobs

T = TypeVar("T")


class LatestJob(Generic[T]):
    """Wishes of one kind; its events have the kind's name."""

    def __init__(self, jobs: Jobs, name: str, done: Callable[[T | None], None], *, after_s: float = 0.0) -> None:
        """`done` is told what came of the newest wish; None where the job broke, which is in the log.

        Each is begun `after_s` later: what changes all the time is looked at so often and no oftener.
        """
        self._jobs = jobs
        self._name = name
        self._done = done
        self._after_s = after_s
        self._count = 0
        """The newest of all wishes."""
        self._working: tuple[int, list[T | None]] | None = None
        """Which wish is worked on, and where its result will be."""
        self._next: Callable[[], T | None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something that still counts is worked on, or waits for it."""
        return self._next is not None or (self._working is not None and self._working[0] == self._count)

    def want(self, work: Callable[[], T | None]) -> None:
        """Have something worked out, in place of what was wanted before."""
        self._count += 1
        self._next = work
        self._begin()

    def forget(self) -> None:
        """Want nothing any more."""
        self._count += 1
        self._next = None

    def take(self, event: LanesAnalysed) -> None:
        """Hand on what was worked out, unless something newer is wanted by now."""
        if event.job != self._name or self._working is None or event.request != self._working[0]:
            return
        request, made = self._working
        self._working = None
        if request == self._count:
            self._done(made[0] if made else None)
        self._begin()

    def _begin(self) -> None:
        work = self._next
        if work is None or self._working is not None:
            return
        self._next = None
        made: list[T | None] = []
        self._working = (self._count, made)
        ready = LanesAnalysed(self._count, self._name)

        def run() -> LanesAnalysed:
            made.append(work())
            return ready

        self._jobs.submit(self._name, run, lambda: ready, after_s=self._after_s)
