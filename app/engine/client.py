"""The parent's side of the engine process: hands commands over, starts a process when needed.

Knows nothing of llama.cpp and nothing of who listens; the sink must be safe to call from any thread.
"""

from __future__ import annotations

import itertools
import queue
import threading
from typing import Literal

from app.core.commands import Cancel, Command, Quit
from app.core.events import Failed
from app.core.ports import EventSink
from app.core.words import Sentence, translate
from app.engine.incarnation import END_SECONDS, BackendKind, Incarnation, Library, tell_stopped
from app.engine.orders import ANSWERED, Order, requests_of, without
from app.engine.wire import UNSENDABLE, encode

_Task = tuple[Command, bytes] | Literal["again", "close"]
"""“again” says that a process could not run its build of llama.cpp and left its commands to the next one."""


class EngineClient:
    """Implements `core.ports.EnginePort` with a process that is started when a command needs it."""

    def __init__(
        self,
        sink: EventSink,
        *,
        log_path: str = "",
        backend: BackendKind = "llama",
        plain_folder: str = "",
        background: bool = False,
    ) -> None:
        """`log_path` gets what the engine process prints; empty throws it away.

        `plain_folder` holds a build of llama.cpp for the processor alone, used where the usual one cannot run.
        A process in the `background` leaves the processor to other engines.
        """
        self._sink = sink
        self._log_path = log_path
        self._backend: BackendKind = backend
        self._numbers = itertools.count(1)
        self._library = Library(plain_folder)
        self._background = background
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._current: Incarnation | None = None
        self._closed = False

    def new_request(self) -> int:
        """Return a request number that no earlier request had."""
        return next(self._numbers)

    @property
    def running(self) -> bool:
        """Whether an engine process is there."""
        current = self._current
        return current is not None and current.alive

    @property
    def process_id(self) -> int | None:
        """The engine's process id, None when there is none."""
        current = self._current
        return current.process_id if current is not None and current.alive else None

    def send(self, command: Command) -> None:
        """Send a command and return at once; a stopped engine is started first.

        A request that no message can hold fails at once: who waits for its end hears of it.
        """
        try:
            data = encode(command)
        except UNSENDABLE as error:
            if not isinstance(command, ANSWERED):
                raise
            if not self._closed:
                self._sink(Failed(command.request, "engine", _UNSENDABLE, (f"{type(error).__name__}: {error}",)))
        else:
            self._put((command, data))

    def unload(self) -> None:
        """End the engine process in an orderly way; `Unloaded` follows if there was one."""
        self._put((Quit(), encode(Quit())))

    def close(self) -> None:
        """End the engine process for good and wait for it, with force after two seconds."""
        if self._closed:
            return
        self._put("close")
        self._closed = True
        if self._writer is None:
            return
        self._writer.join(2 * END_SECONDS)
        while self._writer.is_alive():  # it waits for a process that reads nothing any more
            if self._current is not None:
                self._current.kill()
            self._writer.join(END_SECONDS)

    def kill(self) -> None:
        """End the process at once, whatever it does; what was asked of it is told as its death."""
        if self._current is not None:
            self._current.kill()

    def _put(self, task: _Task) -> None:
        if self._closed:
            return
        self._tasks.put(task)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="engine-writer", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        """Carry out tasks one after another; a process starts here, where nobody waits for it."""
        while (task := self._tasks.get()) != "close":
            if task == "again":
                self._start(self._left())
            else:
                self._carry_out(*task)
        self._end()

    def _carry_out(self, command: Command, data: bytes) -> None:
        if isinstance(command, Quit):
            self._end()
            return
        current = self._current
        if current is not None and current.send(command, data):
            return
        orders = self._left()
        if isinstance(command, Cancel):
            kept = without(orders, command.request)
            tell_stopped(self._sink, set(requests_of(orders)) - set(requests_of(kept)))
            orders = kept
        else:
            orders.append(Order(command, data))
        self._start(orders)

    def _left(self) -> list[Order]:
        """Return what the last process left to the next one: that comes before anything newer."""
        return list((self._current.take_left() if self._current is not None else None) or ())

    def _start(self, orders: list[Order]) -> None:
        """Start a process for what is wanted, where anything of it is a request."""
        requests = requests_of(orders)
        if not requests:
            return
        self._note_unfit()
        try:
            self._current = Incarnation(
                self._sink,
                self._log_path,
                self._backend,
                self._library,
                lambda: self._put("again"),
                background=self._background,
            )
        except (OSError, RuntimeError) as error:
            for request in requests:
                self._sink(Failed(request, "engine", _cannot_start(error)))
        else:
            self._current.begin(tuple(orders))

    def _note_unfit(self) -> None:
        """Use the plain build from now on, where the last process could not run the usual one."""
        if self._current is not None and self._current.unfit:
            self._library = self._library._replace(unfit=True)

    def _end(self) -> None:
        if self._current is not None:
            self._current.end()
            self._note_unfit()
        self._current = None


def _cannot_start(error: OSError | RuntimeError) -> Sentence:
    return translate(
        "Engine",
        "The engine process cannot be started ({reason}). Close other programs and try again.",
        reason=(isinstance(error, OSError) and error.strerror) or type(error).__name__,
    )


_UNSENDABLE = translate(
    "Engine",
    "This cannot be sent to the engine: a number in its settings is too large. Change the settings and try again.",
)
