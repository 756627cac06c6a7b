"""Has llama.cpp asked what a configuration takes, once the choice rests; `DryRunPort` knows what it said before."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.core.events import Failed, MemoryMeasured
from app.core.job_events import LanesAnalysed
from app.core.model import LoadOptions
from app.core.ports import DryRunPort
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs

JOB = "planned choice"
REST_S = 0.3
"""A choice that stays so long is asked about."""


class _Key(NamedTuple):
    path: str
    options: LoadOptions


class AskedPlans:
    """One question at a time; the last choice counts."""

    def __init__(
        self,
        dry_run: DryRunPort,
        jobs: Jobs,
        new_request: Callable[[], int],
        told: Callable[[MemoryMeasured | Failed], object],
    ) -> None:
        """`told` is called when an answer has come."""
        self._dry_run = dry_run
        self._new_request = new_request
        self._told = told
        self._said: tuple[_Key, MemoryMeasured | Failed] | None = None
        """The newest answer, and what it is about."""
        self._wanted: _Key | None = None
        self._open: tuple[int, _Key] | None = None
        self._rest: LatestJob[_Key] = LatestJob(jobs, JOB, self._ask, after_s=REST_S)

    @property
    def is_asking(self) -> bool:
        """Whether an answer about the choice is still to come."""
        return self._wanted is not None and self._known(self._wanted) is None

    def get(self, path: str, options: LoadOptions) -> MemoryMeasured | Failed | None:
        """Return what llama.cpp said of a configuration, or why it did not; asks it where it did not, once nobody wants another one."""
        key = _Key(path, options)
        if key != self._wanted:
            self._wanted = key
            if self._known(key) is not None:
                self._rest.forget()
            else:
                self._rest.want(lambda: key)
        return self._known(key)

    def leave(self) -> None:
        """Ask nothing as long as nothing else is wanted; what came to nothing is asked again then."""
        self._wanted = None
        self._rest.forget()
        self.drop_failure()

    def drop_failure(self) -> bool:
        """Forget an answer that came to nothing, so that the same is asked again; return whether there was one."""
        if self._said is None or not isinstance(self._said[1], Failed):
            return False
        self._said = self._wanted = None
        return True

    def forget(self, path: str) -> None:
        """Know nothing of a file any more, which is another one now."""
        if self._said is not None and self._said[0].path == path:
            self._said = None
        self._wanted = None

    def take(self, event: LanesAnalysed) -> None:
        """Notice that a choice has rested."""
        self._rest.take(event)

    def take_measured(self, event: MemoryMeasured | Failed) -> None:
        """Take in an answer; what nobody asked for is ignored."""
        if self._open is None or event.request != self._open[0]:
            return
        key, self._open = self._open[1], None
        if self._wanted == key:
            self._said = (key, event)
            self._told(event)
        elif self.is_asking and not self._rest.is_busy:
            self._ask(self._wanted)

    def _ask(self, key: _Key | None) -> None:
        if key is None or key != self._wanted or self._open is not None:
            return
        self._open = (self._new_request(), key)
        self._dry_run.measure(self._open[0], key.path, key.options, sizes_only=True)

    def _known(self, key: _Key) -> MemoryMeasured | Failed | None:
        return self._said[1] if self._said is not None and self._said[0] == key else None
