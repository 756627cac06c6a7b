"""What suits a machine, whatever runs on it at this moment: the memory for a model, and the weights a token may read. Pure.

What is free changes every minute, what somebody is advised to get must not: the whole memory counts, less what a system
and a desktop take.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from app.planner.memory_plan import PlannedDevice

GIB = 1 << 30
LEAST_KEPT, MOST_KEPT, KEPT_PART = GIB, 6 * GIB, 4
"""Of main memory a quarter is the system's, its desktop's and a browser's, within these; a third of a very small one."""
SCREEN_BYTES, SCREEN_PART = GIB // 2, 16
"""Windows on the screen take so much of a GPU, or this part of a small one."""
READ_BY_PROCESSOR, READ_BY_SHARED = 3_500_000_000, 12_000_000_000
"""Bytes of weights for each token that a processor reads some eight times a second, and a GPU with main memory five."""


def usual(devices: Sequence[PlannedDevice]) -> tuple[PlannedDevice, ...]:
    """Return the devices with what a model may usually take; where the whole is unknown, what is free now.

    A GPU that shares main memory leaves a quarter of it anyway (`margins`).
    """
    return tuple(
        device if device.total is None else replace(device, free=device.total - _kept(device, device.total))
        for device in devices
    )


def most_read(devices: Sequence[PlannedDevice]) -> int | None:
    """Return how many bytes of weights a token may take to come soon enough; None is as many as fit."""
    gpus = [device for device in devices if device.is_gpu]
    if not gpus:
        return READ_BY_PROCESSOR
    return READ_BY_SHARED if all(gpu.shares_main_memory for gpu in gpus) else None


def _kept(device: PlannedDevice, total: int) -> int:
    if device.shares_main_memory:
        return 0
    if device.is_gpu:
        return min(SCREEN_BYTES, total // SCREEN_PART)
    return min(max(LEAST_KEPT, total // KEPT_PART), MOST_KEPT, total // 3)
