"""The parent's side of the engine process: gives out request numbers and orders, starts a process when needed.

Knows nothing of llama.cpp and nothing of who listens; the sink must be safe to call from any thread.
"""

from __future__ import annotations

import itertools
import queue
import threading
from typing import Literal

from app.core.commands import Command, Generate, Load, Quit, Render, Tokenize
from app.core.events import Failed
from app.core.ports import EventSink
from app.core.words import Sentence, translate
from app.engine.incarnation import END_SECONDS, BackendKind, Incarnation
from app.engine.wire import encode

Order = tuple[Command, bytes] | Literal["close"]


class EngineClient:
    """Implements `core.ports.EnginePort` with a process that is started when a command needs it."""

    def __init__(self, sink: EventSink, *, log_path: str = "", backend: BackendKind = "llama") -> None:
        """`log_path` gets what the engine process prints; empty throws it away."""
        self._sink = sink
        self._log_path = log_path
        self._backend: BackendKind = backend
        self._numbers = itertools.count(1)
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
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
        """Send a command and return at once; a stopped engine is started first."""
        self._put((command, encode(command)))

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

    def _put(self, order: Order) -> None:
        if self._closed:
            return
        self._orders.put(order)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="engine-writer", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        """Carry out orders one after another; a process starts here, where nobody waits for it."""
        while (order := self._orders.get()) != "close":
            self._carry_out(*order)
        self._end()

    def _carry_out(self, command: Command, data: bytes) -> None:
        if isinstance(command, Quit):
            self._end()
            return
        current = self._current
        if current is not None and current.send(command, data):
            return
        if isinstance(command, (Load, Generate, Render, Tokenize)):
            try:
                self._current = Incarnation(self._sink, self._log_path, self._backend)
            except (OSError, RuntimeError) as error:
                self._sink(Failed(command.request, "engine", _cannot_start(error)))
            else:
                self._current.send(command, data)

    def _end(self) -> None:
        if self._current is not None:
            self._current.end()
        self._current = None


def _cannot_start(error: OSError | RuntimeError) -> Sentence:
    return translate(
        "Engine",
        "The engine process cannot be started ({reason}). Close other programs and try again.",
        reason=(isinstance(error, OSError) and error.strerror) or type(error).__name__,
    )
