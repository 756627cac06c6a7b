"""This machine's own devices as GPUs to plan for: found in the table by name, or judged by measured bandwidth."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from app.planner.gpu import Gpu, MemoryKind
from app.planner.gpu_table import FIGURES, USABLE_SHARE, gpu_id

PROCESSOR_ID, PROCESSOR_EFFICIENCY, PROCESSOR_LAYER_US, PROCESSOR_BAND = "this-processor", 0.7, 20.0, 0.35
"""llama.cpp reads main memory at 0.6 to 0.8 of what it gives; threads meet after every layer."""
UNKNOWN_LAYER_US, UNKNOWN_EFFICIENCY, UNKNOWN_BAND = 40.0, 0.65, 0.35
MEASURED, ASSUMED, ASKED = "measured: memory of this machine", "assumed, until answers tell", "told by this machine"
_VARIANTS = frozenset({"sxm", "pcie", "nvl"})
_ADDITIONS = frozenset({"ti", "super", "laptop", "mobile", "max", "pro", "ultra", "ada", "d"})
"""Words after a name that make it another GPU."""
_SAME_AS = {"sxm2": "sxm", "sxm3": "sxm", "sxm4": "sxm", "sxm5": "sxm", "hbm3": "sxm", "hbm3e": "sxm"}
"""How drivers say that a GPU is no card: an H100 SXM calls itself “H100 80GB HBM3”."""
_MOST_AWAY = {"own": 0.15, "shared": 0.5}
"""How far its memory may be from the table's, as a share; people can change what Apple's chips give their GPU."""


class OwnDevice(msgspec.Struct, frozen=True):
    """What this machine says of one of its devices; None is unknown."""

    name: str
    """The maker's name for it, such as “NVIDIA GeForce RTX 4090”."""
    total: int | None
    """Bytes of its memory that the engine sees."""
    is_processor: bool = False
    memory_kind: MemoryKind = "own"
    bandwidth: float | None = None
    """Measured or assumed, in 10^9 bytes/s."""
    is_assumed: bool = False
    """Whether that is experience, not measured here."""
    is_disturbed: bool = False
    """Whether other programs were busy when it was measured: then it is at least so fast."""


def known_as(name: str, total: int | None, table: Iterable[Gpu]) -> Gpu | None:
    """Return the GPU of the table that a driver's name means, the size of its memory deciding among several; or None."""
    words = {_SAME_AS.get(word, word.removesuffix("gb")) for word in gpu_id(name).split("-")}
    found: list[tuple[int, float, Gpu]] = []
    for gpu in table:
        own = set(gpu.id.split("-"))
        sizes = {word for word in own if word.isdigit() and int(word) << 30 == gpu.memory}
        variants, said = own & _VARIANTS, words & _VARIANTS
        is_other = bool(variants and said and not variants & said) or bool((words & _ADDITIONS) - own)
        away = abs(gpu.usable - total) / gpu.usable if total else 0.0
        if own - sizes - _VARIANTS <= words and not is_other and away <= _MOST_AWAY[gpu.memory_kind]:
            found.append((-len(own & words), away, gpu))
    return min(found, key=lambda each: each[:2])[2] if found else None


def this_machine(device: OwnDevice, table: Iterable[Gpu]) -> Gpu | None:
    """Return a device of this machine to plan for; None where neither its name nor its bandwidth tells anything.

    A bandwidth that was measured counts where the table has none; a GPU of the table keeps what its maker says.
    """
    if device.is_processor:
        return _processor(device)
    known = known_as(device.name, device.total, table)
    if known is not None:
        return msgspec.structs.replace(
            known,
            id="this-gpu",
            name=device.name,
            usable=device.total or known.usable,
            is_this_machine=True,
            sources={**known.sources, "usable": ASKED if device.total else known.sources.get("usable", ASSUMED)},
        )
    if device.bandwidth is None or device.bandwidth <= 0:
        return None
    return _unknown(device, device.bandwidth)


def _processor(device: OwnDevice) -> Gpu | None:
    if device.bandwidth is None or device.bandwidth <= 0:
        return None
    return msgspec.structs.replace(
        _unknown(device, device.bandwidth),
        id=PROCESSOR_ID,
        layer_us=PROCESSOR_LAYER_US,
        efficiency=PROCESSOR_EFFICIENCY,
        below=PROCESSOR_BAND,
        above=PROCESSOR_BAND,
        memory_kind="shared",
        is_processor=True,
    )


def _unknown(device: OwnDevice, bandwidth: float) -> Gpu:
    sources = dict.fromkeys(FIGURES, ASSUMED)
    return Gpu(
        id="this-gpu",
        name=device.name,
        memory=device.total or 0,
        usable=round((device.total or 0) * USABLE_SHARE),
        bandwidth=bandwidth,
        tflops=None,
        layer_us=UNKNOWN_LAYER_US,
        efficiency=UNKNOWN_EFFICIENCY,
        prefill_tflops=None,
        below=UNKNOWN_BAND,
        above=UNKNOWN_BAND,
        prefill_band=UNKNOWN_BAND,
        memory_kind=device.memory_kind,
        is_this_machine=True,
        is_memory_held_up=device.is_disturbed,
        sources={**sources, "memory": ASKED, "bandwidth": ASSUMED if device.is_assumed else MEASURED},
    )
