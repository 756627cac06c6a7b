"""The parent's side of one engine process comes to its end whatever happens on its threads."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.events import EngineGone, Event, Loaded
from app.engine.client import EngineClient
from app.engine.scripted import Script
from tests.engine.harness import GUARD_SECONDS, write_script


def test_a_fault_in_the_thread_that_reads_ends_every_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: told.append(arguments.exc_value))
    fault = ZeroDivisionError()
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def sink(event: Event) -> None:
        if isinstance(event, Loaded):
            raise fault
        events.put(event)

    client = EngineClient(sink, backend="scripted")
    try:
        client.send(Load(1, write_script(tmp_path, Script())))
        while not isinstance(event := events.get(timeout=GUARD_SECONDS), EngineGone):
            pass
    finally:
        client.close()
    assert "fault of its own" in event.sentence.english()
    assert told == [fault]
