"""All GPUs of this machine as one row of a comparison: layers are shared out among them, as a load does it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from app.planner.comparison import Parts, PlanMemory, parts_on, planned_device
from app.planner.decode_speed import Part
from app.planner.gpu import Gpu
from app.planner.memory_plan import MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory

TOGETHER = "here together"
"""Its id, and what it is chosen by."""


def shared_out(here: Mapping[str, Gpu]) -> tuple[Gpu, ...]:
    """Return the GPUs among this machine's devices that a load shares layers out to; none where it is one at most.

    One that shares main memory counts only where there is no other, as for llama.cpp.
    """
    gpus = [gpu for gpu in here.values() if not gpu.is_processor]
    gpus = [gpu for gpu in gpus if not gpu.shares_main_memory] or gpus
    return tuple(gpus) if len(gpus) > 1 else ()


def together_of(gpus: Sequence[Gpu]) -> Gpu:
    """Return what stands for several GPUs; where a figure is of one, the slowest tells what is to be expected at least."""
    slowest = min(gpus, key=lambda gpu: gpu.effective_bandwidth)
    return replace(
        slowest,
        id=TOGETHER,
        name=_names(gpu.name for gpu in gpus),
        memory=sum(gpu.memory for gpu in gpus),
        usable=sum(gpu.usable for gpu in gpus),
        is_this_machine=True,
    )


def hooks_of(gpus: Sequence[Gpu], host: Gpu | None) -> tuple[PlanMemory, Parts]:
    """Return how memory is planned on all of them, and who does what then; `host` is the processor."""
    devices = [replace(planned_device(gpu), name=f"{TOGETHER} {number}") for number, gpu in enumerate(gpus)]
    devices += [planned_device(host)] if host is not None else []

    def plan(model: PlannedModel, options: PlanOptions, _devices: Sequence[PlannedDevice]) -> MemoryPlan:
        return plan_memory(model, options, devices)

    def parts(model: PlannedModel, made: MemoryPlan, _gpu: Gpu, host: Gpu | None) -> tuple[Part, ...]:
        return parts_on(model, made, devices, gpus, host)

    return plan, parts


def _names(names: Iterable[str]) -> str:
    counts = Counter(names)
    return " + ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())
