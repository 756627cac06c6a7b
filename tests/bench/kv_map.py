"""How long the map of a large KV cache takes to be painted again when its cells change."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.children import Child
from tests.bench.setting import Setting

CHANGES = ("read", "write", "lanes", "look", "blocks", "cells")
"""What changes: a chunk is read, a token written, lanes grow, another cell is looked at, or they are shown otherwise."""
ROUNDS = 12


def kv_map_paint(_setting: Setting) -> Measurement:
    """Measure each change so many times and once before, when it lays out what the others find."""
    taken: dict[str, list[float]] = {change: [] for change in CHANGES}
    with Child("tests.bench.kv_map_process", environment={"QT_QPA_PLATFORM": "offscreen"}) as child:
        for change in CHANGES:
            for _ in range(ROUNDS + 1):
                answer = child.ask("change", kind=change)
                if not answer["painted"]:
                    raise BenchError(f"The map was not painted again with “{change}”.")
                taken[change].append(answer["ns"] / 1e6)
    return slowest_kind(taken)


def slowest_kind(taken: Mapping[str, Sequence[float]]) -> Measurement:
    """Judge each kind of change by itself: the value is the median of the kind that has the largest.

    `taken` are the ms of each kind, its first run foremost, which stands beside the value with the medians of all kinds.
    """
    medians = {kind: statistics.median(runs[1:]) for kind, runs in taken.items()}
    slowest = max(medians, key=medians.__getitem__)
    return Measurement(
        medians[slowest],
        list(taken[slowest][1:]),
        more={
            "slowest": slowest,
            "median_by_change_ms": {kind: round(median, 2) for kind, median in medians.items()},
            "worst_by_change_ms": {kind: round(max(runs[1:]), 2) for kind, runs in taken.items()},
            "first_by_change_ms": {kind: round(runs[0], 2) for kind, runs in taken.items()},
        },
    )
