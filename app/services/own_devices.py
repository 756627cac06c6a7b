"""This machine's devices as answers tell of them and as they are planned for: one way to name and to keep them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.core.devices import MAIN_MEMORY, Device
from app.core.machine_speed import KnownMemory
from app.planner.this_machine import OwnDevice

ASSUMED_GB_PER_S = 20.0
"""Of main memory that nobody measured: answers replace it."""


def own_gpu(device: Device, memories: Mapping[str, KnownMemory]) -> OwnDevice:
    """Return a GPU of this machine as it is known before any answer."""
    measured = _measured(memories, device.name)
    return OwnDevice(
        device.description or device.name,
        device.total,
        memory_kind="shared" if device.kind == "integrated_gpu" else "own",
        bandwidth=measured.gb_per_s if measured is not None else None,
        is_disturbed=measured is not None and measured.is_disturbed,
    )


def own_processor(
    memories: Mapping[str, KnownMemory], name: str = MAIN_MEMORY, total: int | None = None
) -> OwnDevice:
    """Return the processor with main memory as it is known before any answer.

    A measurement that other programs took something from only makes it faster than it is assumed to be.
    """
    measured = _measured(memories, MAIN_MEMORY)
    is_disturbed = measured is not None and measured.is_disturbed
    told = measured.gb_per_s if measured is not None else 0.0
    is_assumed = not told or (is_disturbed and told < ASSUMED_GB_PER_S)
    return OwnDevice(
        name,
        total,
        is_processor=True,
        memory_kind="shared",
        bandwidth=ASSUMED_GB_PER_S if is_assumed else told,
        is_assumed=is_assumed,
        is_disturbed=is_disturbed,
    )


def _measured(memories: Mapping[str, KnownMemory], name: str) -> KnownMemory | None:
    """Return what was measured of a memory; None where nothing was that a memory can be."""
    found = memories.get(name)
    return found if found is not None and found.is_plausible else None


def answers_key(device: OwnDevice, threads: int | None = None, answers: Iterable[str] = ()) -> str:
    """Return what answers on a device are kept under, where they are learnt from and where they are planned with.

    A GPU by its maker's name, whatever number it has; the processor with its threads, None of which takes the last ones.
    """
    if not device.is_processor:
        return device.name
    if threads is not None:
        return f"{MAIN_MEMORY}, {threads}"
    return next((key for key in reversed(list(answers)) if key.startswith(f"{MAIN_MEMORY}, ")), MAIN_MEMORY)
