"""Two worker threads for work that is heavy but pure; a job's result comes back as an event.

Jobs get no access to the program's state: what they need is handed in, what they find is returned.
"""

from __future__ import annotations

import logging
import queue
import threading
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
    """Runs submitted work on two threads, started with the first job."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._waiting: queue.SimpleQueue[tuple[str, Work, OnError | None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._timers: list[threading.Timer] = []
        self._stopped = False

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
        if len(self._threads) < WORKERS:
            thread = threading.Thread(target=self._run, name=f"job-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Drop the jobs that still wait and end the threads; one that takes too long ends with the process."""
        self._stopped = True
        for timer in self._timers:
            timer.cancel()
            timer.join(STOP_SECONDS)
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(STOP_SECONDS)
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
