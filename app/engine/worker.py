"""The engine process: one command loop, a reader that looks for cancels, and a second thread for text.

Knows the pipe and the order of work; what happens to a prompt is the loop's, what it runs on is the backend's.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import assert_never

import msgspec

from app.core.commands import (
    Cancel,
    ChangeSettings,
    Command,
    Compare,
    DropState,
    Generate,
    ListDevices,
    ListPieces,
    Load,
    MeasureBandwidth,
    MeasureMemory,
    Quit,
    ReadAttention,
    Render,
    Reproduce,
    ScorePrompt,
    SetPace,
    StepOn,
    StopLane,
    TimeOperations,
    Tokenize,
    Watch,
)
from app.core.errors import UserError
from app.core.events import (
    PROTOCOL_VERSION,
    DevicesListed,
    EngineGone,
    Event,
    Failed,
    FailureKind,
    Hello,
    Loaded,
    LoadProgress,
)
from app.core.words import Sentence, translate
from app.engine.attention import read_attention
from app.engine.backend import Backend, ContextLost
from app.engine.comparing import Comparing
from app.engine.control import Control
from app.engine.deadline import Deadline, LastResort
from app.engine.failures import LoadRefused, failure_kind
from app.engine.kv_cache import KVCache
from app.engine.letting_go import LettingGo
from app.engine.loop import Answer, cancelled_before_start
from app.engine.opening import Opener, opener_for
from app.engine.operations import time_operations
from app.engine.prompt_size import PromptTooLong
from app.engine.reproducing import cancelled_before_replay, reproduce
from app.engine.scoring import score
from app.engine.state_keeping import StateKeeping
from app.engine.talking import describe_text
from app.engine.template_errors import RENDER_SECONDS
from app.engine.wire import MESSAGE_LIMIT, decode_command, encode

PROGRESS_NS = 50_000_000
STACK_BYTES = 256 * 1024 * 1024
"""llama.cpp splits text with recursive regular expressions: a long word needs stack, which costs nothing unused."""
EXIT_PARENT_GONE = 0
EXIT_CONTEXT_LOST = 5
LAST_RESORT_SECONDS = 8.0
"""A template that holds the interpreter for so long ends the process; the parent starts a fresh one."""
Inspect = ScorePrompt | ReadAttention | TimeOperations
Work = Load | Generate | Reproduce | Compare | Inspect | MeasureBandwidth | MeasureMemory | DropState
"""What is done one after another, on the main thread."""
Talk = Tokenize | Render | ListPieces | ListDevices
"""What is answered meanwhile."""


class Worker:
    """Reads commands on one thread, loads and generates on the main one, answers about text on a third."""

    def __init__(self, connection: Connection, opener: Opener) -> None:
        self._connection = connection
        self._opener = opener
        self._sending = threading.Lock()
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._vocabulary_in_use = threading.Lock()
        self._texts: queue.SimpleQueue[Talk | None] = queue.SimpleQueue()
        self._controls: dict[int, Control] = {}
        self._watch = Watch(on=False)
        self._deadline = Deadline(RENDER_SECONDS, LastResort(LAST_RESORT_SECONDS, sys.stderr))
        self._backend: Backend | None = None
        self._cache: KVCache | None = None
        self._letting_go = LettingGo()
        self._keeping = StateKeeping(self._send)

    def run(self) -> None:
        """Say hello and work until told to quit."""
        modules = tuple(sorted({name.partition(".")[0] for name in sys.modules}))
        self._send(Hello(PROTOCOL_VERSION, os.getpid(), time.perf_counter_ns(), modules))
        threading.Thread(target=self._read, name="engine-reader", daemon=True).start()
        threading.Thread(target=self._answer_texts, name="engine-text", daemon=True).start()
        threading.stack_size(0)  # the threads that tokenise have theirs
        while (command := self._next_work()) is not None:
            control = self._controls.get(command.request) or Control(command.request)
            self._guarded(command.request, partial(self._do, command, control))
            self._controls.pop(command.request, None)
        self._free()
        self._connection.close()

    def _next_work(self) -> Work | None:
        """Return what is to be done next; meanwhile, free what nothing reads any more, and keep what nobody goes on with."""
        while True:
            self._letting_go.free_unread()
            waits = [wait for wait in (self._letting_go.waits_s, self._keeping.waits_s) if wait is not None]
            try:
                return self._work.get(timeout=min(waits, default=None))
            except queue.Empty:
                self._guarded(0, self._keeping.keep_if_due)

    def _do(self, command: Work, control: Control) -> None:
        match command:
            case Load():
                self._load(command, control)
            case Generate():
                self._generate(command, control)
            case Reproduce():
                self._reproduce(command, control)
            case Compare():
                self._compare(command, control)
            case ScorePrompt() | ReadAttention() | TimeOperations():
                self._inspect(command, control)
            case MeasureBandwidth():
                self._send(self._opener.bandwidth(command, lambda: control.cancelled))
            case MeasureMemory():
                self._send(self._opener.measure(command, lambda: control.cancelled))
            case DropState():
                self._keeping.drop(command.name_begins)
            case _:
                assert_never(command)

    def _free(self) -> None:
        """Free the model, or once native work that is left to itself is over; the text thread may read its vocabulary."""
        self._keeping.close()
        with self._vocabulary_in_use:
            if self._backend is not None:
                self._letting_go.free(self._backend)
            self._backend = self._cache = None

    def _send(self, event: Event) -> None:
        data = encode(event)
        with self._sending:
            self._connection.send_bytes(data)

    def _read(self) -> None:
        """Take commands as they come; the end of the pipe means that the parent is gone."""
        while True:
            try:
                command = decode_command(self._connection.recv_bytes(MESSAGE_LIMIT))
            except (EOFError, OSError, msgspec.DecodeError):
                os._exit(EXIT_PARENT_GONE)
            self._route(command)

    def _route(self, command: Command) -> None:
        match command:
            case (
                Load()
                | Generate()
                | Reproduce()
                | Compare()
                | ScorePrompt()
                | ReadAttention()
                | TimeOperations()
                | MeasureBandwidth()
                | MeasureMemory()
            ):
                rate = command.tokens_per_s if isinstance(command, Generate) else None
                self._controls[command.request] = Control(command.request, rate)
                self._work.put(command)
            case Tokenize() | Render() | ListPieces() | ListDevices():
                self._texts.put(command)
            case DropState():
                self._work.put(command)
            case Cancel():
                if (control := self._controls.get(command.request)) is not None:
                    control.cancel()
            case StopLane():
                if (control := self._controls.get(command.request)) is not None:
                    control.stopped |= {command.lane}
            case ChangeSettings():
                if (control := self._controls.get(command.request)) is not None:
                    control.settings = command.settings
            case SetPace():
                if (control := self._controls.get(command.request)) is not None:
                    control.pacing.set_rate(command.tokens_per_s)
            case StepOn():
                if (control := self._controls.get(command.request)) is not None:
                    control.pacing.give(command.token, command.place)
            case Watch():
                self._watch = command
            case Quit():
                for control in tuple(self._controls.values()):
                    control.cancel()
                self._work.put(None)
            case _:
                assert_never(command)

    def _guarded(self, request: int, work: Callable[[], None]) -> None:
        """Turn whatever goes wrong into an event: the process stays, the request ends with a sentence."""
        try:
            work()
        except ContextLost as error:
            self._leave(error)
        except LoadRefused as error:
            self._fail(request, error.kind, error.sentence, error.log)
        except UserError as error:
            tokens = error.tokens if isinstance(error, PromptTooLong) else None
            self._send(Failed(request, failure_kind(error), error.sentence, tokens=tokens))
        except (BrokenPipeError, ConnectionResetError):
            os._exit(EXIT_PARENT_GONE)
        except Exception as error:  # noqa: BLE001  the worker loop: nothing may end it silently
            sys.excepthook(type(error), error, error.__traceback__)
            reason = translate(
                "Engine",
                "The engine met a fault of its own ({fault}). Try again; the log has the details.",
                fault=type(error).__name__,
            )
            self._fail(request, "engine", reason, (repr(error),))

    def _leave(self, lost: ContextLost) -> None:
        """End the process, of no use without its context: the parent tells all that is open and forgets the model."""
        with self._sending:  # to the end: after the farewell nobody listens
            self._connection.send_bytes(encode(EngineGone(EXIT_CONTEXT_LOST, (), lost.sentence)))
            os._exit(EXIT_CONTEXT_LOST)

    def _fail(self, request: int, kind: FailureKind, sentence: Sentence, details: tuple[str, ...] = ()) -> None:
        self._send(Failed(request, kind, sentence, details))

    def _load(self, command: Load, control: Control) -> None:
        self._free()
        sent_ns = 0

        def progress(percent: float) -> bool:
            nonlocal sent_ns
            now = time.perf_counter_ns()
            if now - sent_ns >= PROGRESS_NS or percent >= 100:
                sent_ns = now
                self._send(LoadProgress(command.request, percent))
            return not control.cancelled

        backend = self._opener(command, progress)
        if control.cancelled:
            backend.close()
            raise LoadRefused.cancelled()
        self._cache = KVCache(backend, command.options.checkpoints)
        self._backend = backend
        self._letting_go.note_loaded()
        self._send(Loaded(command.request, backend.info))

    def _generate(self, command: Generate, control: Control) -> None:
        backend, cache = self._loaded()
        if control.cancelled:
            self._send(cancelled_before_start(backend, cache, command))
            return
        self._keeping.begin(backend, cache, command.kept, control.is_cancelled)
        answer = Answer(backend, cache, command, control, self._deadline)
        for event in answer.run(lambda: self._watch.on, lambda: self._watch.whole):
            self._send(event)
        self._keeping.ended()

    def _reproduce(self, command: Reproduce, control: Control) -> None:
        backend, cache = self._loaded()
        if control.cancelled:
            self._send(cancelled_before_replay(cache, command))
            return
        self._keeping.begin(backend, cache)
        for event in reproduce(backend, cache, command, control):
            self._send(event)

    def _compare(self, command: Compare, control: Control) -> None:
        backend, cache = self._loaded()
        self._keeping.begin(backend, cache)
        comparing = Comparing(backend, cache, command, control, self._deadline)
        for event in comparing.cancelled() if control.cancelled else comparing.run():
            self._send(event)

    def _inspect(self, command: Inspect, control: Control) -> None:
        """Have tokens read in a context of their own."""
        backend, _ = self._loaded()
        match command:
            case ScorePrompt():
                events = score(backend, command, control)
            case ReadAttention():
                events = read_attention(backend, command, control)
            case TimeOperations():
                events = time_operations(backend, command, control)
        for event in events:
            self._send(event)

    def _loaded(self) -> tuple[Backend, KVCache]:
        backend, cache = self._backend, self._cache
        if backend is None or cache is None:
            raise UserError(translate("Engine", "No model is loaded. Open a model first."))
        return backend, cache

    def _answer_texts(self) -> None:
        while (command := self._texts.get()) is not None:
            self._guarded(command.request, partial(self._answer_text, command))

    def _answer_text(self, command: Talk) -> None:
        if isinstance(command, ListDevices):
            self._send(DevicesListed(command.request, *self._opener.devices()))
            return
        with self._vocabulary_in_use:
            event = describe_text(command, self._loaded()[0], self._deadline)
        self._send(event)


def run(connection: Connection, backend: str) -> None:
    """Run the engine over a pipe until the parent says so; `backend` is "llama" or "scripted"."""
    threading.stack_size(STACK_BYTES)
    loop = threading.Thread(target=Worker(connection, opener_for(backend)).run, name="engine-loop")
    loop.start()
    loop.join()
