"""Models beside GPUs: what fits, how long the first token takes, how fast the others follow, and what limits it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY
from app.core.model import ALL_LAYERS
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu, Limit, PrefillTime, Speed
from app.planner.layout import all_layers, places
from app.planner.memory_plan import MemoryPlan, PlannedDevice, Verdict
from app.planner.model_work import split_work, work_by_place
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import plan_memory
from app.planner.prefill_speed import prefill_time

PlanMemory = Callable[[PlannedModel, PlanOptions, Sequence[PlannedDevice]], MemoryPlan]
Parts = Callable[[PlannedModel, MemoryPlan, Gpu, Gpu | None], tuple[Part, ...]]
CHART_POINTS = 24
LEAST_CHART_CONTEXT = 256


class Usage(msgspec.Struct, frozen=True):
    """What is to be done with a model: so many conversations of so many tokens, each with such a prompt."""

    context: int
    """Tokens in the cache of each conversation."""
    users: int = 1
    """Conversations at once."""
    prompt: int = 1024
    """Tokens of a prompt."""
    cached: int = 0
    """Tokens of it that are in the cache already."""
    options: PlanOptions = PlanOptions(context=0)
    """Everything else of a load: types of the cache, micro-batch, layers; context and sequences count from here above."""

    @property
    def planned(self) -> PlanOptions:
        """The options of a load that serves them all: a shared cache with room for each."""
        users = max(1, self.users)
        return replace(self.options, context=max(1, self.context) * users, sequences=users)


class Row(msgspec.Struct, frozen=True):
    """One model on one GPU; None is unknown, or not to be had."""

    model: PlannedModel
    gpu: Gpu
    plan: MemoryPlan
    speed: Speed | None
    """Of decode, with all conversations at once and the context of each full."""
    first_token: PrefillTime | None
    """Until the first token, for one prompt by itself."""
    first_token_together: PrefillTime | None
    """Until the last of them has its first token, when all ask at the same moment."""
    limited_by: Limit | None
    """What it is that keeps this from being faster, or from fitting."""
    largest_context: int | None = None
    """Tokens that each conversation could have, with so many of them; at most what the model was trained for."""
    most_users: int | None = None
    """Conversations of this context each that would fit at once; 0 is none."""
    context: int = 0
    """Tokens of each conversation that all its figures hold for: of one that fits with less context, those that fit."""
    speed_after_prompt: Speed | None = None
    """The same with no more than the prompt of each in the cache, as its answer begins."""
    speed_as_asked: Speed | None = None
    """Where less context fits on the GPU: with the context that was asked for full, and layers in main memory."""
    layers_as_asked: int | None = None
    """Layers on the GPU then, the output layer counted."""
    needed: int | None = None
    """Bytes of the GPU that have to be free: for its part where layers lie in main memory, else for all of it."""
    needed_whole: int | None = None
    """The same with all layers on it, whatever lies in main memory now."""

    @property
    def verdict(self) -> Verdict:
        """Whether it fits."""
        return self.plan.verdict

    @property
    def fits(self) -> bool:
        """Whether all of it fits on the GPU as it is asked for."""
        return self.plan.verdict == "fits"


class ChartLine(msgspec.Struct, frozen=True):
    """Tokens per second against context: (tokens in the cache, speed of one conversation)."""

    model: PlannedModel
    gpu: Gpu
    points: tuple[tuple[int, Speed], ...]
    fits_up_to: int | None
    """Context beyond which it no longer fits as a whole; None is unknown."""


def compare(
    models: Sequence[PlannedModel],
    gpus: Sequence[Gpu],
    usage: Usage,
    host: Gpu | None = None,
    plan: PlanMemory = plan_memory,
    parts: Parts | None = None,
) -> tuple[Row, ...]:
    """Return a row for each model on each GPU, models first.

    `host` is the processor that takes the layers which do not fit; without it nothing is said of their speed. A table's
    GPU is planned for as if it were empty. `parts` says who computes what.
    """
    return tuple(_row(model, gpu, usage, (host, plan, parts or parts_of)) for model in models for gpu in gpus)


def speed_by_context(
    row: Row, usage: Usage, host: Gpu | None = None, largest: int | None = None, parts_by: Parts | None = None
) -> ChartLine | None:
    """Return decode against context for a row, with as many users; None where its speed is unknown.

    `largest` is where the axis ends; None is what the model was trained for. Layers stay where the row has them.
    `parts_by` says who computes what. The context up to which it fits is one of the points, and so is that of the row's
    figures, where the axis has them.
    """
    parts = (parts_by or parts_of)(row.model, row.plan, row.gpu, host)
    reach = row.largest_context
    if row.verdict == "partly" and reach is not None:
        reach = min(reach, usage.context)  # a longer one needs more layers in main memory than this line has
    points: list[tuple[int, Speed]] = []
    for context in chart_contexts(largest or row.model.trained_context or usage.context, reach, row.context):
        speed = decode_speed(parts, context, usage.users)
        if speed is not None:
            points.append((context, speed))
    return ChartLine(row.model, row.gpu, tuple(points), reach) if points else None


def chart_contexts(largest: int, *others: int | None) -> tuple[int, ...]:
    """Return contexts for a chart: even steps on a logarithmic axis, the largest one, and of `others` those that lie there."""
    top = max(LEAST_CHART_CONTEXT, largest)
    ratio = top / LEAST_CHART_CONTEXT
    steps = (round(LEAST_CHART_CONTEXT * ratio ** (step / (CHART_POINTS - 1))) for step in range(CHART_POINTS))
    inside = (each for each in others if each is not None and LEAST_CHART_CONTEXT <= each <= top)
    return tuple(sorted({*steps, top, *inside}))


def planned_device(gpu: Gpu, free: int | None = None) -> PlannedDevice:
    """Return a GPU as memory is planned for; `free` is what is left of it now, where that is known."""
    is_share = gpu.shares_main_memory and not (gpu.is_this_machine or gpu.is_processor)
    return PlannedDevice(gpu.id, not gpu.is_processor, gpu.usable, free, gpu.shares_main_memory, is_share)


def planned_machine(gpu: Gpu, main: PlannedDevice | None) -> list[PlannedDevice]:
    """Return a GPU in a machine with this main memory; one that shares main memory has its own and no more."""
    device = planned_device(gpu)
    if gpu.is_processor:
        return [device]
    if gpu.shares_main_memory and not gpu.is_this_machine:
        return [device, PlannedDevice(MAIN_MEMORY, False, gpu.memory)]
    return [device] if main is None else [device, main]


def parts_of(model: PlannedModel, plan: MemoryPlan, gpu: Gpu, host: Gpu | None) -> tuple[Part, ...]:
    """Return who does what of a model as it is planned; empty where that, or the speed of who would, is unknown."""
    layers = -1 if gpu.is_processor else plan.gpu_layers
    if layers is None:
        return ()
    work = split_work(model, plan.options, layers)
    if work is None:
        return ()
    if gpu.is_processor:
        return (Part(work.on_gpu, gpu), Part(work.on_processor, gpu))
    if work.on_processor.is_empty:
        return (Part(work.on_gpu, gpu),)
    return (Part(work.on_gpu, gpu), Part(work.on_processor, host)) if host else ()


def parts_on(
    model: PlannedModel,
    plan: MemoryPlan,
    devices: Sequence[PlannedDevice],
    speeds: Sequence[Gpu | None],
    host: Gpu | None,
) -> tuple[Part, ...]:
    """Return who does what where layers are shared out over several GPUs, each of which works at its own speed.

    `speeds` are those of the GPUs among `devices`, in their order. Empty where the speed of one that works is unknown.
    """
    if len(speeds) == 1:
        return parts_of(model, plan, speeds[0], host) if speeds[0] is not None else ()
    everything = all_layers(model)
    if everything is None or plan.gpu_layers is None:
        return ()
    where = places(everything - 1, plan.gpu_layers, [device for device in devices if device.is_gpu])
    works = work_by_place(model, plan.options, where)
    if works is None:
        return ()
    on_gpus = [(works[at], speed) for at, speed in enumerate(speeds) if at in works]
    busy = [(work, speed) for work, speed in (*on_gpus, (works[None], host)) if not work.is_empty]
    parts = tuple(Part(work, speed) for work, speed in busy if speed is not None)
    return parts if len(parts) == len(busy) else ()


def together(each: PrefillTime, requests: int) -> PrefillTime:
    """Return the time until the last of several prompts has its first token: they are read one after another."""
    count = max(1, requests)
    return replace(
        each, seconds=each.seconds * count, low=each.low * count, high=each.high * count, tokens=each.tokens * count
    )


def _row(model: PlannedModel, gpu: Gpu, usage: Usage, by: tuple[Gpu | None, PlanMemory, Parts]) -> Row:
    host, plan, parts_by = by
    users = max(1, usage.users)
    host = None if gpu.shares_main_memory and not gpu.is_this_machine and not gpu.is_processor else host
    devices = planned_machine(gpu, None if host is None else planned_device(host))
    planned, asked = plan(model, usage.planned, devices), usage
    as_asked = layers = None
    if planned.verdict == "less_context":
        layers = planned.gpu_layers if planned.has_room else None
        as_asked = (
            decode_speed(parts_by(model, planned, gpu, host), asked.context, users) if layers is not None else None
        )
        usage, planned = _shorter(usage, planned, lambda options: plan(model, options, devices))
    impossible = planned.verdict in ("too_large", "unknown")
    parts = () if impossible else parts_by(model, planned, gpu, host)
    begin = min(usage.prompt, usage.context)
    speed, at_first = (decode_speed(parts, tokens, users) for tokens in (usage.context, begin))
    is_held = usage.prompt <= usage.context
    first = prefill_time(parts, usage.prompt, usage.cached, planned.options.micro_batch) if is_held else None
    limit: Limit | None = speed.limited_by if speed else None
    if planned.verdict in ("too_large", "less_context") or (planned.verdict == "partly" and speed is None):
        limit = "memory"
    alone = planned if users == 1 else plan(model, replace(usage, users=1).planned, devices)
    all_at_once = together(first, users) if first else None
    row = Row(
        model, gpu, planned, speed, first, all_at_once, limit, context=usage.context, speed_after_prompt=at_first
    )
    row = _with_needed(row, planned, lambda options: plan(model, options, devices))
    if usage.context < asked.context:
        row = replace(row, speed_as_asked=as_asked, layers_as_asked=layers)
    if planned.verdict == "partly" and not parts:
        return replace(row, largest_context=0, most_users=0)
    room, most = planned.largest_context, alone.most_sequences
    if most is not None and (planned.verdict == "fits" or usage.context < asked.context):
        most = max(most, users)  # they fit, as was worked out with all their buffers
    return replace(row, largest_context=None if room is None else room // users, most_users=most)


def _with_needed(row: Row, planned: MemoryPlan, plan: Callable[[PlanOptions], MemoryPlan]) -> Row:
    """Return a row with what the GPU would have to hold of it, which is not what a load that splits it puts there."""
    part = whole = _on_gpus(planned)
    if planned.verdict in ("partly", "too_large"):
        whole = _on_gpus(plan(replace(planned.options, gpu_layers=ALL_LAYERS, experts_on_cpu=False)))
    return replace(row, needed=part if planned.verdict == "partly" else whole, needed_whole=whole)


def _on_gpus(plan: MemoryPlan) -> int | None:
    """Return what has to be free on the GPUs, or in main memory where there is none; None where a part is unknown."""
    sizes = [device.needed for device in plan.devices if device.is_gpu]
    sizes = sizes or [device.needed for device in plan.devices]
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def _shorter(
    usage: Usage, planned: MemoryPlan, plan: Callable[[PlanOptions], MemoryPlan]
) -> tuple[Usage, MemoryPlan]:
    """Return the context that fits with its plan, so that no figure of a row is one of another plan than the others."""
    less = replace(usage, context=(planned.largest_context or 0) // max(1, usage.users))
    found = plan(less.planned) if less.context else planned
    if found.verdict != "fits":
        return usage, planned
    return less, replace(
        found, verdict=planned.verdict, largest_context=planned.largest_context, levers=planned.levers
    )
