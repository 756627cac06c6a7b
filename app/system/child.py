"""A process of our own for what may never come back or may end the process that asks; it answers in messages.

Knows nothing of what is asked. It is started like the engine, so that a frozen program can start it too.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.process
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

if sys.platform != "win32":
    import resource

MESSAGE_LIMIT = 1 << 20
END_SECONDS = 2.0
"""A process that was killed and still is there after so long is left to the kernel."""

_FAULT = b"\xc1"
"""Begins a message with a traceback; no MessagePack begins with it, and no text."""
_log = logging.getLogger(__name__)

Target = Callable[..., None]
"""What the process runs: gets its end of the pipe and then the texts that it was given; can be found by its name."""


class ChildFault(Exception):
    """The process met a fault of our own and has ended; the log has its traceback."""


class Child:
    """One such process. `kill` may be called from any thread, the rest from one thread at a time."""

    def __init__(self, target: Target, *words: str) -> None:
        """Start it; raises OSError where the system has no room for another process."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_begin, args=(theirs, target, *words), daemon=True)
        self._code: int | None = None
        self._ending = threading.Lock()
        try:
            _start_deaf(self._process.start)
        except BaseException:
            self._connection.close()
            raise
        finally:
            theirs.close()

    def send(self, message: bytes) -> None:
        """Send a message; a process that is gone does not get it."""
        with suppress(OSError):
            self._connection.send_bytes(message)

    def receive(self, seconds: float) -> bytes:
        """Return its next message; raises TimeoutError when none came in time, EOFError when it has ended.

        Raises `ChildFault` when it ended by an error that nobody there caught.
        """
        try:
            if not self._connection.poll(seconds):
                raise TimeoutError
            message = self._connection.recv_bytes(MESSAGE_LIMIT)
        except TimeoutError:
            raise
        except OSError as error:
            raise EOFError from error
        if message.startswith(_FAULT):
            _log.error("A process of our own failed:\n%s", message.removeprefix(_FAULT).decode("utf-8", "replace"))
            raise ChildFault
        return message

    def kill(self) -> None:
        """End it at once; whoever waits for its message sees the end."""
        with self._ending, suppress(ValueError):  # it was closed just now
            self._process.kill()

    def close(self) -> int | None:
        """End it, if it still runs, and return its exit code; None for one that not even the system can end."""
        if self._connection.closed:
            return self._code
        self.kill()
        self._process.join(END_SECONDS)
        self._code = self._process.exitcode
        with self._ending:
            self._connection.close()
            if self._code is not None:
                self._process.close()
            else:  # the kernel holds it in the driver; the interpreter would wait for it for ever at its own end
                multiprocessing.process._children.discard(self._process)  # type: ignore[attr-defined]  # noqa: SLF001
        return self._code


def _start_deaf(start: Callable[[], None]) -> None:
    """Ctrl+C reaches the whole process group, also a process whose interpreter is just starting."""
    if sys.platform == "win32":
        start()
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _begin(connection: Connection, target: Target, *words: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):  # what a driver or Qt prints is told in our own words
        os.dup2(nowhere, number)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(BrokenPipeError), _Confession(connection):  # whoever asked may have gone
        target(connection, *words)


class _Confession:
    """Sends the traceback of what ends its block: standard error leads nowhere, and the driver is not to blame."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, BrokenPipeError):
            told = "".join(traceback.format_exception(error)).encode("utf-8", "replace")
            self._connection.send_bytes(_FAULT + told[-MESSAGE_LIMIT // 2 :])
