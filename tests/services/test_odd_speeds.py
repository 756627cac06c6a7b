"""Numbers in the file of settings that no machine can be: they count as unknown, and no figure that is shown is odd."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import pytest

from app.core.devices import Device
from app.core.machine_speed import KeptAnswers, KnownMemory
from app.planner.memory_plan import PlannedDevice
from app.services.planning_devices import KnownGpus, SpeedFacts, known_gpus
from app.services.planning_values import PlanChoice
from app.services.planning_view import place_of
from app.system.resources import find_resources
from tests.desk import Desk
from tests.services.planned_here import MAIN, view

GIB = 1 << 30
DEVICES = (
    Device("CUDA0", "Some card", "gpu", "CUDA", 23 * GIB, 22 * GIB),
    Device("CPU", "p", "cpu", "CPU", GIB, None),
)
FINE = (30, 4e9, 1e8, 0.1, 600)
ODD = (1e308, 1e-320, 0.0, -1.0, math.inf, math.nan)


def numbers(value: object) -> Iterator[float]:
    """Yield every number in plain values."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from numbers(each)


def figures(memory: float, answers: KeptAnswers) -> tuple[KnownGpus, list[float]]:
    """Return what is known of devices, and every figure of plans on them."""
    memories = {name: KnownMemory(memory) for name in ("CPU", "CUDA0")}
    facts = SpeedFacts(memories, {"CPU": answers, "Some card": answers}, {})
    gpus = known_gpus(find_resources().gpu_table(), facts, DEVICES, 64 * GIB)
    found: list[float] = []
    for layers in (None, 10):
        choice = PlanChoice(gpu_layers=layers)
        for devices in ((MAIN,), (PlannedDevice("CUDA0", True, 23 * GIB, 22 * GIB), MAIN)):
            shown = view("llama-3.1-8b", choice, place_of("here", devices, gpus))
            found += numbers(msgspec.to_builtins(shown.speed))
    return gpus, found


@pytest.mark.parametrize("odd", ODD)
def test_a_memory_that_cannot_be_is_unknown(odd: float) -> None:
    gpus, found = figures(odd, KeptAnswers())
    assert found and all(math.isfinite(each) and 0 <= each < 1e9 for each in found)
    assert "CUDA0" not in gpus.here and gpus.here["CPU"].bandwidth == 20.0


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("odd", ODD)
def test_an_answer_that_cannot_be_tells_nothing(odd: float, place: int) -> None:
    point = (*FINE[:place], odd, *FINE[place + 1 :])
    read = (*((0.5, 600, 600, 30, 4e9)[:place]), odd, *((0.5, 600, 600, 30, 4e9)[place + 1 :]))
    answers = KeptAnswers((point,) * 5, (read,) * 5, 5, 5, (odd,))
    _, found = figures(50.0, answers)
    assert found and all(math.isfinite(each) and 0 <= each < 1e9 for each in found)


def test_what_cannot_be_is_no_ceiling_either(desk: Desk) -> None:
    desk.program.settings.change(memory_speeds={"CPU": KnownMemory(1e308), "CUDA0": KnownMemory(300.0)})
    assert list(desk.program.views.bandwidth.known) == ["CUDA0"]
