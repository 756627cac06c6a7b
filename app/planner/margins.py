"""What stays free on purpose, and what a driver takes beside: figures of experience. Pure.

`app.core.layer_choice` leaves one margin for both on a GPU, as llama.cpp's `common/fit.cpp` does; here it is shown as two.
"""

from __future__ import annotations

from app.core.lane_memory import MARGIN as MAIN_MARGIN
from app.core.layer_choice import MIB, Room
from app.planner.memory_plan import PlannedDevice

OVERHEAD = 450 * MIB
"""Context, cuBLAS and graphs: 451 to 456 MiB that no log told were seen on RTX 4090s (llama.cpp, pull request 15860)."""
SHARED_PART = 4
"""A GPU that shares main memory leaves a quarter of it: systems refuse it more (Apple gives 70 to 85 %)."""


def room_of(device: PlannedDevice) -> Room:
    """Return what a device has; what is free of one that nothing runs on is all."""
    return Room(device.total, device.total if device.free is None else device.free)


def reserve(device: PlannedDevice) -> int | None:
    """Return the bytes that no weights, cache or buffers may take; None where its size is unknown."""
    room = room_of(device)
    if room.free is None or room.limit is None:
        return None
    if not device.is_gpu:
        return min(MAIN_MARGIN, max(0, room.free) // 2)
    usual = max(0, room.free - room.limit)
    if not device.shares_main_memory or device.is_share or room.total is None:
        return usual
    return max(usual, room.total // SHARED_PART)


def overhead_and_margin(device: PlannedDevice) -> tuple[int, int] | None:
    """Return the reserve as the driver's part and what stays free; None where its size is unknown."""
    kept = reserve(device)
    if kept is None:
        return None
    driver = min(OVERHEAD, kept) if device.is_gpu else 0
    return driver, kept - driver
