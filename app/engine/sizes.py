"""Buffer sizes as llama.cpp's log of this version tells them; a line it does not know leaves the figure unknown.

Pinned to llama-cpp-python 0.3.36 (ggml 0.25.3). Knows nothing of who asks.
"""

from __future__ import annotations

import re

from app.core.metrics import DeviceMemory

_LINE = re.compile(
    r":\s+(?P<device>\S+)\s+(?P<kind>model|KV|RS|compute|output) buffer size\s+=\s+(?P<mib>[0-9.]+) MiB"
)
_FIELDS = {"model": "weights", "KV": "kv", "RS": "kv", "compute": "compute", "output": "compute"}
MIB = 1024 * 1024


def parse_sizes(lines: tuple[str, ...]) -> tuple[DeviceMemory, ...]:
    """Return each device's buffers in bytes, rounded as the log rounds them (0.01 MiB)."""
    sums: dict[str, dict[str, int]] = {}
    for line in lines:
        match = _LINE.search(line)
        if match is None:
            continue
        device = _device(match["device"])
        figures = sums.setdefault(device, {})
        field = _FIELDS[match["kind"]]
        figures[field] = figures.get(field, 0) + round(float(match["mib"]) * MIB)
    return tuple(
        DeviceMemory(name, figures.get("weights"), figures.get("kv"), figures.get("compute"))
        for name, figures in sums.items()
    )


def _device(buffer: str) -> str:
    """Return the device of a buffer type: `CPU_Mapped` and `CUDA_Host` lie in main memory."""
    return "CPU" if buffer.startswith("CPU") or buffer.endswith("_Host") else buffer
