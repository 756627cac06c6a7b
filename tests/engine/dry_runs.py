"""A dry-run client of a test: its events in order, and which processes began and ended."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.core.events import EngineGone, Event, Failed, Hello, MemoryMeasured, Unloaded
from app.core.model import LoadOptions
from app.core.ports import EventSink
from app.engine.dry_run_client import DryRunClient, _Run
from app.engine.incarnation import BackendKind
from tests.engine.harness import GUARD_SECONDS

LONG = 10 * GUARD_SECONDS
Make = Callable[..., "Runs"]


class Watched(DryRunClient):
    """Tells whose process is up, and whose came to an end, after it was waited for."""

    def __init__(
        self, sink: EventSink, begun: Callable[[str], None], ended: Callable[[str], None], **seconds: Any
    ) -> None:
        super().__init__(sink, **seconds)
        self._begun = begun
        self._ended = ended

    def take(self, run: _Run, event: Event) -> None:
        super().take(run, event)
        if isinstance(event, Hello):
            self._begun(run.path)
        if isinstance(event, (Unloaded, EngineGone)):
            self._ended(run.path)


class Runs:
    """A dry-run client whose events are kept in order."""

    keep = True

    def __init__(self, backend: BackendKind = "llama", **seconds: float) -> None:
        self.inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.client = Watched(self.inbox.put, self.begun.put, self.ended.put, backend=backend, **seconds)
        self._numbers = itertools.count(1)

    sizes_only = False

    def ask(self, path: str | Path, **options: object) -> int:
        request, wanted = next(self._numbers), LoadOptions(**options)  # type: ignore[arg-type]
        self.client.measure(request, str(path), wanted, keep=self.keep, sizes_only=self.sizes_only)
        return request

    def process(self, path: str) -> int:
        """Return the process of a file that is being looked at."""
        number = self.client._runs[path].client.process_id
        assert number is not None
        return number

    def answer(self) -> MemoryMeasured | Failed:
        event = self.inbox.get(timeout=GUARD_SECONDS)
        assert isinstance(event, (MemoryMeasured, Failed)), event
        return event

    def gone(self) -> str:
        """Wait until a process has ended and return its file."""
        return self.ended.get(timeout=GUARD_SECONDS)

    def measured(self, path: str | Path, **options: object) -> MemoryMeasured:
        request = self.ask(path, **options)
        event = self.answer()
        assert isinstance(event, MemoryMeasured), event
        assert event.request == request
        return event

    def failed(self, path: str | Path) -> Failed:
        request = self.ask(path)
        event = self.answer()
        assert isinstance(event, Failed), event
        assert event.request == request
        return event
