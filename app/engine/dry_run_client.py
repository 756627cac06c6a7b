"""The parent's side of dry runs: a process of its own for each file, ended some time after its last answer.

A file that ends the process costs one sentence about that file. Knows nothing of llama.cpp and nothing of who listens.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from app.core.commands import MeasureMemory
from app.core.events import EngineGone, Event, Failed, Hello, MemoryMeasured
from app.core.model import LoadOptions
from app.core.ports import EventSink
from app.core.words import Sentence, translate
from app.engine.client import EngineClient
from app.engine.death import how_it_ended
from app.engine.entry import LIBRARY_MISSING
from app.engine.incarnation import BackendKind, tell_stopped
from app.engine.known_runs import KnownRuns, Stamp, renumbered, stamp_of

KEEP_SECONDS = 30.0
"""How long a process is kept for the next question about the same file."""
LONGEST_SECONDS = 60.0
"""A measurement takes a second; a file that holds it up for so long is given up."""
SAME_MOMENT_NS = 20_000_000
"""File systems round the time of a change down to a tick of the clock."""
MOST_IDLE = 3
"""Processes that wait for another question; of more than these the oldest ends at once."""
BREAKDOWNS = frozenset(
    {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGFPE, 0xC0000005, 0xC0000094, 0xC00000FD, 0xC0000409}
)
"""Exit codes of a process that its own code brought down: signals, and Windows' statuses for the same."""


class DryRunClient:
    """Implements `core.ports.DryRunPort`; safe to call from any thread."""

    def __init__(
        self,
        sink: EventSink,
        *,
        backend: BackendKind = "llama",
        plain_folder: str = "",
        keep_seconds: float = KEEP_SECONDS,
        longest_seconds: float = LONGEST_SECONDS,
    ) -> None:
        """Start nothing; the seconds say how long a process is kept, and how long an answer may take."""
        self._sink = sink
        self._backend: BackendKind = backend
        self._plain_folder = plain_folder
        self._keep_seconds = keep_seconds
        self._longest_seconds = longest_seconds
        self._state = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._timers: set[threading.Timer] = set()
        self._known = KnownRuns()
        self._closed = False

    def measure(
        self, request: int, path: str, options: LoadOptions, *, keep: bool = True, sizes_only: bool = False
    ) -> None:
        """Return at once; `MemoryMeasured` or `Failed` with this request follows.

        `keep` lets the process wait for another question about the same file; the last question counts. What was said
        of the same file and options is said again, without a process; what is free on a GPU only with `sizes_only`.
        """
        with self._state:
            if self._closed:
                return
            if self._known.has(path, options, sizes_only=sizes_only):
                # whether the file is the same is asked on another thread: disks are slow
                again = threading.Timer(0.0, lambda: self._say_again(request, path, options, keep))
                self._begin(again, "dry-run-known")
                return
        self._ask(request, path, options, keep)

    def _say_again(self, request: int, path: str, options: LoadOptions, keep: bool) -> None:
        stamp = stamp_of(path)
        with self._state:
            known = None if self._closed else self._known.get(path, options, stamp)
        if known is not None:
            self._sink(renumbered(known, request))
        else:
            self._ask(request, path, options, keep)

    def _ask(self, request: int, path: str, options: LoadOptions, keep: bool) -> None:
        with self._state:
            if self._closed:
                return
            run = self._runs.pop(path, None) or self._new_run(path)
            self._runs[path] = run  # the last one is the one that was used last
            run.open[request] = _Question(options, time.time_ns())
            run.keep = keep
            self._set_timer(run, self._longest_seconds)
        run.client.send(MeasureMemory(request, path, options))

    def close(self) -> None:
        """End every process and wait for it; nothing is left of them."""
        with self._state:
            self._closed = True
            runs = list(self._runs.values())
            self._runs.clear()
            for run in runs:
                self._drop_timer(run)
        for run in runs:
            run.client.kill()  # nobody waits for an answer: all of them end at once
        for run in runs:
            run.end()
        with self._state:
            timers, self._timers = self._timers, set()
        for timer in timers:
            timer.join()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that are there now."""
        with self._state:
            ids = [run.client.process_id for run in self._runs.values()]
        return tuple(number for number in ids if number is not None)

    def take(self, run: _Run, event: Event) -> None:
        """Pass on what answers a request; called by the thread that reads from the run's process."""
        if isinstance(event, Hello):
            run.greeted = True
        elif isinstance(event, (MemoryMeasured, Failed)):
            stamp = stamp_of(run.path)
            with self._state:
                question = run.open.pop(event.request, None)
                if question is not None and isinstance(event, MemoryMeasured):
                    self._note(question, stamp, event)
                self._settle(run)
            if question is not None:
                self._sink(event)
        elif isinstance(event, EngineGone):
            with self._state:
                lost = sorted(run.open.keys() & set(event.requests))
                for request in lost:
                    del run.open[request]
                greeted, run.greeted = run.greeted, False
                closed = self._closed
                self._settle(run)
            if closed:  # the reader may see the kill of `close` before its client knows that it is wanted
                tell_stopped(self._sink, lost)
                return
            for request in lost:
                self._sink(_failed(request, event, run.path, greeted=greeted))

    def _new_run(self, path: str) -> _Run:
        run = _Run(path)
        run.client = EngineClient(
            lambda event: self.take(run, event),
            log_path=run.log_path,
            backend=self._backend,
            plain_folder=self._plain_folder,
            background=True,
        )
        return run

    def _note(self, question: _Question, stamp: Stamp | None, answer: MemoryMeasured) -> None:
        """Keep an answer, unless the file may have changed since it was asked for."""
        if stamp is not None and stamp.changed_ns < question.asked_ns - SAME_MOMENT_NS:
            self._known.note(question.options, stamp, answer)

    def _settle(self, run: _Run) -> None:
        """Keep a process that has nothing to do for a while; of too many, end the oldest."""
        if run.open or self._runs.get(run.path) is not run:
            return
        self._set_timer(run, self._keep_seconds if run.keep else 0.0)
        idle = [other for other in self._runs.values() if not other.open]
        for other in idle[:-MOST_IDLE]:
            self._set_timer(other, 0.0)

    def _set_timer(self, run: _Run, seconds: float) -> None:
        self._drop_timer(run)
        run.timer = threading.Timer(seconds, lambda: self._end(run, timer))
        timer = run.timer
        self._begin(timer, "dry-run-end")

    def _begin(self, timer: threading.Timer, name: str) -> None:
        self._timers = {other for other in self._timers if other.is_alive()}
        timer.daemon = True
        timer.name = name
        self._timers.add(timer)
        timer.start()

    def _drop_timer(self, run: _Run) -> None:
        if run.timer is not None:
            run.timer.cancel()
            run.timer = None

    def _end(self, run: _Run, timer: threading.Timer) -> None:
        """End a process that was idle for long enough, or that does not come to an end."""
        with self._state:
            if run.timer is not timer:
                return
            del self._runs[run.path]
            run.timer = None
            lost = sorted(run.open)
            run.open.clear()
        run.end()
        for request in lost:
            self._sink(Failed(request, "engine", _too_long(run.path)))


class _Question(NamedTuple):
    """What was asked, and when, in nanoseconds since 1970 as file systems count them."""

    options: LoadOptions
    asked_ns: int


class _Run:
    """One file's process, its open requests, what it prints and what ends it."""

    client: EngineClient

    def __init__(self, path: str) -> None:
        self.path = path
        self.open: dict[int, _Question] = {}
        self.timer: threading.Timer | None = None
        self.keep = True
        self.greeted = False
        self.log_path = _new_log()

    def end(self) -> None:
        """End the process, wait for it, and remove what it printed."""
        self.client.close()
        if self.log_path:
            Path(self.log_path).unlink(missing_ok=True)


def _new_log() -> str:
    """Make a file for what one process prints; empty where there is no room for one, and then nothing is kept."""
    try:
        number, path = tempfile.mkstemp(prefix="tokenlight-dry-run-", suffix=".log")
    except OSError:
        return ""
    os.close(number)
    return path


def _failed(request: int, event: EngineGone, path: str, *, greeted: bool) -> Failed:
    """Return what the end of a process means; only one that was up and broke down speaks against its file."""
    how = how_it_ended(event.exit_code)
    if event.fault is not None or event.exit_code == LIBRARY_MISSING or not greeted:
        return Failed(request, "engine", event.sentence, event.details)
    if event.exit_code in BREAKDOWNS:
        sentence = translate(
            "DryRun",
            "llama.cpp broke down while it looked at “{file}” ({how}): the file is damaged or made to do harm. "
            "Download it again from a source that you trust.",
            file=Path(path).name,
            how=how,
        )
        return Failed(request, "model", sentence, event.details)
    sentence = translate(
        "DryRun",
        "The process that looked at “{file}” ended ({how}), so nobody knows what it takes. "
        "Close other programs and try again.",
        file=Path(path).name,
        how=how,
    )
    return Failed(request, "engine", sentence, event.details)


def _too_long(path: str) -> Sentence:
    return translate(
        "DryRun",
        "llama.cpp did not come to an end with “{file}”, so nobody knows what it takes. "
        "Close other programs and try again.",
        file=Path(path).name,
    )
