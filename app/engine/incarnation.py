"""One life of the engine process: its pipe, its open requests, the thread that reads its events, its end.

Knows nothing of what comes after it; the client starts the next one.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from app.core.commands import (
    Cancel,
    Command,
    Quit,
)
from app.core.events import (
    PROTOCOL_VERSION,
    EngineGone,
    Event,
    Failed,
    Hello,
    Loaded,
    PromptReady,
    Unloaded,
)
from app.core.ports import EventSink
from app.core.words import Sentence, translate
from app.engine import entry
from app.engine.death import OTHER_PROCESSOR, Phase, death_sentence, is_illegal_instruction, log_tail
from app.engine.orders import ANSWERED, FIRST_PHASES, LAST_EVENTS, Order, requests_of, without
from app.engine.spawning import guarded_start
from app.engine.wire import MESSAGE_LIMIT, decode_event, encode

BackendKind = Literal["llama", "scripted"]

END_SECONDS = 2.0
"""An engine that was asked to end, or whose pipe is closed, is ended by force after so long."""
CLOCK_SLACK_NS = 10_000_000_000
"""Clocks further apart than this are not one clock; the first message is never so long on its way."""


class Library(NamedTuple):
    """Which build of llama.cpp a process loads."""

    plain_folder: str = ""
    """Libraries for the processor alone, used where the usual ones cannot be loaded; empty where there are none."""
    unfit: bool = False
    """The usual ones were tried and use instructions that this processor lacks."""

    @property
    def has_another(self) -> bool:
        """Whether there is another build to try after an illegal instruction."""
        return bool(self.plain_folder) and not self.unfit


class Incarnation:
    """An engine process from its start to its end, which it tells: `Unloaded` or `EngineGone`.

    One that ends at an illegal instruction before any model was loaded tells nothing where there is another build of
    llama.cpp to try: what was still wanted of it waits to be taken by `take_left`, and `on_unfit` is called.
    """

    def __init__(
        self,
        sink: EventSink,
        log_path: str,
        backend: BackendKind,
        library: Library,
        on_unfit: Callable[[], None],
        *,
        background: bool = False,
    ) -> None:
        """Start the process; takes some milliseconds. `on_unfit` is called by the thread that reads events.

        A process in the background leaves the processor to other engines.
        """
        self._sink = sink
        self._library = library
        self._on_unfit = on_unfit
        self._log_path = log_path
        self._log_start = Path(log_path).stat().st_size if log_path and Path(log_path).exists() else 0
        self._open: dict[int, Phase] = {}
        self._orders: list[Order] = []
        self._left: tuple[Order, ...] | None = None
        self._unfit = False
        self._state = threading.Lock()
        self._writing = threading.Lock()
        self._alive = True
        self._ending = False
        self._greeted = False
        self._had_model = False
        self._goodbye: EngineGone | None = None
        self._fault: Sentence | None = None
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=entry.run,
            args=(theirs, log_path, backend, *library, background),
            name="tokenlight-engine",
            daemon=True,
        )
        with guarded_start():
            self._process.start()
        theirs.close()
        self.process_id = self._process.pid
        """The process id."""
        self._reader = threading.Thread(target=self._read, name="engine-events", daemon=True)

    def begin(self, orders: tuple[Order, ...]) -> None:
        """Write the first commands and read what comes; each request among them is answered, whatever happens."""
        for order in orders:
            self._note(order)
        self._reader.start()
        for order in orders:
            self._write(order.data)

    @property
    def alive(self) -> bool:
        """Whether the process still takes requests."""
        return self._alive

    @property
    def unfit(self) -> bool:
        """Whether it ended because this processor lacks an instruction, and another build is to be tried."""
        return self._unfit

    def take_left(self) -> tuple[Order, ...] | None:
        """Return once what was still wanted of a process that told nothing of its end; None otherwise."""
        with self._state:
            left, self._left = self._left, None
        return left

    def send(self, command: Command, data: bytes) -> bool:
        """Write a command's bytes; False when this process is gone, so that another one must take it."""
        with self._state:
            if not self._alive:
                return False
            self._note(Order(command, data))
        self._write(data)
        return True

    def _note(self, order: Order) -> None:
        """Keep track of what is open, and of what another process would have to do again."""
        command = order.command
        if isinstance(command, ANSWERED):
            self._open[command.request] = FIRST_PHASES[type(command)]
        if not self._library.has_another or self._had_model:
            return
        if isinstance(command, Cancel):
            self._orders = without(self._orders, command.request)
        elif not isinstance(command, Quit):
            self._orders.append(order)

    def _write(self, data: bytes) -> None:
        # what cannot be written needs no word here: the reader sees the end of the pipe and tells the open requests
        with suppress(OSError), self._writing:
            self._connection.send_bytes(data)

    def end(self) -> None:
        """Ask the process to end and wait for it, with force after two seconds."""
        self._ending = True
        force = threading.Timer(END_SECONDS, self.kill)
        force.start()
        self.send(Quit(), encode(Quit()))
        self._reader.join()
        force.cancel()
        force.join()
        if (left := self.take_left()) is not None:
            tell_stopped(self._sink, requests_of(left))
            self._sink(Unloaded())

    def kill(self) -> None:
        """End the process at once; the reader tells the rest."""
        with suppress(ValueError):  # it ended and was closed just now
            self._process.kill()

    def _read(self) -> None:
        try:
            self._read_events()
        except Exception:
            self._fault = translate("Engine", "The engine met a fault of its own and was stopped. Send again.")
            raise  # to the log, by the hook of the threads
        finally:
            self._finish()

    def _read_events(self) -> None:
        while self._fault is None:
            try:
                event = decode_event(self._connection.recv_bytes(MESSAGE_LIMIT))
            except (EOFError, OSError):
                break
            except msgspec.DecodeError:
                self._fault = translate("Engine", "The engine sent something unreadable and was stopped. Send again.")
                break
            self._follow(event)
            if self._goodbye is None:
                self._sink(event)

    def _follow(self, event: Event) -> None:
        """Keep track of what is open and how far it is."""
        if isinstance(event, Hello):
            self._greeted = True
            apart = abs(time.perf_counter_ns() - event.clock_ns)
            if event.protocol != PROTOCOL_VERSION or apart > CLOCK_SLACK_NS:
                self._fault = translate(
                    "Engine", "The engine is of another version than the program. Install Tokenlight again."
                )
        elif isinstance(event, EngineGone):
            self._goodbye = event  # it says why it is about to end
        elif isinstance(event, PromptReady):
            self._open[event.request] = "answering"
        elif isinstance(event, LAST_EVENTS):
            with self._state:
                self._open.pop(event.request, None)
                self._orders = without(self._orders, event.request)
                if isinstance(event, Loaded):
                    self._had_model = True
                    self._orders.clear()

    def _finish(self) -> None:
        if self._fault is not None:
            self._process.kill()
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        illegal = is_illegal_instruction(code) and self._fault is None
        with self._state:  # whoever finds the process gone finds what it left, too
            self._alive = False
            self._unfit = illegal and self._library.has_another
            silent = self._unfit and not self._had_model and not self._ending
            if silent:
                self._left = tuple(self._orders)
            lost = dict(self._open)
            self._open.clear()
        with self._writing:
            self._connection.close()
        self._process.close()
        if self._ending and not silent:
            tell_stopped(self._sink, lost)
            self._sink(Unloaded())
        elif silent:
            # what is open and was not left was cancelled, and the process did not come to say so
            tell_stopped(self._sink, lost.keys() - set(requests_of(self._orders)))
            self._on_unfit()
        else:
            self._tell_end(code, lost, illegal=illegal)

    def _tell_end(self, code: int, lost: dict[int, Phase], *, illegal: bool) -> None:
        """Say why a process ended by itself."""
        details = log_tail(self._log_path, self._log_start)
        sentence = self._fault or death_sentence(
            code, tuple(lost.values()), greeted=self._greeted, plain_next=self._unfit
        )
        if self._goodbye is not None:
            gone = self._goodbye
            self._sink(EngineGone(code, tuple(lost), gone.sentence, details, gone.fault))
            return
        self._sink(EngineGone(code, tuple(lost), sentence, details, OTHER_PROCESSOR if illegal else None))


def tell_stopped(sink: EventSink, requests: Iterable[int]) -> None:
    """Answer requests that nobody works on any more."""
    for request in requests:
        sink(Failed(request, "cancelled", translate("Engine", "The engine was stopped.")))
