"""Work on untrusted input that must end in time: told to stop after its time, and at the last with the process.

Knows nothing of templates or models. The work runs in a thread of its own that does nothing else, so that the
exception which stops it can never hit the code of the caller.
"""

from __future__ import annotations

import ctypes
import faulthandler
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock, Thread, get_ident
from time import monotonic
from types import TracebackType
from typing import Generic, TextIO, TypeVar

T = TypeVar("T")

RETRY_S = 0.1
"""An exception can get lost in a finaliser; it is sent again until the work is over."""


class Overdue(Exception):
    """The work did not end in its time and was stopped."""


class LastResort:
    """Ends the process when a block takes too long, even when the interpreter's lock is held by one long C call."""

    def __init__(self, seconds: float, report: TextIO | int) -> None:
        self._seconds = seconds
        self._report = report
        self._lock = Lock()
        self._ends: dict[int, float] = {}

    def __enter__(self) -> None:
        with self._lock:
            self._ends[get_ident()] = monotonic() + self._seconds
            self._arm()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            del self._ends[get_ident()]
            self._arm()

    def _arm(self) -> None:
        """Set the process's one timer to the earliest end; it belongs to this object alone."""
        if not self._ends:
            faulthandler.cancel_dump_traceback_later()
            return
        left = max(min(self._ends.values()) - monotonic(), 0.001)
        faulthandler.dump_traceback_later(left, file=self._report, exit=True)


class Deadline:
    """How long work may take, and what guards the process while it runs."""

    def __init__(self, seconds: float, last_resort: AbstractContextManager[None] | None = None) -> None:
        self.seconds = seconds
        self._last_resort = nullcontext() if last_resort is None else last_resort

    def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns or raise what it raises; `Overdue` when it had to be stopped."""
        job = _Job(work)
        with self._last_resort:
            job.start()
            job.join(self.seconds)
            while job.is_alive():
                job.interrupt()
                job.join(RETRY_S)
        return job.outcome()


class _Job(Thread, Generic[T]):
    """The thread that does the work; nothing else ever runs in it."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="deadline", daemon=True)
        self._work = work
        self._result: tuple[T] | None = None
        self._error: Exception | None = None
        self._gate = Lock()
        self._over = False
        self._interrupted = False

    def run(self) -> None:
        """Do the work; SystemExit is what stops it, because a thread ends silently on it wherever it hits."""
        try:
            try:
                self._result = (self._work(),)
            except Exception as error:  # noqa: BLE001  it is raised again where the result is asked for
                self._error = error
            self._close()
        except SystemExit:
            self._close()

    def interrupt(self) -> None:
        """Raise SystemExit in the thread as long as its work is not over."""
        with self._gate:
            if not self._over and self.ident is not None:
                self._interrupted = True
                _stop(self.ident)

    def outcome(self) -> T:
        """Return the result of work that is over, or raise its error."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise Overdue
        return self._result[0]

    def _close(self) -> None:
        """Let no interrupt come any more; one that may still be on its way is replaced by one that is waited for."""
        while not self._over:
            try:
                with self._gate:
                    self._over = True
                    if self._interrupted:
                        _stop(get_ident())
                while self._interrupted:
                    pass
            except SystemExit:
                continue


def _stop(thread: int) -> None:
    """Raise SystemExit in a thread at its next bytecode boundary."""
    # Taking one back with NULL would leave CPython's flag for pending work set for good and slow everything down.
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))
