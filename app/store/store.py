"""Where conversations are kept: takes commands from any thread and does them on its own, in order.

Chunks of an answer come many times a second beside a busy engine: they only wait in a list, and the thread that sleeps
until they are due is not woken by the next one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.job_events import JobFailed
from app.core.model_note import KeptOfModels
from app.core.ports import EventSink
from app.core.search import FoundMessage
from app.core.store_commands import KeepChunk, Settle, StoreCommand
from app.store.mistakes import skipped

if TYPE_CHECKING:
    from app.store.keeper import StoreWork

CHUNK_S = 0.5
"""How long a chunk may wait until it is on disk."""
RETRY_S = 3.0
"""How long what could not be written waits for another try when nothing else comes."""
CLOSE_S = 1.5
INTERRUPTED_S = 0.4
"""Together the limit of `close`."""
RESCUE_S = 30.0
"""How long `close` waits where all chats are written anew: without that they would be gone with the program."""

_log = logging.getLogger(__name__)


class Store:
    """Implements `StorePort` on a SQLite database in a folder."""

    def __init__(self, folder: Path, sink: EventSink) -> None:
        self._folder = folder
        self._sink = sink
        self._work: StoreWork | None = None
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        self._waiting: list[StoreCommand] = []
        self._due: float | None = None
        """When the thread wakes up by itself; None is never."""
        self._closed = False

    def send(self, command: StoreCommand) -> None:
        """Take a command and return at once."""
        with self._changed:
            if self._closed:
                return
            self._waiting.append(command)
            if isinstance(command, Settle) and self._work is not None:
                self._work.press()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="store", daemon=True)
                self._thread.start()
            if not isinstance(command, KeepChunk):
                self._due = 0.0
                self._changed.notify()
                return
            due = time.monotonic() + CHUNK_S
            if self._due is None or self._due > due:
                self._due = due
                self._changed.notify()

    def look(self) -> KeptOfModels:
        """Read at once what is kept of models, beside whoever has it open; nothing is touched."""
        from app.store.side_look import look  # noqa: PLC0415  with SQLite, as below

        return look(self._folder)

    def find(self, text: str, limit: int) -> tuple[FoundMessage, ...]:
        """Find at once so many messages that hold a text, newest first, beside whoever has it open."""
        from app.store.side_look import find  # noqa: PLC0415  with SQLite, as below

        return find(self._folder, text, limit)

    def close(self) -> None:
        """Write what waits and end the thread."""
        with self._changed:
            self._closed = True
            self._due = 0.0
            self._changed.notify()
            work = self._work
        if self._thread is None:
            return
        if work is not None:
            work.hurry()
        self._thread.join(CLOSE_S)
        if work is not None and work.files.are_written:
            self._thread.join(RESCUE_S)
        if work is not None and self._thread.is_alive():
            work.interrupt()
            self._thread.join(INTERRUPTED_S)

    def _run(self) -> None:
        # SQLite is loaded where something is kept, and not on the thread that shows the window.
        from app.store.keeper import StoreWork  # noqa: PLC0415

        work = StoreWork(self._folder, self._sink)
        with self._changed:
            self._work = work
            if self._closed:
                work.hurry()
        while self._turn(work):
            continue
        self._guarded(work.close)

    def _turn(self, work: StoreWork) -> bool:
        """Wait for work and do it; false when the store is closed and nothing waits any more."""
        with self._changed:
            self._wait()
            commands, self._waiting = self._waiting, []
            closed = self._closed
            # Where chunks came, more are likely: the thread looks again by itself, and the next one need not wake it.
            streams = any(isinstance(command, KeepChunk) for command in commands)
            self._due = time.monotonic() + CHUNK_S if streams and not closed else None
        for command in commands:
            self._guarded(partial(work.take, command))
        self._guarded(work.flush)
        more = not closed and self._guarded(work.rest)
        with self._changed:
            if more:
                self._due = 0.0
            elif work.behind:
                retry = time.monotonic() + RETRY_S
                self._due = retry if self._due is None else min(self._due, retry)
        return not closed

    def _wait(self) -> None:
        while self._due is None or (left := self._due - time.monotonic()) > 0:
            self._changed.wait(None if self._due is None else left)

    def _guarded(self, step: Callable[[], object]) -> bool:
        try:
            return bool(step())
        except Exception:  # noqa: BLE001  the thread must outlive a mistake of its own, which is told
            _log.exception("The store failed")
            self._sink(JobFailed("store", skipped()))
            return False
