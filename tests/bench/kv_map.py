"""How long the map of a large KV cache takes to be painted again when its cells change."""

from __future__ import annotations

import statistics

from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.children import Child
from tests.bench.setting import Setting

CHANGES = ("read", "write", "lanes", "look", "blocks", "cells")
"""What changes: a chunk is read, a token written, lanes grow, another cell is looked at, or they are shown otherwise."""
ROUNDS = 12


def kv_map_paint(_setting: Setting) -> Measurement:
    """Measure each change so many times; the value is the median of all, the worst stands beside it."""
    runs: list[float] = []
    worst: dict[str, float] = {}
    with Child("tests.bench.kv_map_process", environment={"QT_QPA_PLATFORM": "offscreen"}) as child:
        for change in CHANGES:
            for number in range(ROUNDS + 1):
                answer = child.ask("change", kind=change)
                if not answer["painted"]:
                    raise BenchError(f"The map was not painted again with “{change}”.")
                if number:  # the first one of a kind lays out what the others find
                    runs.append(answer["ns"] / 1e6)
                    worst[change] = max(worst.get(change, 0.0), runs[-1])
    rounded = {name: round(value, 2) for name, value in worst.items()}
    return Measurement(statistics.median(runs), runs, more={"worst_ms": max(runs), "worst_by_change_ms": rounded})
