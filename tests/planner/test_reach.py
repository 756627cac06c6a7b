"""The largest context, and the most conversations: up to them the verdict holds, and not a step beyond."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.core.model import CONTEXT_STEP
from app.planner.comparison import Usage, compare, speed_by_context
from app.planner.memory_plan import PlannedDevice, Verdict
from app.planner.plan_options import PlanOptions
from app.planner.planning import plan_memory
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR, TABLE

GIB = 1 << 30
ON_GPU: tuple[Verdict, ...] = ("fits",)
SOMEHOW: tuple[Verdict, ...] = ("fits", "less_context", "partly")


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b"])
@pytest.mark.parametrize("gib", [2, 5, 8])
@pytest.mark.parametrize("main", [8, 20, 40])
@pytest.mark.parametrize("context", [8192, 32_768])
def test_the_verdict_holds_up_to_the_largest_context(name: str, gib: int, main: int, context: int) -> None:
    devices = [PlannedDevice("GPU0", True, gib * GIB, gib * GIB), PlannedDevice("CPU", False, 64 * GIB, main * GIB)]
    model, options = planned(name), PlanOptions(context)
    found = plan_memory(model, options, devices)
    longest, most = found.largest_context, found.most_sequences
    assert longest is not None and most is not None and found.verdict != "unknown"

    def goes(context: int, sequences: int, within: tuple[Verdict, ...]) -> bool:
        plan = plan_memory(model, replace(options, context=context, sequences=sequences), devices)
        return plan.verdict in within and plan.has_room is True

    within = SOMEHOW if found.verdict in ("partly", "too_large") else ON_GPU
    if longest:
        assert goes(longest, 1, within)
    if longest < (model.trained_context or 0):
        assert not goes(longest + CONTEXT_STEP, 1, within)
    if found.verdict == "partly":
        assert longest >= context and most >= 1
    if found.verdict == "too_large":
        assert longest < context and not most
    each = SOMEHOW if found.verdict != "fits" else ON_GPU
    assert not most or goes(context * most, most, each)
    assert most == 256 or not goes(context * (most + 1), most + 1, each)


def test_layers_that_somebody_chose_stay() -> None:
    devices = [PlannedDevice("GPU0", True, 12 * GIB, 12 * GIB), PlannedDevice("CPU", False, 64 * GIB, 40 * GIB)]
    model = planned("qwen3-32b")
    free = plan_memory(model, PlanOptions(8192), devices)
    kept = plan_memory(model, PlanOptions(8192, gpu_layers=free.gpu_layers), devices)
    assert free.verdict == kept.verdict == "partly"
    assert 8192 <= (kept.largest_context or 0) < (free.largest_context or 0)
    told = plan_memory(model, PlanOptions(8192), devices, load=PlanOptions(8192, gpu_layers=20))
    assert (told.gpu_layers, told.largest_context) == (20, free.largest_context), "a load chooses again"


def test_a_line_ends_where_its_layers_no_longer_fit() -> None:
    usage = Usage(context=8192)
    host = replace(PROCESSOR, usable=64 * GIB, memory=64 * GIB)
    (row,) = compare([planned("qwen3-32b")], [TABLE["rtx-3060"]], usage, host)
    line = speed_by_context(row, usage, host)
    assert row.verdict == "partly" and (row.largest_context or 0) > 8192
    assert line is not None and line.fits_up_to == 8192
