"""Writes answers once more for tests, and compares."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from app.core.chat import ChatPrompt
from app.core.commands import Reproduce
from app.core.events import Event, PromptReady, Tokens
from app.core.replay_events import Reproduced
from app.core.sampling import SamplingSettings
from app.engine.backend import Backend
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.reproducing import reproduce
from tests.engine.harness import ids_of
from tests.engine.test_going_on import QUESTION
from tests.engine.test_loop import finished, run

NEARNESS = 0.02


def written(
    backend: Backend, cache: KVCache, settings: SamplingSettings, prompt: object = None, **more: Any
) -> Reproduce:
    """Write an answer, and return the command that writes it once more."""
    events = run(backend, prompt or ChatPrompt((QUESTION,)), settings, cache=cache, **more)
    done, ready = finished(events), next(event for event in events if isinstance(event, PromptReady))
    assert done.seed is not None
    return Reproduce(
        request=2,
        prompt=ready.ids,
        ids=done.ids,
        settings=done.settings,
        seed=done.seed,
        sent_ns=time.perf_counter_ns(),
        spans=ready.spans,
        record=records_of(events),
    )


def records_of(events: list[Event]) -> tuple[bytes, ...]:
    """Return the record of an answer as it is kept."""
    return tuple(event.record for event in events if isinstance(event, Tokens))


def again(
    backend: Backend,
    cache: KVCache,
    command: Reproduce,
    on_event: Callable[[Event, Control], None] = lambda event, control: None,
) -> list[Event]:
    """Write an answer once more and return the events."""
    control = Control(command.request)
    events = []
    for event in reproduce(backend, cache, command, control):
        events.append(event)
        on_event(event, control)
    return events


def end_of(events: list[Event]) -> Reproduced:
    last = events[-1]
    assert isinstance(last, Reproduced)
    return last


def assert_same(done: Reproduced, command: Reproduce) -> None:
    """All tokens are the same, or at the first other one both were as good as equal in both runs, or its draw fell
    as near to the border of the other one, which is no tie of the two.
    """
    if done.difference is None:
        assert done.compared == len(command.ids) // 4
        return
    print(done.difference)
    found = done.difference
    is_tie = found.stored_gap is not None and max(found.gap, found.stored_gap) <= NEARNESS
    is_near_draw = found.draw_distance is not None and found.draw_distance <= NEARNESS
    assert is_tie or is_near_draw


def assert_cache_is_true(cache: KVCache, command: Reproduce, done: Reproduced) -> None:
    """The cells hold the beginning of prompt and answer, as many as is said."""
    assert done.kv.cells_used == cache.used
    assert list(cache.ids) == ids_of(command.prompt + command.ids)[: cache.used]
