"""Runs comparisons for tests, in this process or in an engine's, and sorts what they tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
import numpy as np

from app.core.chat import Prompt
from app.core.commands import Compare
from app.core.events import Compared, Event, LaneFinished, LanesPlanned, LaneTokens
from app.core.sampling import SamplingSettings
from app.engine.backend import Backend
from app.engine.comparing import Comparing
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.probability.record import TokenRecords, join_blocks, read_records
from tests.engine.harness import Engine, ids_of, user

E = TypeVar("E")
QUESTION = user("Why is the sky blue?")


def limited(settings: SamplingSettings, tokens: int, **changes: Any) -> SamplingSettings:
    """Return settings with a limit."""
    return msgspec.structs.replace(settings, max_tokens=tokens, **changes)


class Told:
    """The events of one comparison."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = tuple(events)

    def all(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def one(self, kind: type[E]) -> E:
        """Return the only event of a kind."""
        (found,) = self.all(kind)
        return found

    @property
    def plan(self) -> LanesPlanned:
        """How the lanes shared the cells."""
        return self.one(LanesPlanned)

    @property
    def end(self) -> Compared:
        """The end."""
        assert isinstance(self.events[-1], Compared)
        return self.events[-1]

    def lane(self, number: int) -> LaneFinished:
        """Return the end of a lane, of which there is one."""
        (found,) = (event for event in self.all(LaneFinished) if event.lane == number)
        return found

    def ids(self, number: int) -> list[int]:
        """Return the tokens of a lane, as they were told at its end."""
        return ids_of(self.lane(number).finished.ids)

    def streamed(self, number: int) -> tuple[list[int], str]:
        """Return tokens and text of a lane, as they came in parts."""
        parts = [event.tokens for event in self.all(LaneTokens) if event.lane == number]
        assert [part.first for part in parts] == [sum(part.count for part in parts[:n]) for n in range(len(parts))]
        return ids_of(b"".join(part.ids for part in parts)), "".join(part.text for part in parts)

    def records(self, number: int) -> TokenRecords:
        """Return the record of a lane."""
        parts = [event.tokens.record for event in self.all(LaneTokens) if event.lane == number]
        return read_records(join_blocks(parts))


def compare(
    backend: Backend,
    cache: KVCache,
    lanes: Iterable[SamplingSettings],
    prompt: Prompt = QUESTION,
    on_event: Callable[[Event, Control], None] = lambda event, control: None,
    **more: Any,
) -> Told:
    """Run a comparison to its end in this process."""
    control = Control(1)
    command = Compare(1, prompt, tuple(lanes), time.perf_counter_ns(), **more)
    events = []
    for event in Comparing(backend, cache, command, control).run():
        events.append(event)
        on_event(event, control)
    return Told(events)


def compare_in(engine: Engine, lanes: Iterable[SamplingSettings], prompt: Prompt = QUESTION) -> Told:
    """Run a comparison in an engine's process."""
    request = engine.client.new_request()
    engine.send(Compare(request, prompt, tuple(lanes), time.perf_counter_ns()))
    engine.wait(Compared, request=request)
    return Told(event for event in engine.seen if getattr(event, "request", None) == request)


def assert_same_draws(first: TokenRecords, second: TokenRecords, nearness: float) -> None:
    """Equal tokens up to the first that differs, drawn from distributions that are the same up to rounding.

    Where many tokens are likely, a draw falls on another one as soon as they change places by a hair: then the tokens
    themselves say nothing, and what they were drawn from does. `nearness` is in log-probability.
    """
    shorter = min(len(first), len(second))
    different = np.flatnonzero(first.tokens[:shorter] != second.tokens[:shorter])
    same = int(different[0]) if len(different) else shorter
    assert len(different) or len(first) == len(second)
    gaps = []
    for place in range(min(same + 1, shorter)):
        (left, left_near), (right, right_near) = first.alternatives(place), second.alternatives(place)
        shared, ours, theirs = np.intersect1d(left, right, return_indices=True)
        assert len(shared) >= min(len(left), len(right)) // 2
        gaps.append(float(np.abs(left_near[ours].astype(float) - right_near[theirs].astype(float)).max()))
    print(f"the same for {same} of {shorter} tokens, distributions at most {max(gaps):.4f} apart")
    assert max(gaps) <= nearness
