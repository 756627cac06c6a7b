"""Makes what the command `plan` says of models, devices, and what a dry run told. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY
from app.core.events import MemoryMeasured
from app.core.model import ALL_LAYERS, DEFAULT_PROMPT, LoadOptions
from app.core.words import Sentence
from app.planner.comparison import Row, Usage, compare, parts_of, parts_on
from app.planner.decode_speed import Part
from app.planner.gpu import Gpu, Speed
from app.planner.layout import blocks_of
from app.planner.memory_plan import DevicePlan, Figure, Lever, MemoryPlan, PlannedDevice, Verdict
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import is_as_asked, plan_memory, refused, weights_alone, with_asked
from app.services.held_up import caveats
from app.services.plan_answer import (
    THIS_MACHINE,
    DecodeValue,
    DeviceValue,
    FigureValue,
    FirstTokenValue,
    LeverValue,
    ModelValue,
    PlanAsked,
    PlanReport,
    PlanValue,
)
from app.services.plan_models import ReadModel
from app.services.planning_words import context_remark, prompt_remark, rests_on_both

_BEST_FIRST: tuple[Verdict, ...] = ("fits", "less_context", "partly", "too_large", "unknown")


class Here(msgspec.Struct, frozen=True):
    """This machine."""

    devices: tuple[PlannedDevice, ...]
    """Its GPUs, and last main memory."""
    speeds: dict[str, Gpu]
    """How fast each is, by its name."""
    names: dict[str, str] = {}
    """What their makers call them."""
    measured: MemoryMeasured | None = None
    """What a dry run told of the one model that is planned."""
    note: Sentence | None = None
    """Why it told nothing."""
    refusal: Sentence | None = None
    """Why llama.cpp takes this file for none that it can load."""


def report_of(asked: PlanAsked, models: Sequence[ReadModel], gpus: Sequence[Gpu], here: Here) -> PlanReport:
    """Return what is said of models on some GPUs, or on this machine where none is named."""
    values = [_model(asked, each, gpus, here) for each in models]
    if len(values) > 1:
        best = _best(values)
        values = [replace(each, is_best=number == best) for number, each in enumerate(values)]
    return PlanReport(asked, tuple(values))


def usage_of(asked: PlanAsked, trained: int | None) -> Usage:
    """Return what is to be done with a model that was trained for so many tokens."""
    context = LoadOptions(context=asked.context).cells(trained) if asked.context is None else asked.context
    options = PlanOptions(context=0, kv_type_k=asked.kv_type, kv_type_v=asked.kv_type)
    prompt = min(DEFAULT_PROMPT if asked.prompt is None else asked.prompt, context)
    return Usage(context=context, users=asked.sequences, prompt=prompt, options=options)


def _model(asked: PlanAsked, read: ReadModel, gpus: Sequence[Gpu], here: Here) -> ModelValue:
    if read.model is None:
        return ModelValue(read.name, read.path, size=read.size, problem=read.problem)
    model = read.model
    usage = usage_of(asked, model.trained_context)
    host = here.speeds.get(MAIN_MEMORY)
    if gpus:
        plans: tuple[PlanValue, ...] = tuple(
            _elsewhere(_plan(row, usage, row.gpu.id, row.gpu.name), row, host)
            for row in compare([model], gpus, usage, host)
        )
    else:
        plans = (_here(model, usage, here, host),)
    too_long = prompt_remark(asked.prompt or 0, usage.context)
    if too_long is not None:
        plans = tuple(replace(plan, ttft=None) for plan in plans)
    remark = too_long or context_remark(usage.context, model.trained_context)
    return ModelValue(
        name=read.name,
        path=read.path,
        architecture=model.architecture or None,
        kind=model.kind,
        quantisation=model.quantisation,
        parameters=model.parameters,
        active_parameters=model.active_parameters,
        layers=model.layers,
        trained_context=model.trained_context,
        size=read.size,
        plans=tuple(replace(plan, remark=remark) for plan in plans),
    )


def _here(model: PlannedModel, usage: Usage, here: Here, host: Gpu | None) -> PlanValue:
    def plan(planned: PlannedModel, options: PlanOptions, _devices: Sequence[PlannedDevice]) -> MemoryPlan:
        found = plan_memory(planned, options, here.devices)
        if here.refusal is not None:
            return refused(found, here.refusal)
        is_asked = here.measured is not None and options == usage.planned
        return _asked(found, planned, options, here) if is_asked else found

    gpus = [here.speeds.get(device.name) for device in here.devices if device.is_gpu]
    known = [gpu for gpu in gpus if gpu is not None]
    # where a figure is of one GPU, the slowest tells what is to be expected at least
    speed = min(known, key=lambda gpu: gpu.effective_bandwidth) if known and len(known) == len(gpus) else None
    speed = host if not gpus else speed
    name = ", ".join(here.names.get(device.name, device.name) for device in here.devices if device.is_gpu)

    def parts(planned: PlannedModel, made: MemoryPlan, gpu: Gpu, host: Gpu | None) -> tuple[Part, ...]:
        return parts_on(planned, made, here.devices, known if speed is not None and gpus else [gpu], host)

    (row,) = compare([model], [speed or _UNKNOWN], usage, host, plan, parts)
    if speed is None:
        limit = row.limited_by if row.limited_by == "memory" else None
        silent = replace(
            row, speed=None, speed_after_prompt=None, speed_as_asked=None, first_token=None, first_token_together=None
        )
        row = replace(silent, limited_by=limit)
    value = _plan(row, usage, THIS_MACHINE, name or here.names.get(MAIN_MEMORY, ""))
    own = parts(model, row.plan, speed, host) if speed is not None else ()
    return replace(value, note=here.note, caveats=_caveats(own, value))


def _asked(plan: MemoryPlan, model: PlannedModel, options: PlanOptions, here: Here) -> MemoryPlan:
    """Return the plan with the layers that the dry run has put on GPUs, and with its figures."""
    measured = here.measured
    if measured is None:
        return plan
    if not is_as_asked(model, options):
        return _weights_asked(plan, measured, model, here)
    chosen, layers = measured.options, _layers_of(measured)
    has_gpu = any(device.is_gpu for device in here.devices)
    if has_gpu and (layers, chosen.experts_on_cpu) != (plan.gpu_layers, plan.options.experts_on_cpu):
        load = replace(options, gpu_layers=layers, experts_on_cpu=chosen.experts_on_cpu)
        plan = plan_memory(model, options, here.devices, load=load)
    return with_asked(plan, measured.memory, model, here.devices)


def _weights_asked(plan: MemoryPlan, measured: MemoryMeasured, model: PlannedModel, here: Here) -> MemoryPlan:
    """Return the plan with the weights that a dry run of one conversation tells, where they lie as they are planned."""
    chosen, layers = measured.options, _layers_of(measured)
    has_gpu = any(device.is_gpu for device in here.devices)
    if has_gpu and (layers, chosen.experts_on_cpu) != (plan.gpu_layers, plan.options.experts_on_cpu):
        return plan
    return with_asked(plan, weights_alone(measured.memory), model, here.devices)


def _layers_of(measured: MemoryMeasured) -> int:
    """Return how many layers a dry run has put on GPUs."""
    chosen, everything = measured.options, measured.layers + 1
    return everything if chosen.gpu_layers in (None, ALL_LAYERS) else min(chosen.gpu_layers or 0, everything)


def _plan(row: Row, usage: Usage, gpu: str, name: str) -> PlanValue:
    plan, first = row.plan, row.first_token
    ttft = None
    if first is not None:
        ttft = FirstTokenValue(
            first.seconds * 1000,
            first.low * 1000,
            first.high * 1000,
            first.tokens_per_s,
            first.limited_by,
            first.is_most,
        )
    return PlanValue(
        gpu=gpu,
        name=name,
        verdict=plan.verdict,
        reason=plan.reason,
        context=row.context,
        prompt=usage.prompt,
        gpu_layers=plan.gpu_layers,
        experts_on_cpu=_moved(plan.options, row.model),
        largest_context=row.largest_context,
        most_sequences=row.most_users,
        limited_by=row.limited_by,
        needed=row.needed,
        decode=_decode(row.speed, row.gpu, row.context),
        decode_as_asked=_decode(row.speed_as_asked, row.gpu, usage.context),
        gpu_layers_as_asked=row.layers_as_asked,
        context_as_asked=usage.context,
        decode_after_prompt=_decode(row.speed_after_prompt, row.gpu, min(usage.prompt, row.context)),
        ttft=ttft,
        devices=tuple(_device(device, name if device.name == gpu else "") for device in plan.devices),
        levers=tuple(_lever(lever, row.model, max(1, usage.users)) for lever in plan.levers),
    )


def _elsewhere(value: PlanValue, row: Row, host: Gpu | None) -> PlanValue:
    """Return a plan for a GPU that is not here, whose layers in main memory this machine's processor is judged to compute."""
    with_fewer = row.plan
    if row.layers_as_asked is not None:  # at least experts lie in main memory then
        with_fewer = replace(row.plan, gpu_layers=max(1, row.layers_as_asked - 1))
    parts, parts_as_asked = (parts_of(row.model, plan, row.gpu, host) for plan in (row.plan, with_fewer))
    now, as_asked = rests_on_both(parts), rests_on_both(parts_as_asked)
    return replace(
        value,
        caveats=_caveats((*parts, *parts_as_asked), value),
        note=None if value.decode is None else as_asked or now,
        decode=_judged(value.decode, now),
        decode_after_prompt=_judged(value.decode_after_prompt, now),
        decode_as_asked=_judged(value.decode_as_asked, as_asked),
    )


def _caveats(parts: Sequence[Part], value: PlanValue) -> tuple[Sentence, ...]:
    """Return why the speeds of a plan are to be doubted; nothing where it has none."""
    return () if value.decode is None else caveats(parts, reads=value.ttft is not None)


def _judged(decode: DecodeValue | None, beside: Sentence | None) -> DecodeValue | None:
    """Return a speed as what it is: one with the processor of another machine than its GPU is assumed."""
    return decode if decode is None or beside is None else replace(decode, source="assumed")


def _decode(speed: Speed | None, gpu: Gpu, context: int) -> DecodeValue | None:
    if speed is None:
        return None
    return DecodeValue(
        speed.tokens_per_s,
        speed.low,
        speed.high,
        speed.ceiling,
        speed.together,
        speed.limited_by,
        gpu.source_kind("efficiency"),
        context,
    )


def _device(device: DevicePlan, name: str) -> DeviceValue:
    return DeviceValue(
        name=(name or device.name) if device.is_gpu else MAIN_MEMORY,
        is_gpu=device.is_gpu,
        weights=_figure(device.weights),
        kv=_figure(device.kv),
        state=_figure(device.state),
        compute=_figure(device.compute),
        overhead=_figure(device.overhead),
        margin=_figure(device.margin),
        needed=device.needed,
        total=device.total,
        free=device.free,
        spare=device.spare,
    )


def _figure(figure: Figure) -> FigureValue:
    return FigureValue(figure.bytes, figure.source)


def _moved(options: PlanOptions, model: PlannedModel) -> int | None:
    blocks = blocks_of(model)
    return None if blocks is None else options.moved(blocks)


def _lever(lever: Lever, model: PlannedModel, users: int) -> LeverValue:
    options = lever.options
    return LeverValue(
        kind=lever.kind,
        saves=lever.saves,
        fits=lever.fits,
        context=None if options is None or lever.kind != "context" else options.cells // users,
        kv_type=None if options is None or lever.kind != "kv_type" else options.kv_type_k,
        gpu_layers=None if options is None or lever.kind != "gpu_layers" else options.gpu_layers,
        experts_on_cpu=None if options is None or lever.kind != "experts_on_cpu" else _moved(options, model),
        quantisation=lever.name or None,
        is_estimate=lever.is_estimate,
    )


def _best(models: Sequence[ModelValue]) -> int | None:
    """Return which of several models to take: of those that fit best on the first GPU the largest."""

    def rank(number: int) -> tuple[int, int]:
        return _BEST_FIRST.index(models[number].plans[0].verdict), -(models[number].size or 0)

    usable = [
        number for number, each in enumerate(models) if each.plans and each.plans[0].verdict not in _BEST_FIRST[3:]
    ]
    return min(usable, key=rank) if usable else None


_UNKNOWN = Gpu(
    id=THIS_MACHINE,
    name="",
    memory=0,
    usable=0,
    bandwidth=1.0,
    tflops=None,
    layer_us=0.0,
    efficiency=1.0,
    prefill_tflops=None,
    below=0.5,
    above=0.5,
    prefill_band=0.5,
    is_this_machine=True,
)
"""Stands for a GPU whose speed is not known: what is worked out of its speed is thrown away."""
