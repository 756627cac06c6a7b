"""One life of the engine process: its pipe, its open requests, the thread that reads its events, its end.

Knows nothing of what comes after it; the client starts the next one.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from app.core.commands import Command, Generate, Load, Quit, Render, Tokenize
from app.core.events import (
    PROTOCOL_VERSION,
    EngineGone,
    Event,
    Failed,
    Finished,
    Hello,
    Loaded,
    PromptReady,
    Rendered,
    Tokenized,
    Unloaded,
)
from app.core.ports import EventSink
from app.core.words import Sentence, translate
from app.engine import entry
from app.engine.death import Phase, death_sentence, log_tail
from app.engine.spawning import guarded_start
from app.engine.wire import MESSAGE_LIMIT, decode_event, encode

BackendKind = Literal["llama", "scripted"]

END_SECONDS = 2.0
"""An engine that was asked to end, or whose pipe is closed, is ended by force after so long."""
CLOCK_SLACK_NS = 10_000_000_000
"""Clocks further apart than this are not one clock; the first message is never so long on its way."""

FIRST_PHASES: dict[type[Command], Phase] = {
    Load: "loading",
    Generate: "preparing",
    Render: "preparing",
    Tokenize: "preparing",
}
LAST_EVENTS = (Loaded, Finished, Failed, Rendered, Tokenized)


class Incarnation:
    """An engine process from its start to its end, which it always tells: `Unloaded` or `EngineGone`."""

    def __init__(self, sink: EventSink, log_path: str, backend: BackendKind) -> None:
        """Start the process; takes some milliseconds."""
        self._sink = sink
        self._log_path = log_path
        self._log_start = Path(log_path).stat().st_size if log_path and Path(log_path).exists() else 0
        self._open: dict[int, Phase] = {}
        self._state = threading.Lock()
        self._writing = threading.Lock()
        self._alive = True
        self._ending = False
        self._greeted = False
        self._fault: Sentence | None = None
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=entry.run, args=(theirs, log_path, backend), name="tokenlight-engine", daemon=True
        )
        with guarded_start():
            self._process.start()
        theirs.close()
        self.process_id = self._process.pid
        """The process id."""
        self._reader = threading.Thread(target=self._read, name="engine-events", daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether the process still takes requests."""
        return self._alive

    def send(self, command: Command, data: bytes) -> bool:
        """Write a command's bytes; False when this process is gone, so that another one must take it."""
        with self._state:
            if not self._alive:
                return False
            phase = FIRST_PHASES.get(type(command))
            if phase is not None and isinstance(command, (Load, Generate, Render, Tokenize)):
                self._open[command.request] = phase
        try:
            with self._writing:
                self._connection.send_bytes(data)
        except OSError:
            return True  # the reader sees the end of the pipe and tells it with the open requests
        return True

    def end(self) -> None:
        """Ask the process to end and wait for it, with force after two seconds."""
        self._ending = True
        force = threading.Timer(END_SECONDS, self.kill)
        force.start()
        self.send(Quit(), encode(Quit()))
        self._reader.join()
        force.cancel()
        force.join()

    def kill(self) -> None:
        """End the process at once; the reader tells the rest."""
        with suppress(ValueError):  # it ended and was closed just now
            self._process.kill()

    def _read(self) -> None:
        while self._fault is None:
            try:
                event = decode_event(self._connection.recv_bytes(MESSAGE_LIMIT))
            except (EOFError, OSError):
                break
            except msgspec.DecodeError:
                self._fault = translate("Engine", "The engine sent something unreadable and was stopped. Send again.")
                break
            self._follow(event)
            self._sink(event)
        self._finish()

    def _follow(self, event: Event) -> None:
        """Keep track of what is open and how far it is."""
        if isinstance(event, Hello):
            self._greeted = True
            apart = abs(time.perf_counter_ns() - event.clock_ns)
            if event.protocol != PROTOCOL_VERSION or apart > CLOCK_SLACK_NS:
                self._fault = translate(
                    "Engine", "The engine is of another version than the program. Install Tokenlight again."
                )
        elif isinstance(event, PromptReady):
            self._open[event.request] = "answering"
        elif isinstance(event, LAST_EVENTS):
            self._open.pop(event.request, None)

    def _finish(self) -> None:
        if self._fault is not None:
            self._process.kill()
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        with self._state:
            self._alive = False
            lost = dict(self._open)
            self._open.clear()
        with self._writing:
            self._connection.close()
        code = self._process.exitcode or 0
        self._process.close()
        if self._ending:
            for request in lost:
                self._sink(Failed(request, "cancelled", translate("Engine", "The engine was stopped.")))
            self._sink(Unloaded())
            return
        details = log_tail(self._log_path, self._log_start)
        sentence = self._fault or death_sentence(code, tuple(lost.values()), greeted=self._greeted)
        self._sink(EngineGone(code, tuple(lost), sentence, details))
