"""Will it fit: the plan of one configuration on some devices, by formula. Pure.

Sources: llama.cpp as of llama-cpp-python 0.3.36 (`src/llama-kv-cache.cpp`, `src/llama-memory-recurrent.cpp`,
`src/llama-model.cpp`), and its `common/fit.cpp` for the order in which things give way.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.core.metrics import DeviceMemory
from app.planner.memory_plan import MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel


def plan_memory(
    model: PlannedModel,
    options: PlanOptions,
    devices: Sequence[PlannedDevice],
    *,
    may_shorten: bool = False,
) -> MemoryPlan:
    """Return what a configuration takes of each device and whether it fits; never raises.

    `options.gpu_layers` None has the layers decided: `may_shorten` allows a shorter context first, then the experts of
    a mixture go to main memory, then layers. `devices` may hold main memory (the one that is no GPU) or not.
    """
    raise NotImplementedError


def with_asked(plan: MemoryPlan, measured: Sequence[DeviceMemory]) -> MemoryPlan:
    """Return the plan with a dry run's figures, by device name, in place of the formula's."""
    raise NotImplementedError
