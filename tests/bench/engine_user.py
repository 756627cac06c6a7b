"""The engine process as the command line uses it: events come through the inbox, one thread drains them blocking."""

from __future__ import annotations

import queue
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from app.core.chat import Prompt, TokenPrompt
from app.core.commands import Cancel, Compare, Generate, Load, RecordKind
from app.core.comparison import SharedPrefill
from app.core.events import Compared, EngineGone, Event, Failed, Finished, LaneFinished, Loaded, Tokens
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.engine.client import EngineClient
from app.system.inbox import Inbox
from tests.bench.arithmetic import BenchError
from tests.bench.setting import CELLS

SILENCE_S = 600.0
"""An engine that says nothing for so long hangs."""

E = TypeVar("E", bound=Event)


def token_prompt(ids: list[int]) -> TokenPrompt:
    """Return a prompt of these ids."""
    return TokenPrompt(np.asarray(ids, "<i4").tobytes())


@dataclass(frozen=True)
class Arrival:
    """An event and when the draining thread had it (`perf_counter_ns`)."""

    at_ns: int
    event: Event


class EngineUser:
    """One client with one engine process."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._inbox.on_first(lambda _is_urgent: self._wakes.put(None))
        self._waiting: deque[Arrival] = deque()
        self._folder = tempfile.TemporaryDirectory(prefix="tokenlight-bench-")
        self.client = EngineClient(self._inbox.put, log_path=str(Path(self._folder.name) / "engine.log"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self._folder.cleanup()

    @property
    def process_id(self) -> int:
        """The engine's process id."""
        number = self.client.process_id
        if number is None:
            raise BenchError("The engine process is not there.")
        return number

    def load(self, model: Path, threads: int, checkpoints: int = 8) -> None:
        """Load the model with the context of the benchmarks."""
        request = self.client.new_request()
        options = LoadOptions(context=CELLS, threads=threads, checkpoints=checkpoints)
        self.client.send(Load(request, str(model), options))
        self.wait(Loaded, request)

    def generate(self, prompt: Prompt, settings: SamplingSettings, record: RecordKind = "all") -> int:
        """Send a prompt and return the request's number."""
        request = self.client.new_request()
        self.client.send(Generate(request, prompt, settings, time.perf_counter_ns(), record=record))
        return request

    def compare(self, prompt: Prompt, lanes: tuple[SamplingSettings, ...]) -> int:
        """Send a prompt for lanes with these settings, record on, and return the request's number."""
        request = self.client.new_request()
        self.client.send(Compare(request, prompt, lanes, time.perf_counter_ns()))
        return request

    def compared(self, request: int) -> tuple[dict[int, Finished], SharedPrefill]:
        """Drain a comparison to its end; returns the ends of its lanes and what they shared."""
        ends: dict[int, Finished] = {}
        while True:
            match self.next().event:
                case LaneFinished(request=number, lane=lane, finished=end) if number == request:
                    ends[lane] = end
                case Compared(request=number, prefill=prefill) if number == request:
                    return ends, prefill

    def cancel(self, request: int) -> None:
        """Cancel a request."""
        self.client.send(Cancel(request))

    def seconds_to_end(self, request: int) -> float:
        """Cancel a request and return how long its end takes; raises `BenchError` where it ended by itself."""
        began = time.perf_counter_ns()
        self.cancel(request)
        while not isinstance((arrival := self.next()).event, Finished):
            pass
        if arrival.event.stop_reason != "cancelled":
            raise BenchError(f"The prompt was not cancelled but ended with {arrival.event.stop_reason}.")
        return (arrival.at_ns - began) / 1e9

    def answer(self, request: int) -> tuple[list[Tokens], Finished]:
        """Drain an answer to its end; returns its token events and the end."""
        tokens: list[Tokens] = []
        while True:
            event = self.next().event
            if isinstance(event, Tokens) and event.request == request:
                tokens.append(event)
            elif isinstance(event, Finished) and event.request == request:
                return tokens, event

    def wait(self, kind: type[E], request: int) -> E:
        """Return the next event of a kind and a request."""
        while True:
            event = self.next().event
            if isinstance(event, kind) and getattr(event, "request", request) == request:
                return event

    def next(self) -> Arrival:
        """Return the next event; raises `BenchError` when the engine refuses, is gone or hangs."""
        arrival = self.next_within(SILENCE_S)
        if arrival is None:
            raise BenchError(f"The engine said nothing for {SILENCE_S:.0f} seconds.")
        return arrival

    def next_within(self, seconds: float) -> Arrival | None:
        """Return the next event, or None when none comes in time."""
        until = time.perf_counter() + seconds
        while not self._waiting:
            try:
                self._wakes.get(timeout=max(0.0, until - time.perf_counter()))
            except queue.Empty:
                return None
            at_ns = time.perf_counter_ns()
            self._waiting.extend(Arrival(at_ns, event) for event in self._inbox.drain())
        arrival = self._waiting.popleft()
        if isinstance(arrival.event, (Failed, EngineGone)):
            raise BenchError(" ".join((arrival.event.sentence.english(), *arrival.event.details[-1:])))
        return arrival
