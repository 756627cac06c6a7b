"""An engine process for tests: sends commands and waits for the events that answer them."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec
import numpy as np

from app.core.chat import ChatPrompt, Prompt, PromptMessage
from app.core.commands import Cancel, Command, Generate, Load
from app.core.events import EngineGone, Event, Failed, Finished, Loaded, Tokens
from app.core.model import LoadOptions
from app.core.sampling import PRESETS, SamplingSettings
from app.engine.client import EngineClient
from app.engine.incarnation import BackendKind
from app.engine.scripted import Script
from app.probability.record import TokenRecords, join_blocks, read_records

GUARD_SECONDS = 60.0
GREEDY = PRESETS["Greedy"]
E = TypeVar("E")


def ids_of(data: bytes) -> list[int]:
    """Return token ids from their bytes."""
    return [int(token) for token in np.frombuffer(data, "<i4")]


def user(text: str) -> ChatPrompt:
    """Return a conversation of one message."""
    return ChatPrompt((PromptMessage("user", text),))


def write_script(folder: Path, script: Script) -> str:
    """Write a script for the scripted backend and return its path."""
    path = folder / "script.json"
    path.write_bytes(msgspec.json.encode(script))
    return str(path)


class Engine:
    """A client whose events are kept in order."""

    def __init__(self, backend: BackendKind = "llama", log_path: str = "") -> None:
        self.inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.seen: list[Event] = []
        self.client = EngineClient(self.inbox.put, log_path=log_path, backend=backend)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def send(self, command: Command) -> None:
        """Send a command."""
        self.client.send(command)

    def events(self) -> Iterator[Event]:
        """Yield events as they come; nothing for a minute fails the test."""
        while True:
            try:
                event = self.inbox.get(timeout=GUARD_SECONDS)
            except queue.Empty:
                last = [type(event).__name__ for event in self.seen[-3:]]
                raise AssertionError(f"the engine said nothing more; last: {last}") from None
            self.seen.append(event)
            yield event

    def wait(self, *kinds: type[E], request: int | None = None) -> E:
        """Return the next event of one of these kinds (of this request)."""
        for event in self.events():
            if isinstance(event, kinds) and (request is None or getattr(event, "request", request) == request):
                return event
        raise AssertionError

    def load(self, path: str | Path, **options: object) -> Loaded:
        """Load a model and wait until it is ready."""
        request = self.client.new_request()
        self.send(Load(request, str(path), LoadOptions(**options)))  # type: ignore[arg-type]
        event = self.wait(Loaded, Failed, EngineGone)
        assert isinstance(event, Loaded), event
        return event

    def start(self, prompt: Prompt | str, settings: SamplingSettings = GREEDY, **more: object) -> int:
        """Send a prompt and return its request number."""
        request = self.client.new_request()
        chat = user(prompt) if isinstance(prompt, str) else prompt
        self.send(Generate(request, chat, settings, time.perf_counter_ns(), **more))  # type: ignore[arg-type]
        return request

    def ask(self, prompt: Prompt | str, settings: SamplingSettings = GREEDY, **more: object) -> Finished:
        """Send a prompt and wait for the whole answer."""
        request = self.start(prompt, settings, **more)
        event = self.wait(Finished, Failed, EngineGone, request=request)
        assert isinstance(event, Finished), event
        return event

    def cancel(self, request: int) -> None:
        """Cancel a request."""
        self.send(Cancel(request))

    def tokens(self, request: int) -> list[Tokens]:
        """Return the token events of a request that were seen."""
        return [event for event in self.seen if isinstance(event, Tokens) and event.request == request]


def records_of(events: Iterable[Event], request: int) -> TokenRecords:
    """Return the per-token records of an answer."""
    blocks = [event.record for event in events if isinstance(event, Tokens) and event.request == request]
    return read_records(join_blocks(blocks))


def assert_same_answer(first: TokenRecords, second: TokenRecords, nearness: float = 0.02) -> None:
    """Equal tokens, or at the first difference both candidates as likely as each other in both runs."""
    shorter = min(len(first), len(second))
    different = np.flatnonzero(first.tokens[:shorter] != second.tokens[:shorter])
    if not len(different):
        assert len(first) == len(second)
        return
    place = int(different[0])
    rivals = (int(first.tokens[place]), int(second.tokens[place]))
    for records in (first, second):
        ids, log_probability = records.alternatives(place)
        left, right = (float(log_probability[ids == token][0]) for token in rivals)
        print(f"the answers part at token {place}, {abs(left - right):.4f} apart")
        assert abs(left - right) <= nearness
