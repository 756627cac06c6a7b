"""How long the cards of the sampler laboratory take after a slider moved: all of them, on a full row of a large vocabulary."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from app.core.sampling import SamplingSettings
from app.probability.cards import Draws, StepCards
from tests.bench.arithmetic import Measurement
from tests.bench.candidates import DRAGS, OPEN, SEED
from tests.bench.setting import Setting
from tests.made_up_steps import row_of

VOCABULARY = 262_144
PROMPT_TOKENS = 4_000
EVERY = msgspec.structs.replace(
    OPEN,
    temperature=1.2,
    typical_p=0.99,
    top_p=0.995,
    min_p=1e-6,
    repeat_penalty=1.1,
    dry_multiplier=0.8,
    dry_sequence_breakers=(),
    xtc_probability=1.0,
)
"""Every stage acts, and none leaves few tokens to the next."""
MORE: dict[str, tuple[SamplingSettings, str, tuple[Any, ...]]] = {
    "repeat_penalty, every stage": (EVERY, "repeat_penalty", (1.05, 1.1, 1.2, 1.4, 1.8)),
    "typical_p, every stage": (EVERY, "typical_p", (0.9, 0.95, 0.98, 0.99, 0.999)),
    "temperature first": (
        msgspec.structs.replace(OPEN, top_p=0.99, order=("temperature", *SamplingSettings().order[:-1])),
        "temperature",
        (0.2, 0.5, 0.9, 1.3, 1.7),
    ),
    "switches": (EVERY, "off", (("top_p",), ("typical",), ("dry", "xtc"), (), ("penalties",))),
}


def sampler_cards(_setting: Setting) -> Measurement:
    """Measure each move of each drag; the value is the median of all, the worst stands beside it."""
    row = row_of(VOCABULARY, seed=2)
    cards = StepCards(row, row[:PROMPT_TOKENS].argsort().astype(np.int32), Draws(SEED, 0))
    runs: list[float] = []
    worst: dict[str, float] = {}
    for name, moves in _drags():
        for number, settings in enumerate(moves):
            began = time.perf_counter_ns()
            cards.of(settings)
            took_ms = (time.perf_counter_ns() - began) / 1e6
            if number:  # the first is where the drag begins: everything else moves there too
                runs.append(took_ms)
                worst[name] = max(worst.get(name, 0.0), took_ms)
    rounded = {name: round(value, 2) for name, value in worst.items()}
    return Measurement(statistics.median(runs), runs, more={"worst_ms": max(runs), "worst_by_drag_ms": rounded})


def _drags() -> Iterator[tuple[str, list[SamplingSettings]]]:
    """Yield the settings of each drag, the first of which is where it begins."""
    for name, (beside, field, places) in {**DRAGS, **MORE}.items():
        yield name, [beside, *(msgspec.structs.replace(beside, **{field: place}).validated() for place in places)]
