"""Whether a model fits: a verdict and its reason, by the header's arithmetic. Plain functions."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from app.core.model import LoadOptions
from app.core.words import Sentence, counted, translate
from app.planner.memory_plan import MemoryPlan, PlannedDevice, Verdict, rooms_left
from app.planner.plan_options import PlanOptions, plan_options
from app.planner.planning import plan_memory
from app.services.planning_models import PlannedFile
from app.services.units import byte_size

LITTLE_BYTES, LITTLE_PART = 1 << 30, 16
"""Less than so much to spare, or than this part of a small device, is tight."""
_LESS: tuple[Verdict, ...] = ("less_context", "partly", "too_large")

_TAKEN = translate(
    "FitBadges",
    "This machine has memory enough for it, but other programs have taken too much of that now: close some before you"
    " load it.",
)
_BEING_FOUND_OUT = translate("FitBadges", "Which GPUs this machine has is being found out.")
_UNTOLD = translate("FitBadges", "What it takes cannot be said: its file does not tell enough. Load it to find out.")

FitState = Literal["", "tight", "busy"]
"""Nothing beside the verdict; it fits with little to spare; it would fit if other programs had not taken the memory."""


class Fit(msgspec.Struct, frozen=True):
    """Whether a model fits."""

    verdict: Verdict
    reason: Sentence
    state: FitState = ""


def fit_of(
    file: PlannedFile,
    options: LoadOptions | PlanOptions,
    devices: tuple[PlannedDevice, ...],
    problem: Sentence | None = None,
) -> Fit:
    """Return whether a model fits with these options; takes a few milliseconds, never raises.

    A load may have its context shortened, where people allow it; what is planned is as it is, but that no conversation
    has more than the model was trained for. `problem` is why it is not known which devices there are, where there are none.
    """
    model = file.model
    if model is None:
        return Fit("unknown", file.problem or _UNTOLD)
    if not devices:
        return Fit("unknown", problem or _BEING_FOUND_OUT)
    if isinstance(options, PlanOptions):
        each = options.context // max(1, options.sequences)
        each = min(each, model.trained_context or each)
        planned = replace(options, context=each * max(1, options.sequences))
        return fit_by(plan_memory(model, planned, devices), each, options.sequences)
    asked = plan_options(options, model.trained_context)
    return fit_by(plan_memory(model, asked, devices, may_shorten=options.may_shorten_context), asked.cells)


def fit_now(fit: Fit, usually: Fit) -> Fit:
    """Return a verdict by what is free now; where a model would usually fit, what lacks is memory that others have taken."""
    return Fit(fit.verdict, _TAKEN, "busy") if usually.verdict == "fits" and fit.verdict in _LESS else fit


def fit_by(plan: MemoryPlan, cells: int, sequences: int = 1) -> Fit:
    """Return the verdict of a plan; `cells` is the context that was asked for, of each conversation."""
    is_tight = plan.verdict == "fits" and _is_tight(plan)
    shared = (
        plan if plan.largest_context is None else replace(plan, largest_context=plan.largest_context // sequences)
    )
    return Fit(plan.verdict, _reason_of(shared, cells, is_tight=is_tight), "tight" if is_tight else "")


def _is_tight(plan: MemoryPlan) -> bool:
    """Whether a device that something lies on has little to spare beyond its margin."""
    rooms = rooms_left([device.load for device in plan.devices])
    return any(
        is_little(room, device.total)
        for device, room in zip(plan.devices, rooms, strict=True)
        if device.load.size and device.total is not None and room is not None
    )


def is_little(room: int, total: int) -> bool:
    """Return whether so many bytes beyond its margin are little to spare on a device of a size."""
    return room < min(LITTLE_BYTES, total // LITTLE_PART)


def _reason_of(plan: MemoryPlan, cells: int, *, is_tight: bool) -> Sentence:
    """Return one sentence that says why a plan has its verdict."""
    fullest = _fullest(plan)
    needed = None if fullest is None else fullest[0]
    free = None if fullest is None else fullest[1]
    if plan.verdict == "unknown" or needed is None or free is None:
        return plan.reason or _UNTOLD
    if plan.verdict == "less_context":
        return translate(
            "FitBadges",
            "A context of {context:,} tokens does not fit; {largest:,} tokens do.",
            context=cells,
            largest=plan.largest_context or 0,
        )
    if plan.verdict == "partly" and plan.options.experts_on_cpu:
        return translate(
            "FitBadges",
            "Experts of this mixture are in main memory, because all of it does not fit on the GPU: it is slower.",
        )
    if plan.verdict == "partly":
        return _partly(plan.gpu_layers or 0, byte_size(free))
    values: dict[str, str | int | float] = {"context": cells, "needed": byte_size(needed), "free": byte_size(free)}
    if plan.verdict == "too_large":
        return translate(
            "FitBadges",
            "With a context of {context:,} tokens it needs {needed}, and {free} are free: take a smaller quantisation or"
            " a smaller model.",
            **values,
        )
    if is_tight:
        return translate(
            "FitBadges",
            "With a context of {context:,} tokens it needs {needed}, and {free} are free: that is tight, so close what you"
            " do not need.",
            **values,
        )
    return translate(
        "FitBadges", "With a context of {context:,} tokens it needs {needed}, and {free} are free.", **values
    )


def _partly(layers: int, free: str) -> Sentence:
    if not layers:
        return translate("FitBadges", "No layer is on the GPU: all of them are in main memory, and it is slower.")
    one = translate(
        "FitBadges",
        "1 layer is on the GPU and the others in main memory: it is slower. {free} are free on the GPU.",
        free=free,
    )
    several = translate(
        "FitBadges",
        "{layers} layers are on the GPU and the others in main memory: it is slower. {free} are free on the GPU.",
        layers=layers,
        free=free,
    )
    return counted(layers, one, several)


def _fullest(plan: MemoryPlan) -> tuple[int, int] | None:
    """Return what the device needs that has the least to spare, and what is free there; None where unknown."""
    known = [
        (device.needed, device.free)
        for device in plan.devices
        if device.taken and device.needed is not None and device.free is not None
    ]
    return min(known, key=lambda pair: pair[1] - pair[0], default=None)
