"""How long a moved slider takes to be seen: the chain replayed on a full row of a large vocabulary, and painted."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import msgspec

from app.core.sampling import SamplingSettings
from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.children import Child
from tests.bench.setting import Setting

SEED = 3
"""Decides XTC."""
BALANCED = SamplingSettings(seed=SEED)
OPEN = SamplingSettings(top_k=0, top_p=1.0, min_p=0.0, seed=SEED)
DRAGS: dict[str, tuple[SamplingSettings, str, tuple[float, ...]]] = {
    "temperature": (BALANCED, "temperature", (0.2, 0.5, 0.9, 1.3, 1.7)),
    "top_k": (BALANCED, "top_k", (5, 20, 60, 100, 200)),
    "top_p": (BALANCED, "top_p", (0.5, 0.7, 0.8, 0.9, 0.98)),
    "min_p": (BALANCED, "min_p", (0.01, 0.1, 0.2, 0.4, 0.6)),
    "repeat_penalty": (BALANCED, "repeat_penalty", (1.05, 1.1, 1.2, 1.4, 1.8)),
    "temperature, all tokens": (OPEN, "temperature", (0.2, 0.5, 0.9, 1.3, 1.7)),
    "top_p, all tokens": (OPEN, "top_p", (0.5, 0.7, 0.8, 0.9, 0.98)),
    "repeat_penalty, all tokens": (OPEN, "repeat_penalty", (1.05, 1.1, 1.2, 1.4, 1.8)),
    "typical_p, all tokens": (OPEN, "typical_p", (0.3, 0.5, 0.7, 0.9, 0.95)),
    "xtc_threshold, all tokens": (
        msgspec.structs.replace(OPEN, xtc_probability=1.0),
        "xtc_threshold",
        (0.02, 0.05, 0.1, 0.2, 0.3),
    ),
}
"""By what is dragged: the settings beside it, its name, and where it goes."""


def candidates_redraw(_setting: Setting) -> Measurement:
    """Measure each move of each drag; the value is the median of all, the worst stands beside it."""
    runs: list[float] = []
    worst: dict[str, float] = {}
    with Child("tests.bench.candidates_process", environment={"QT_QPA_PLATFORM": "offscreen"}) as child:
        for name, moves in _drags():
            for number, settings in enumerate(moves):
                answer = child.ask("move", settings=settings)
                if not answer["painted"]:
                    raise BenchError(f"The chart was not painted again when {name} moved.")
                if number == 0:
                    continue  # where the drag begins: everything else moves there too
                runs.append(answer["ns"] / 1e6)
                worst[name] = max(worst.get(name, 0.0), runs[-1])
    rounded = {name: round(value, 2) for name, value in worst.items()}
    return Measurement(statistics.median(runs), runs, more={"worst_ms": max(runs), "worst_by_drag_ms": rounded})


def _drags() -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yield the moves of each drag, the first of which sets what is beside it."""
    for name, (beside, field, places) in DRAGS.items():
        start: dict[str, object] = {**msgspec.structs.asdict(beside), field: places[0] * 0.9}
        later: list[dict[str, object]] = [{field: place} for place in places]
        yield name, [start, *later]
