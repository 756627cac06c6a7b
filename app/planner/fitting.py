"""Whether a configuration fits on some devices, and how far one can go: the longest context, the most sequences. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from app.core.layer_choice import Room
from app.core.model import CONTEXT_STEP, MOST_CONTEXT, MOST_SEQUENCES
from app.planner.cache_formula import padded
from app.planner.layout import Holding, Placement, device_names, held, placed
from app.planner.margins import overhead_and_margin, reserve, room_of
from app.planner.memory_plan import DevicePlan, Figure, Load, PlannedDevice, all_have_room
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.quantised import OtherFile, share_of

Fits = Callable[[PlanOptions], bool | None]
"""Whether a configuration fits; None is unknown."""


MOST_HELD = 4096
"""Configurations that are remembered: a slider goes through some hundreds, and a machine may be kept for hours."""


class Machine:
    """A model on some devices; every configuration is worked out once."""

    def __init__(
        self,
        model: PlannedModel,
        devices: Sequence[PlannedDevice],
        beyond: Sequence[int] | None = None,
        share: float = 1.0,
        files: tuple[OtherFile, ...] | None = None,
    ) -> None:
        """`beyond` is what each device is known to take more than by formula, main memory last.

        `share` is what the weights are of what the file says: another quantisation of it. `files` are all other files of
        the model, where it is known which there are.
        """
        self.model = model
        self.files = files
        self._beyond = beyond
        self._share = share
        self.gpus = tuple(device for device in devices if device.is_gpu)
        self.main = next((device for device in devices if not device.is_gpu), None)
        self._devices = (*self.gpus, *(() if self.main is None else (self.main,)))
        self._reserves = [reserve(device) for device in self._devices]
        self._held: dict[PlanOptions, tuple[Holding, ...]] = {}
        self._placed: dict[tuple[int | None, int], Placement | None] = {}
        self._scaled: dict[float, Machine] = {}
        self._shares: dict[str, float | None] = {}

    def held(self, options: PlanOptions) -> tuple[Holding, ...]:
        """Return what each GPU holds, and last what main memory does."""
        if options not in self._held:
            if len(self._held) >= MOST_HELD:
                self._held.clear()
            key = (options.gpu_layers, options.experts_on_cpu)
            if key not in self._placed:
                self._placed[key] = placed(self.model, options, self.gpus)
            holdings = held(self.model, options, self._placed[key], len(self.gpus) + 1)
            for holding in holdings if self._share != 1.0 else ():
                holding.weights = None if holding.weights is None else round(holding.weights * self._share)
            self._held[options] = holdings
        return self._held[options]

    def fits(self, options: PlanOptions) -> bool | None:
        """Whether every device has what it needs; None where one figure is unknown."""
        sizes = [taken(holding) for holding in self.held(options)]
        if self._beyond is not None:
            sizes = [_sum(size, more) for size, more in zip(sizes, self._beyond, strict=True)]
        return all_have_room(
            [
                Load(device.is_gpu, device.shares_main_memory, room_of(device).free, kept, size)
                for device, kept, size in zip(self._devices, self._reserves, sizes, strict=False)
            ]
        )

    def scaled(self, share: float) -> Machine:
        """Return the same machine with weights that are `share` of what they are."""
        if share not in self._scaled:
            other = self._scaled[share] = Machine(self.model, self._devices, self._beyond, share)
            other._placed = self._placed  # where layers lie does not depend on how large they are
        return self._scaled[share]

    def share_of(self, quantisation: str) -> float | None:
        """Return how large the weights would be in a quantisation, beside what they are; None where that is unknown."""
        if quantisation not in self._shares:
            self._shares[quantisation] = share_of(self.model, quantisation)
        return self._shares[quantisation]

    def beyond_rooms(self, options: PlanOptions) -> dict[str, int | None]:
        """Return what each GPU needs, by its number, in addition to the margin that `core.layer_choice` knows."""
        sizes: dict[str, int | None] = {}
        for number, (gpu, kept) in enumerate(zip(self.gpus, self._reserves, strict=False)):
            size, room = taken(self.held(options)[number]), room_of(gpu)
            usual = _usual_margin(room)
            known = size is not None and kept is not None and usual is not None
            sizes[str(number)] = (size or 0) + (kept or 0) - (usual or 0) if known else None
        return sizes

    def rows(self, options: PlanOptions) -> tuple[DevicePlan, ...]:
        """Return what a configuration takes of each device, main memory last."""
        names = device_names(self.gpus, self.main)
        devices: tuple[PlannedDevice | None, ...] = (*self.gpus, self.main)
        return tuple(
            _row(name, device, holding)
            for name, device, holding in zip(names, devices, self.held(options), strict=True)
        )


def taken(holding: Holding) -> int | None:
    """Return all that a device holds; None where a part is unknown."""
    return _sum(holding.weights, holding.kv, holding.state, holding.compute, holding.scratch)


def largest_context(machine: Machine, options: PlanOptions, fits: Fits | None = None) -> int | None:
    """Return the most cells that fit with everything else as it is, or with what `fits` lets give way; 0 is none.

    At most what the model was trained for, where it says so, for each of the sequences. None is unknown.
    """
    goes = fits or machine.fits
    if goes(options) is None:
        return None
    trained = machine.model.trained_context
    most = min(trained * max(1, options.sequences) if trained else options.cells, MOST_CONTEXT)
    steps = padded(most) // CONTEXT_STEP
    found = _last(steps, lambda step: bool(goes(replace(options, context=step * CONTEXT_STEP))))
    return found * CONTEXT_STEP


def most_sequences(machine: Machine, options: PlanOptions, fits: Fits | None = None) -> int | None:
    """Return how many sequences fit at once, each with its part of this context; 0 is none, None is unknown.

    Everything else is as it is, or as `fits` lets it give way.
    """
    goes = fits or machine.fits
    if goes(options) is None:
        return None
    each = padded(options.cells // max(1, options.sequences))
    return _last(MOST_SEQUENCES, lambda count: bool(goes(replace(options, context=each * count, sequences=count))))


def _last(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to `most` that fits, where each smaller one does too; 0 is none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _sum(*sizes: int | None) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _usual_margin(room: Room) -> int | None:
    return None if room.free is None or room.limit is None else room.free - room.limit


def _row(name: str, device: PlannedDevice | None, holding: Holding) -> DevicePlan:
    kept = None if device is None else overhead_and_margin(device)
    scratch = holding.scratch
    if device is None or (kept is not None and not taken(holding)):
        kept = (0, 0)
    overhead = None if kept is None or scratch is None else kept[0] + scratch
    return DevicePlan(
        name=name,
        is_gpu=device is not None and device.is_gpu,
        weights=Figure(holding.weights),
        kv=Figure(holding.kv),
        state=Figure(holding.state),
        compute=Figure(holding.compute),
        overhead=Figure(overhead, "assumed"),
        margin=Figure(None if kept is None else kept[1], "assumed"),
        total=None if device is None else device.total,
        free=None if device is None else room_of(device).free,
        scratch=scratch,
        reserve=None if device is None else reserve(device),
        shares_main_memory=device is not None and device.is_gpu and device.shares_main_memory,
    )
