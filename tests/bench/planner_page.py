"""How long the planner's page takes to be worked out and painted again when somebody moves a slider."""

from __future__ import annotations

from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.children import Child
from tests.bench.kv_map import ROUNDS, slowest_kind
from tests.bench.setting import Setting

SLIDERS = ("context", "sequences", "layers", "batch", "prompt", "cached")


def planner_page(_setting: Setting) -> Measurement:
    """Measure each slider so many times and once before, when it lays out what the others find."""
    taken: dict[str, list[float]] = {slider: [] for slider in SLIDERS}
    with Child("tests.bench.planner_process", environment={"QT_QPA_PLATFORM": "offscreen"}) as child:
        for slider in SLIDERS:
            for _ in range(ROUNDS + 1):
                answer = child.ask("move", slider=slider)
                if not answer["painted"]:
                    raise BenchError(f"The page was not painted again with “{slider}”.")
                taken[slider].append(answer["ns"] / 1e6)
    return slowest_kind(taken)
