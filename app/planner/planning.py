"""Will it fit: the plan of one configuration on some devices, by formula. Pure.

Sources: llama.cpp as of llama-cpp-python 0.3.36 (`src/llama-kv-cache.cpp`, `src/llama-memory-recurrent.cpp`,
`src/llama-model.cpp`), and its `common/fit.cpp` for the order in which things give way: context, experts, layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from app.core.layer_choice import SHORTEST_CONTEXT
from app.core.metrics import DeviceMemory
from app.core.model import ALL_LAYERS, MOST_CONTEXT
from app.core.words import Sentence
from app.planner.buffer_formula import loaded_sequences
from app.planner.fitting import Machine, largest_context, most_sequences
from app.planner.layout import all_layers
from app.planner.levers import levers_of
from app.planner.margins import OVERHEAD
from app.planner.memory_plan import DevicePlan, Figure, MemoryPlan, PlannedDevice, Verdict
from app.planner.moving_layers import count_of, fits_somehow, with_layers
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.refusals import refusal


def plan_memory(
    model: PlannedModel,
    options: PlanOptions,
    devices: Sequence[PlannedDevice],
    *,
    may_shorten: bool = False,
    load: PlanOptions | None = None,
    machine: Machine | None = None,
) -> MemoryPlan:
    """Return what a configuration takes of each device and whether it fits; never raises.

    `options.gpu_layers` None has the layers decided: `may_shorten` allows a shorter context first, then the experts of
    a mixture go to main memory, then layers; `load` is what a load has decided, where that is known. `devices` may hold
    main memory (the one that is no GPU) or not. `machine` is this model on them where it is at hand: what was worked out
    of it before is not worked out again.
    """
    machine = machine or Machine(model, devices)
    everything = all_layers(model)
    if reason := refusal(model, options):
        return MemoryPlan((), "unknown", options, reason=reason)
    wanted = options if options.gpu_layers is not None else replace(options, gpu_layers=ALL_LAYERS)
    fits = machine.fits(wanted)
    if fits is None or everything is None:
        return MemoryPlan(machine.rows(wanted), "unknown", options, reason=model.unknown_reason)
    longest = largest_context(machine, wanted)
    decided, verdict = wanted, _verdict(fits, wanted, everything, bool(machine.gpus))
    has_reach = longest is not None and longest >= min(SHORTEST_CONTEXT, options.cells)
    is_open = options.gpu_layers is None and bool(machine.gpus)
    fits = fits and not (is_open and load is not None and load != wanted)
    moves = is_open and not (fits or (has_reach and may_shorten))
    if not fits and has_reach and may_shorten:
        decided = replace(wanted, context=longest or options.cells)
    elif moves:
        decided = load or with_layers(machine, wanted, everything)
        verdict = _verdict(bool(machine.fits(decided)), decided, everything, has_gpu=True)
    if has_reach and not fits and (longest or 0) < options.cells:
        verdict = "less_context"
    goes = (lambda tried: fits_somehow(machine, tried, everything)) if moves else machine.fits
    if moves and verdict != "less_context":
        longest = largest_context(machine, wanted, goes)
    return MemoryPlan(
        machine.rows(decided),
        verdict,
        decided,
        gpu_layers=count_of(decided, everything) if machine.gpus else 0,
        largest_context=longest,
        most_sequences=most_sequences(machine, wanted if moves else replace(decided, context=options.context), goes),
        levers=levers_of(machine, wanted, decided, may_move=moves and verdict == "too_large"),
    )


def is_as_asked(model: PlannedModel, options: PlanOptions) -> bool:
    """Return whether a dry run tells all of a configuration: it is of as many sequences as a load has by itself.

    Of more it tells the weights alone: windows, states, masks and rows of logits grow with each.
    """
    is_same = loaded_sequences(model, options) == loaded_sequences(model, replace(options, sequences=1))
    return is_same and options.cells <= MOST_CONTEXT


def weights_alone(measured: Sequence[DeviceMemory]) -> tuple[DeviceMemory, ...]:
    """Return what a dry run tells of a configuration of which it knows no more than where its weights lie."""
    return tuple(DeviceMemory(use.device, use.weights, None, None, complete=False) for use in measured)


def with_asked(
    plan: MemoryPlan, measured: Sequence[DeviceMemory], model: PlannedModel, devices: Sequence[PlannedDevice]
) -> MemoryPlan:
    """Return the plan with a dry run's figures, by device name, in place of the formula's.

    What it could not tell stays as it was worked out. Where room was judged otherwise, the verdict is that of the
    configuration as it was asked about; a shorter context takes less by formula.
    """
    by_name = {use.device: use for use in measured}
    rows = tuple(_asked(device, by_name) for device in plan.devices)
    shown = replace(plan, devices=rows)
    everything = all_layers(model)
    if (
        everything is None
        or shown.has_room is None
        or (shown.has_room == plan.has_room and plan.verdict != "unknown")
    ):
        return shown
    sizes = [(row.load.size, before.load.size) for row, before in zip(rows, plan.devices, strict=True)]
    beyond = [asked - formula for asked, formula in sizes if asked is not None and formula is not None]
    longest = plan.largest_context
    if len(beyond) == len(rows):
        longest = largest_context(Machine(model, devices, beyond), plan.options)
    verdict = _verdict(shown.has_room, plan.options, everything, any(row.is_gpu for row in rows))
    if not shown.has_room and longest and min(SHORTEST_CONTEXT, plan.options.cells) <= longest < plan.options.cells:
        verdict = "less_context"
    layers = count_of(plan.options, everything) if any(row.is_gpu for row in rows) else 0
    return replace(shown, verdict=verdict, largest_context=longest, gpu_layers=layers)


def refused(plan: MemoryPlan, reason: Sentence) -> MemoryPlan:
    """Return the plan of what llama.cpp refuses whatever memory there is: the formula's figures, and no verdict of them."""
    return replace(plan, verdict="unknown", largest_context=None, most_sequences=None, levers=(), reason=reason)


def _asked(device: DevicePlan, measured: Mapping[str, DeviceMemory]) -> DevicePlan:
    use = measured.get(device.name)
    if use is None:
        return device

    def figure(asked: int | None, formula: Figure) -> Figure:
        if asked is None:
            return Figure(0, "asked") if use.complete else formula
        return Figure(asked, "asked")

    compute = None if use.compute is None and use.output is None else (use.compute or 0) + (use.output or 0)
    overhead = device.overhead
    if overhead.bytes is None:  # only what no dry run tells is missing: the driver's part is the same for every model
        overhead = Figure(OVERHEAD if device.is_gpu else 0, "assumed")
    scratch = 0 if device.scratch is None else device.scratch
    return replace(
        device,
        weights=figure(use.weights, device.weights),
        kv=figure(use.kv, device.kv),
        state=figure(use.state, device.state),
        compute=figure(compute, device.compute),
        overhead=overhead,
        scratch=scratch,
    )


def _verdict(fits: bool, options: PlanOptions, everything: int, has_gpu: bool) -> Verdict:
    """Return the verdict of a configuration as it is: whether all of it is on GPUs."""
    if not fits:
        return "too_large"
    whole = not has_gpu or (count_of(options, everything) == everything and not options.experts_on_cpu)
    return "fits" if whole else "partly"
