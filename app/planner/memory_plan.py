"""Will it fit: what a model takes of each device, each figure with where it comes from. Plain values.

`planner.planning` works them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from app.core.words import Sentence
from app.planner.plan_options import PlanOptions

Source = Literal["asked", "formula", "assumed"]
"""llama.cpp said it in a dry run; arithmetic over the header; a figure of experience."""
Verdict = Literal["fits", "less_context", "partly", "too_large", "unknown"]
"""As it is; with a shorter context; with some layers in main memory; not at all."""
LeverKind = Literal["context", "kv_type", "gpu_layers", "experts_on_cpu", "quantisation", "flash_attention"]


class Figure(msgspec.Struct, frozen=True):
    """Bytes, and where they come from; None is unknown."""

    bytes: int | None
    source: Source = "formula"


class PlannedDevice(msgspec.Struct, frozen=True):
    """A device to plan for: one of this machine, or one out of the GPU table; bytes that are not known are None."""

    name: str
    is_gpu: bool
    total: int | None = None
    free: int | None = None
    """What a model may take now, what unloading the present one gives back counted in; None is `total`."""
    shares_main_memory: bool = False
    """Whether its memory is the machine's own: an integrated GPU, Apple's chips."""
    is_share: bool = False
    """Whether `total` is no more than the share of that memory which the system lets a GPU have."""


class Load(NamedTuple):
    """What lies on a device, by which it is judged whether that fits; bytes that are not known are None."""

    is_gpu: bool
    shares_main_memory: bool
    free: int | None
    reserve: int | None
    """What stays free beside it."""
    size: int | None


def rooms_left(loads: Sequence[Load]) -> tuple[int | None, ...]:
    """Return what stays free beyond the reserve of each device, negative where it is too small; None where unknown.

    What GPUs hold that share main memory lies in it, too. A device that nothing lies on needs no reserve.
    """
    shared = [load.size for load in loads if load.is_gpu and load.shares_main_memory]
    return tuple(_room_left(load, () if load.is_gpu else shared) for load in loads)


def _room_left(load: Load, more: Sequence[int | None]) -> int | None:
    sizes = [size for size in (load.size, *more) if size is not None]
    if len(sizes) != 1 + len(more) or load.reserve is None or load.free is None:
        return None
    return load.free - load.reserve - sum(sizes) if sum(sizes) else 0


class DevicePlan(msgspec.Struct, frozen=True):
    """What a configuration takes of one device."""

    name: str
    is_gpu: bool
    weights: Figure
    kv: Figure
    state: Figure
    compute: Figure
    """Buffers of the computation, and the rows of logits."""
    overhead: Figure
    """What the driver and its libraries take beside, and scratch that no log tells."""
    margin: Figure
    """What stays free on purpose."""
    total: int | None = None
    free: int | None = None
    scratch: int | None = 0
    """What of the overhead grows with the configuration."""
    reserve: int | None = None
    """The driver's part and the margin, as soon as something lies here."""
    shares_main_memory: bool = False

    @property
    def load(self) -> Load:
        """What lies here, as it is judged."""
        parts = [self.weights.bytes, self.kv.bytes, self.state.bytes, self.compute.bytes, self.scratch]
        known = [part for part in parts if part is not None]
        size = sum(known) if len(known) == len(parts) else None
        return Load(self.is_gpu, self.shares_main_memory, self.free, self.reserve, size)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All rows, the margin last."""
        return self.weights, self.kv, self.state, self.compute, self.overhead, self.margin

    @property
    def taken(self) -> int | None:
        """Bytes without the margin; None where a part is unknown."""
        parts = [figure.bytes for figure in self.figures[:-1]]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    @property
    def needed(self) -> int | None:
        """Bytes that have to be free, margin and all; None where a part is unknown."""
        return None if self.taken is None or self.margin.bytes is None else self.taken + self.margin.bytes

    @property
    def spare(self) -> int | None:
        """Bytes that stay free beyond the margin, negative where it is too small; None where unknown."""
        return None if self.needed is None or self.free is None else self.free - self.needed


class Lever(msgspec.Struct, frozen=True):
    """A change that needs less memory."""

    kind: LeverKind
    options: PlanOptions | None
    """The configuration with it; None where it is another file (a smaller quantisation)."""
    saves: int
    """Bytes on the GPUs, or in all where there is none."""
    fits: bool
    """Whether that is enough."""
    name: str = ""
    """Of a quantisation, such as “Q4_K_M”."""
    is_estimate: bool = False
    """Whether it is an estimate."""
    path: str = ""
    """Of the other file, where it is one that there is."""


class MemoryPlan(msgspec.Struct, frozen=True):
    """Whether a model fits, on which device lies what, and what would help."""

    devices: tuple[DevicePlan, ...]
    verdict: Verdict
    options: PlanOptions
    """As planned: with the layers, and the context, that were decided."""
    gpu_layers: int | None = None
    """Layers on GPUs, the output layer counted; None is unknown, 0 is none."""
    largest_context: int | None = None
    """Cells up to which the verdict holds: all on the GPUs where that is to be had, else with layers in main memory.

    At most what the model was trained for in each sequence; 0 is none.
    """
    most_sequences: int | None = None
    """Sequences that would fit at once, each with as many cells as one has in this context; 0 is none."""
    levers: tuple[Lever, ...] = ()
    reason: Sentence | None = None
    """Why it is unknown, or refused: one sentence with the next step."""

    @property
    def has_room(self) -> bool | None:
        """Whether every device has room for its part as it is planned; None where one figure is unknown."""
        return all_have_room([device.load for device in self.devices if device.is_gpu or device.free is not None])


def all_have_room(loads: Sequence[Load]) -> bool | None:
    """Return whether nothing is too small; None where one figure is unknown, or there is no device."""
    rooms = rooms_left(loads)
    known = [room for room in rooms if room is not None]
    return all(room >= 0 for room in known) if rooms and len(known) == len(rooms) else None
