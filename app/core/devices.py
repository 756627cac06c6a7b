"""What a build of llama.cpp can compute on: its devices and the build itself, as the engine tells them."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.library_fault import LibraryFault
from app.core.words import Sentence

DeviceKind = Literal["cpu", "gpu", "integrated_gpu", "accelerator"]
GPU_KINDS: frozenset[DeviceKind] = frozenset({"gpu", "integrated_gpu"})
MAIN_MEMORY = "CPU"
"""What the engine calls the device of everything that lies in main memory."""


class Device(msgspec.Struct, frozen=True):
    """One device of a ggml backend; bytes that the backend does not know are None."""

    name: str
    """ggml's name, such as “CUDA0” or “CPU”."""
    description: str
    """The maker's name, such as “NVIDIA L4”."""
    kind: DeviceKind
    backend: str
    """The ggml backend that runs it, such as “CUDA”."""
    total: int | None
    free: int | None
    bus_id: str | None = None
    """PCI address, where the backend knows it: other programs' figures are found by it."""


class LibraryFacts(msgspec.Struct, frozen=True):
    """The build of llama.cpp that the engine runs."""

    version: str
    """Version of llama-cpp-python."""
    folder: str
    """Where its libraries lie."""
    gpu_offload: bool
    backends: tuple[str, ...]
    features: tuple[str, ...]
    """What the build uses of this processor, such as “AVX2”."""
    notes: tuple[Sentence, ...] = ()
    """Why something that could be expected of it is not there."""
    instead: LibraryFault | None = None
    """What is wrong with the usual build, where a plain one for the processor runs instead of it."""


GpuFault = Literal[
    "no_library", "no_driver", "driver_mismatch", "no_gpu", "blocked", "died", "failed", "no_process", "own_fault"
]
"""Why NVIDIA's management library tells nothing: “blocked” is a query that did not come back, the last two are not its."""


GpuLimit = Literal["power", "heat", "hardware"]
"""What holds a GPU's clock down: its power limit, its temperature, or a protection of the card or its supply."""


class Gpu(msgspec.Struct, frozen=True):
    """One NVIDIA GPU as the driver's management library sees it; bytes that it does not know are None, never 0."""

    name: str
    uuid: str
    bus_id: str
    total: int | None
    used: int | None
    """By every program and by the driver itself."""
    free: int | None
    ours: int | None = None
    """What the driver counts for the engine's process; None where it does not tell."""
    visible: bool | None = True
    """Whether CUDA_VISIBLE_DEVICES lets programs use it; None where that cannot be known."""
    busy_percent: int | None = None
    """Share of the last moment in which something ran on it."""
    power_watts: int | None = None
    celsius: int | None = None
    limits: tuple[GpuLimit, ...] = ()
    """What holds its clock down now; empty is nothing, or unknown."""
    reason: Sentence | None = None
    """Why its memory is not known."""


class GpuReport(msgspec.Struct, frozen=True):
    """Every NVIDIA GPU of this machine, or the reason why none is told."""

    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    cuda: tuple[int, int] | None = None
    """The newest CUDA that the driver runs."""
    fault: GpuFault | None = None
    reason: Sentence | None = None
    """The fault as a sentence."""


class MainMemory(msgspec.Struct, frozen=True):
    """Main memory that this process may use, in bytes."""

    total: int
    available: int
    machine_total: int
    """What is built in: larger than `total` where a container sets a limit."""


def others_use(used: int | None, ours: int | None) -> int | None:
    """Return the bytes that other programs and the driver hold: used on a device minus the engine's own buffers."""
    return None if used is None or ours is None else max(0, used - ours)


def bus_place(bus_id: str) -> tuple[int, int, int, int] | None:
    """Return a PCI address as (domain, bus, device, function), however it was written; None for anything else."""
    domain, _, rest = bus_id.partition(":")
    bus, _, rest = rest.partition(":")
    device, _, function = rest.partition("-")[0].partition(".")
    try:
        return int(domain, 16), int(bus, 16), int(device, 16), int(function or "0", 16)
    except ValueError:
        return None


def gpu_of(device: Device, gpus: tuple[Gpu, ...]) -> Gpu | None:
    """Return the GPU that a device of the engine is, found by its PCI address."""
    place = bus_place(device.bus_id or "")
    return next((gpu for gpu in gpus if place is not None and bus_place(gpu.bus_id) == place), None)
