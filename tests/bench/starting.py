"""How long the engine process takes from its start until it would load a model."""

from __future__ import annotations

import statistics
import time

from app.core.commands import Tokenize
from app.core.events import Hello
from tests.bench.arithmetic import Measurement, runs
from tests.bench.engine_user import EngineUser
from tests.bench.setting import Setting


def engine_start(setting: Setting) -> Measurement:
    """Measure from the first command, which starts the process, to its first message."""
    seconds = []
    for _ in runs(setting.seconds):
        with EngineUser() as engine:
            began = time.perf_counter_ns()
            engine.client.send(Tokenize(engine.client.new_request(), ""))
            while not isinstance((arrival := engine.next()).event, Hello):
                pass
            seconds.append((arrival.at_ns - began) / 1e9)
    return Measurement(statistics.median(seconds), seconds)
