"""Worker threads for work in the background; a job's result comes back as an event.

Jobs get no access to the program's state: what they need is handed in, what they find is returned. Two threads are for
work that is heavy but pure; what waits for somebody else has threads of its own, so that it holds up nothing.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from app.core.events import Event
from app.core.job_events import JobFailed
from app.core.ports import EventSink
from app.core.words import translate

WORKERS = 2
STOP_SECONDS = 1.0
Work = Callable[[], Event | None]
OnError = Callable[[], Event]

_log = logging.getLogger(__name__)


class Jobs:
    """Runs submitted work on a few threads, started with the first jobs."""

    def __init__(self, sink: EventSink, name: str = "job", workers: int = WORKERS) -> None:
        """`name` is what its threads are called; no more than `workers` of them run."""
        self._sink = sink
        self._name = name
        self._workers = workers
        self._waiting: queue.SimpleQueue[tuple[str, Work, OnError | None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._timers: list[threading.Timer] = []
        self._beside: list[Jobs] = []
        self._stopped = False

    def beside(self, name: str, workers: int) -> Jobs:
        """Return jobs on other threads, for what waits for somebody else; they stop with these."""
        made = Jobs(self._sink, name, workers)
        self._beside.append(made)
        return made

    def submit(self, name: str, work: Work, on_error: OnError | None = None, *, after_s: float = 0.0) -> None:
        """Run `work` on a worker thread and put the event it returns into the sink; `name` is for the log.

        Somebody who waits for that event hands in what ends the waiting when the job breaks. It begins `after_s`
        later at the earliest; nothing waits for it meanwhile.
        """
        if self._stopped:
            return
        job = name, work, on_error
        if after_s:
            timer = threading.Timer(after_s, self._waiting.put, (job,))
            self._timers = [*(each for each in self._timers if each.is_alive()), timer]
            timer.daemon = True
            timer.start()
        else:
            self._waiting.put(job)
        if len(self._threads) < self._workers:
            name = f"{self._name}-{len(self._threads)}"
            thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Drop the jobs that still wait and end the threads; those that take too long end with the process."""
        self._stopped = True
        for others in self._beside:
            others.stop()
        end = time.monotonic() + STOP_SECONDS
        for timer in self._timers:
            timer.cancel()
            timer.join(max(0.0, end - time.monotonic()))
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._timers.clear()
        self._threads.clear()

    def _run(self) -> None:
        while (job := self._waiting.get()) is not None:
            if not self._stopped:
                self._do(*job)
            del job  # what it holds on to may be large, and the next one can be hours away

    def _do(self, name: str, work: Work, on_error: OnError | None) -> None:
        try:
            event = work()
        except Exception:  # noqa: BLE001  the loop must outlive a broken job, whose error is told
            _log.exception("The job %s failed", name)
            event = on_error() if on_error is not None else _failed(name)
        if event is not None:
            self._sink(event)


def _failed(name: str) -> JobFailed:
    return JobFailed(
        name,
        translate("Jobs", "Something in the background failed ({name}); the log has the details.", name=name),
    )
