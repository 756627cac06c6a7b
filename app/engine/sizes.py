"""Buffer sizes, and which attention, as llama.cpp's log of this version tells them; a line it does not know leaves the figure unknown.

Pinned to llama-cpp-python 0.3.36 (ggml 0.25.3). Knows nothing of who asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from app.core.devices import MAIN_MEMORY
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes

MIB = 1024 * 1024

_BUFFER = re.compile(
    r"^\w+:\s+(?P<buffer>\S+)\s+(?P<kind>model|KV|RS|compute|output|DSV4 \S.* state) buffer size\s+=\s+(?P<mib>[0-9.]+) MiB"
)
Flash = Literal["auto", "on", "off"]
_FLASH: dict[str, Flash] = {"auto": "auto", "enabled": "on", "disabled": "off"}
_FIELDS = {"model": "weights", "KV": "kv", "RS": "state", "compute": "compute", "output": "output"}
_CREATING = re.compile(r"^\w+: creating\s+(?P<what>.+?) KV cache(?:, size = (?P<cells>\d+) cells)?$")
_CACHE = re.compile(
    r"^llama_kv_cache: size =\s+(?P<mib>[0-9.]+) MiB \(\s*(?P<cells>\d+) cells,\s+(?P<layers>\d+) layers"
)
_STATE = re.compile(r"^llama_memory_recurrent: size =\s+(?P<mib>[0-9.]+) MiB")
_OTHER_STATE = re.compile(r" DSV4 \S.* state buffer size")
_FLASH_WISH = re.compile(r"^llama_context: flash_attn\s+= (?P<wish>auto|enabled|disabled)$")
_FLASH_CHOSEN = re.compile(r"^\w+: Flash Attention (?P<chosen>enabled|not supported, set to disabled)$")
_KEEPS_EVERY_TOKEN = {"non-SWA", "main", "indexer", "DSA"}
_KEEPS_A_WINDOW = "SWA"
_OTHER_MAIN_MEMORY = ("AMX",)


def parse_sizes(lines: Sequence[str]) -> tuple[DeviceMemory, ...]:
    """Return each device's buffers in bytes, rounded as the log rounds them (0.01 MiB)."""
    sums: dict[str, dict[str, int]] = {}
    for line in lines:
        match = _BUFFER.match(line)
        if match is None:
            continue
        figures = sums.setdefault(device_of(match["buffer"]), {})
        field = _FIELDS.get(match["kind"], "state")
        figures[field] = figures.get(field, 0) + _bytes(match["mib"])
    return tuple(
        DeviceMemory(
            name,
            weights=figures.get("weights"),
            kv=figures.get("kv"),
            compute=figures.get("compute"),
            state=figures.get("state"),
            output=figures.get("output"),
        )
        for name, figures in sums.items()
    )


def with_context(loaded: Sequence[DeviceMemory], context: Sequence[DeviceMemory]) -> tuple[DeviceMemory, ...]:
    """Return the buffers of a model whose context was made anew: its weights stay where they are."""
    weights = {use.device: use for use in loaded}
    buffers = {use.device: use for use in context}
    return tuple(
        msgspec.structs.replace(
            buffers.get(name, DeviceMemory(name, None, None, None)),
            weights=weights[name].weights if name in weights else None,
            complete=name not in weights or weights[name].complete,
        )
        for name in dict.fromkeys((*weights, *buffers))
    )


def parse_flash(lines: Sequence[str]) -> Flash:
    """Return which attention the last context of the log came to; “auto” where it was left to llama.cpp and its line is a new one."""
    flash: Flash = "auto"
    for line in lines:
        if (wish := _FLASH_WISH.match(line)) is not None:
            flash = _FLASH[wish["wish"]]
        elif (chosen := _FLASH_CHOSEN.match(line)) is not None:
            flash = "on" if chosen["chosen"] == "enabled" else "off"
    return flash


def parse_cache(lines: Sequence[str]) -> CacheSizes:
    """Return what the context keeps of the past, in bytes over all devices; unknown where a line is a new one."""
    sums: dict[str, int] = {}
    window_cells: int | None = None
    kind, known = "full", True
    for line in lines:
        if (created := _CREATING.match(line)) is not None:
            window = created["what"] == _KEEPS_A_WINDOW
            known = known and (window or created["what"] in _KEEPS_EVERY_TOKEN)
            kind = "window" if window else "full"
        elif (cache := _CACHE.match(line)) is not None:
            sums[kind] = sums.get(kind, 0) + _bytes(cache["mib"])
            if kind == "window":
                window_cells = int(cache["cells"])
        elif (state := _STATE.match(line)) is not None:
            sums["state"] = sums.get("state", 0) + _bytes(state["mib"])
        elif _OTHER_STATE.search(line) is not None:
            known = False
    if not known:
        return CacheSizes()
    return CacheSizes(sums.get("full"), sums.get("window"), sums.get("state"), window_cells)


def device_of(buffer: str) -> str:
    """Return the device of a buffer type: `CPU_Mapped` and `CUDA_Host` lie in main memory."""
    name = buffer.partition("[")[0]
    if name.startswith(MAIN_MEMORY) or name.endswith("_Host") or name in _OTHER_MAIN_MEMORY:
        return MAIN_MEMORY
    return name.removesuffix("_Mapped").removesuffix("_Private")


def _bytes(mib: str) -> int:
    return round(float(mib) * MIB)
