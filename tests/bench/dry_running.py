"""How long a dry run takes: in a process that is up, and with the start of one."""

from __future__ import annotations

import itertools
import queue
import statistics
import time
from pathlib import Path

from app.core.events import Event, MemoryMeasured
from app.core.model import LoadOptions
from app.engine.dry_run_client import DryRunClient
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.setting import Setting

CONTEXTS = (2_048, 8_192, 4_096, 1_024)
"""No two configurations after each other are the same."""
COLD_RUNS = 5
COLD_BAR_S = 1.2
SILENCE_S = 60.0


def dry_run(setting: Setting) -> Measurement:
    """Measure one configuration after another in one process, and before them some processes of their own."""
    cold = [_cold(setting.model) for _ in range(COLD_RUNS)]
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    client = DryRunClient(events.put)
    try:
        _measure(client, events, setting.model, 1, CONTEXTS[-1])
        contexts = itertools.cycle(CONTEXTS)
        seconds = [
            _measure(client, events, setting.model, number + 2, next(contexts))
            for number in runs(setting.seconds / 2)
        ]
    finally:
        client.close()
    middle = statistics.median(cold)
    more = {"cold_s": round(middle, 4), "cold_bar": COLD_BAR_S, "cold_met": middle <= COLD_BAR_S}
    return Measurement(statistics.median(seconds), seconds, more=more)


def _cold(model: Path) -> float:
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    client = DryRunClient(events.put)
    try:
        return _measure(client, events, model, 1, CONTEXTS[0])
    finally:
        client.close()


def _measure(
    client: DryRunClient, events: queue.SimpleQueue[Event], model: Path, request: int, context: int
) -> float:
    """Return the seconds from the question to its answer."""
    began = time.perf_counter()
    client.measure(request, str(model), LoadOptions(context=context))
    event = events.get(timeout=SILENCE_S)
    seconds = time.perf_counter() - began
    if not isinstance(event, MemoryMeasured) or event.request != request or event.context != context:
        raise BenchError(f"The dry run answered with {type(event).__name__}.")
    return seconds
