"""What this machine can compute with: the cores that are worth a thread.

Knows nothing of models; GPUs are the engine's to tell.
"""

from __future__ import annotations

import os
import sys

import psutil


def usable_cores() -> int:
    """Return how many logical cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_cores() -> int | None:
    """Return how many cores the machine has, hyper-threads not counted; None where the system does not tell."""
    return psutil.cpu_count(logical=False)


def decode_threads() -> int:
    """Return how many threads evaluate fastest: one a physical core, as far as this process may use them.

    Two threads on one core share its memory bandwidth, which is what decoding waits for.
    """
    physical = physical_cores() or usable_cores()
    return max(1, min(physical, usable_cores()))
