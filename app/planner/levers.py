"""Changes that need less memory, each with what it saves and whether that is enough. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from app.core.model import ALL_LAYERS, CONTEXT_STEP, KVType
from app.planner.fitting import Machine, largest_context, taken
from app.planner.layout import all_layers
from app.planner.memory_plan import Lever, LeverKind, rooms_left
from app.planner.moving_layers import count_of, fits_somehow, with_experts, with_layers
from app.planner.plan_options import PlanOptions
from app.planner.quantised import BITS_PER_WEIGHT
from app.planner.refusals import refusal

SMALLER_CACHES: tuple[KVType, ...] = ("q8_0", "q4_0")
NOTICEABLE = 0.97
"""What is not smaller by at least a thirtieth, a quantisation or what is missing, is nothing to recommend."""


class _Search(NamedTuple):
    """What changes are looked for in."""

    machine: Machine
    wanted: PlanOptions
    """As somebody wants it, with all layers on the GPUs where nobody chose them."""
    shown: PlanOptions
    """As a load would make it: what is saved is saved of that."""
    may_move: bool
    """Whether it is enough that it fits with layers in main memory."""

    def is_enough(self, options: PlanOptions, share: float = 1.0) -> bool | None:
        """Return whether all of it fits then, on the GPUs unless nothing but main memory helps."""
        machine = self.machine if share == 1.0 else self.machine.scaled(share)
        everything = all_layers(machine.model)
        if self.may_move and everything is not None:
            return fits_somehow(machine, options, everything)
        return machine.fits(options)

    def loaded(self, changed: PlanOptions, as_shown: PlanOptions) -> PlanOptions:
        """Return a change as it would lie: what is on which device is decided anew where that is what helps."""
        everything = all_layers(self.machine.model)
        if self.may_move and everything is not None:
            return with_layers(self.machine, changed, everything)
        return as_shown

    def missing(self, options: PlanOptions) -> tuple[int, ...]:
        """Return the bytes that each device lacks, main memory last; what is unknown counts as room enough."""
        rooms = rooms_left([row.load for row in self.machine.rows(options)])
        return tuple(0 if room is None else max(0, -room) for room in rooms)

    @property
    def counted(self) -> tuple[int, ...]:
        """Which devices count: those that lack something, else the GPUs, or all where nothing is on one."""
        gpus, missing = self.machine.gpus, self.missing(self.shown)
        lacking = {number for number, lack in enumerate(missing) if lack}
        if len(gpus) in lacking:
            lacking |= {number for number, gpu in enumerate(gpus) if gpu.shares_main_memory}
        on_gpus = any(row.load.size for row in self.machine.rows(self.shown)[: len(gpus)])
        return tuple(sorted(lacking)) or tuple(range(len(gpus) if on_gpus else len(missing)))

    def size(self, options: PlanOptions) -> int | None:
        """Return the bytes that a configuration takes of the devices that count; None is unknown."""
        holdings = self.machine.held(options)
        sizes = [taken(holdings[number]) for number in self.counted]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def helps(self, options: PlanOptions) -> bool:
        """Return whether noticeably less is missing then, and nowhere more; where nothing is, whether that stays so."""
        before, then = self.missing(self.shown), self.missing(options)
        worse = any(after > lack for lack, after in zip(before, then, strict=True))
        lack = sum(before)
        return not worse and (not lack or sum(then) <= NOTICEABLE * lack)


def levers_of(
    machine: Machine, wanted: PlanOptions, shown: PlanOptions, *, may_move: bool = False
) -> tuple[Lever, ...]:
    """Return the changes of a configuration, in the order in which they cost least.

    `wanted` is what somebody asked for, all layers on the GPUs where nobody chose them, and `shown` what a load makes of
    it; `may_move` says that not even layers in main memory make it fit, so that a change is enough with which they do.
    """
    search = _Search(machine, wanted, shown, may_move)
    needed = search.size(shown)
    if needed is None:
        return ()
    found = []
    for kind, name, changed, after in _changes(search):
        if after == shown or refusal(machine.model, changed) is not None:
            continue
        loaded = search.loaded(changed, after)
        size = search.size(loaded)
        if size is not None and size < needed and search.helps(loaded):
            found.append(Lever(kind, changed, needed - size, bool(search.is_enough(changed)), name))
    smaller = _smaller_quantisation(search)
    return (*found, *(() if smaller is None else (smaller,)))


def _changes(search: _Search) -> Iterator[tuple[LeverKind, str, PlanOptions, PlanOptions]]:
    """Yield each change with what would be wanted then, and what is shown with nothing else changed."""
    wanted, shown, machine = search.wanted, search.shown, search.machine
    if not wanted.flash_attention:
        yield (
            "flash_attention",
            "",
            replace(wanted, flash_attention=True),
            replace(shown, flash_attention=True),
        )
    shorter = _shorter(search)
    yield "context", "", replace(wanted, context=shorter), replace(shown, context=shorter)
    for kind in SMALLER_CACHES:
        wants = replace(wanted, kv_type_k=kind, kv_type_v=kind)
        yield "kv_type", kind, wants, replace(shown, kv_type_k=kind, kv_type_v=kind)
    if machine.gpus and machine.model.is_mixture:
        moved = _experts(search)
        yield "experts_on_cpu", "", replace(wanted, experts_on_cpu=moved), replace(shown, experts_on_cpu=moved)
    if machine.gpus and shown.gpu_layers == wanted.gpu_layers:
        other = _other_layers(machine, wanted)
        yield "gpu_layers", "", other, other


def _shorter(search: _Search) -> int:
    """Return the longest context that fits and is shorter; half of it where none does, or where it fits already."""
    longest = largest_context(search.machine, search.wanted, search.is_enough) or 0
    if 0 < longest < search.shown.cells:
        return longest
    return max(CONTEXT_STEP, search.shown.cells // 2)


def _experts(search: _Search) -> int:
    """Return of how many layers the experts would lie in main memory: what fits, or all where all is on the GPUs."""
    machine, wanted, everything = search.machine, search.wanted, all_layers(search.machine.model) or 0
    if search.may_move:  # somebody chose where they lie: a load knows better
        return 0
    if machine.fits(wanted):
        return ALL_LAYERS
    return with_experts(machine, wanted, everything).experts_on_cpu


def _other_layers(machine: Machine, options: PlanOptions) -> PlanOptions:
    """Return the configuration with the layers that fit, or half of them where all that are wanted do."""
    everything = all_layers(machine.model) or 0
    present = count_of(options, everything)
    if not machine.fits(options):
        fitting = with_layers(machine, replace(options, gpu_layers=ALL_LAYERS), everything)
        found = count_of(fitting, everything)
        if found > present or (found < present and machine.fits(fitting)):
            return fitting  # more of them where main memory is what is too small
    return replace(options, gpu_layers=present // 2)


def _smaller_quantisation(search: _Search) -> Lever | None:
    """Return the best quantisation that would fit, or the smallest known; None where the present one is as small.

    Where it is known which files there are, it is one of them.
    """
    held = search.machine.held(search.shown)
    holdings = [held[number] for number in search.counted]
    lever = None
    for name, path, share in _smaller(search.machine):
        if share is None:
            return None
        saves = round(sum((holding.weights or 0) * (1 - share) for holding in holdings))
        if share >= NOTICEABLE or saves <= 0:
            continue
        lever = Lever("quantisation", None, saves, bool(search.is_enough(search.wanted, share)), name, not path, path)
        if lever.fits:
            return lever
    return lever


def _smaller(machine: Machine) -> Iterator[tuple[str, str, float | None]]:
    """Yield other quantisations, the largest first: name, file where there is one, and the share of the present weights."""
    if machine.files is None:
        yield from ((name, "", machine.share_of(name)) for name in BITS_PER_WEIGHT)
        return
    weights = machine.model.weights
    whole = machine.model.file_bytes or (weights.total if weights is not None else 0)
    for file in sorted(machine.files, key=lambda each: each.size, reverse=True):
        yield file.name, file.path, file.size / whole if whole else None
