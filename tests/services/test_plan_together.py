"""All GPUs of this machine together as a row of a comparison."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from app.core.devices import Device
from app.planner.gpu_table import read_gpu_table
from app.services.plan_rows import Grounds, work_out
from app.services.plan_together import TOGETHER, shared_out, together_of
from app.services.plan_values import Chosen, ComparedRow, ModelChoice
from app.system.resources import find_resources
from tests.desk import Desk
from tests.planner.planned_models import planned
from tests.planner.works import PROCESSOR

GPUS = {gpu.id: gpu for gpu in read_gpu_table(find_resources().gpu_table()).gpus}
GIB = 1 << 30
L4, T4 = GPUS["l4"], GPUS["t4"]


def rows(model: str, *gpus: str, host: bool = True) -> list[ComparedRow]:
    """Return the rows of GPUs of this machine by themselves, and of all of them together."""
    here = tuple(replace(GPUS[key], id="this-gpu", is_this_machine=True) for key in gpus)
    chosen = Chosen((ModelChoice("a"),), ())
    all_of_them = (*here, together_of(here))
    return list(
        work_out(Grounds(chosen, {"a": planned(model)}, all_of_them, PROCESSOR if host else None, here=here)).rows
    )


def test_what_one_cannot_hold_fits_on_two() -> None:
    one, _, both = rows("qwen3-32b", "t4", "t4", host=False)
    assert one.verdict == "partly" and one.each is None
    assert both.verdict == "fits" and both.gpu == "2 × NVIDIA T4" and both.gpu_memory == 2 * T4.memory
    assert both.usable == 2 * T4.usable and both.needed is not None and T4.usable < both.needed < both.usable
    assert both.each is not None and both.line and both.line[0][1].value > both.each.value > 0
    assert both.roof is None and both.why_no_roof is not None and "two devices" in both.why_no_roof.english()


def test_layers_are_read_by_each_at_its_own_speed() -> None:
    fast, slow, both = rows("llama-3.1-8b", "l4", "t4")
    assert both.gpu == "NVIDIA L4 + NVIDIA T4"
    assert fast.each is not None and both.each is not None
    assert both.verdict == "fits" and both.each.value < fast.each.value
    assert slow.each is None or both.each.value > slow.each.value
    assert both.most_users is not None and fast.most_users is not None and both.most_users > fast.most_users
    assert slow.line[0][1].value < both.line[0][1].value < fast.line[0][1].value


def test_there_is_no_such_row_for_one_gpu_or_beside_a_shared_one() -> None:
    shared = replace(L4, memory_kind="shared")
    assert shared_out({"CUDA0": L4, "CPU": PROCESSOR}) == ()
    assert shared_out({"CUDA0": L4, "Vulkan0": shared, "CPU": PROCESSOR}) == ()
    assert shared_out({"CUDA0": L4, "CUDA1": T4, "Vulkan0": shared, "CPU": PROCESSOR}) == (L4, T4)
    assert shared_out({"CPU": PROCESSOR}) == ()


def test_it_is_offered_where_there_are_two_and_chosen_at_first(desk: Desk, model: Path) -> None:
    comparison, devices = desk.program.planner.comparison, desk.program.planner.devices
    desk.load(model)
    devices.note(tuple(Device(f"CUDA{at}", "NVIDIA L4", "gpu", "CUDA", 23 * GIB, 12 * GIB) for at in range(2)))
    comparison.watch(True)
    desk.until(lambda: comparison.worked and comparison.worked.rows and "CUDA1" in devices.gpus.here)
    desk.until(lambda: any(gpu.id == TOGETHER for gpu in comparison.gpus))
    offered = next(gpu for gpu in comparison.gpus if gpu.id == TOGETHER)
    assert (offered.count, offered.group, offered.name) == (2, "here", "2 × NVIDIA L4")
    assert {gpu.count for gpu in comparison.gpus if gpu is not offered} == {1}
    comparison.choose(Chosen(comparison.chosen.models, (TOGETHER,)))
    desk.until(lambda: comparison.worked and [row.gpu for row in comparison.worked.rows] == ["2 × NVIDIA L4"])
