"""How long the planner's page takes to be worked out and painted again when somebody moves a slider."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.children import Child
from tests.bench.kv_map import ROUNDS, slowest_kind
from tests.bench.setting import Setting

SLIDERS = ("context", "kv_type", "sequences", "layers", "batch", "prompt", "cached")
EVERY_TIME = ("context", "kv_type", "sequences")
"""What is another plan at every stop."""


def check(slider: str, painted: Sequence[str], changed: Sequence[str]) -> None:
    """Refuse a move that nothing came of: each picture that says something else has to be painted again."""
    if slider in EVERY_TIME and "memory" not in changed:
        raise BenchError(f"The plan did not become another with “{slider}”.")
    missing = {"memory", "speed"} & set(changed) - set(painted)
    if missing:
        raise BenchError(f"With “{slider}” the page was not painted again: {', '.join(sorted(missing))}.")


def planner_page(_setting: Setting) -> Measurement:
    """Measure each slider so many times and once before, when it lays out what the others find.

    It holds only where the answer became another and was painted: a page that is not worked out would be fast as well.
    """
    taken: dict[str, list[float]] = {slider: [] for slider in SLIDERS}
    answered: set[str] = set()
    with Child("tests.bench.planner_process", environment={"QT_QPA_PLATFORM": "offscreen"}) as child:
        for slider in SLIDERS:
            child.ask("begin")
            for _ in range(ROUNDS + 1):
                answer = child.ask("move", slider=slider)
                check(slider, answer["painted"], answer["changed"])
                answered |= {slider} if answer["changed"] else set()
                taken[slider].append(answer["ns"] / 1e6)
    if answered != set(SLIDERS):
        raise BenchError(f"The answer never became another with {sorted(set(SLIDERS) - answered)}.")
    return slowest_kind(taken)
