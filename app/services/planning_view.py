"""Makes the plan of a choice, and what is shown of it. Pure: everything that it needs is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from app.core.devices import MAIN_MEMORY
from app.core.events import Failed, MemoryMeasured
from app.core.machine_speed import KeptAnswers
from app.core.model import LoadOptions
from app.planner.comparison import parts_on, planned_machine
from app.planner.decode_speed import decode_speed
from app.planner.fitting import Machine
from app.planner.gpu import Gpu, PrefillTime, Speed
from app.planner.layout import all_layers
from app.planner.memory_plan import DevicePlan, MemoryPlan, PlannedDevice
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from app.planner.planning import is_as_asked, plan_memory, refused, weights_alone, with_asked
from app.planner.prefill_speed import prefill_time
from app.planner.quantised import OtherFile
from app.services.calibrating import calibration_of
from app.services.held_up import caveats
from app.services.planning_devices import KnownGpus
from app.services.planning_measured import decode_measured, prefill_measured
from app.services.planning_values import (
    HERE,
    DeviceRows,
    LeverView,
    PlanChoice,
    PlanRow,
    PlanView,
    Range,
    RowKind,
    SpeedRows,
)
from app.services.planning_words import (
    DOES_NOT_FIT,
    NO_SPEED,
    answer_words,
    busiest,
    context_remark,
    has_room,
    lever_words,
    limit_words,
    pace_words,
    prompt_remark,
    rests_on,
    rests_on_both,
)

_ROWS: tuple[RowKind, ...] = ("weights", "kv", "state", "compute", "overhead", "margin")


class Place(NamedTuple):
    """Where something is planned to run."""

    devices: tuple[PlannedDevice, ...]
    """GPUs first, main memory last where layers could lie in it."""
    speeds: tuple[Gpu | None, ...]
    """How fast each of its GPUs is, in their order; the processor alone where there is none. None is unknown."""
    host: Gpu | None
    """The processor, which takes what does not fit."""
    names: dict[str, str]
    """What devices are called, by the engine's names; main memory is not among them."""
    is_here: bool
    answers: tuple[tuple[Gpu, KeptAnswers], ...] = ()
    """What answers on its devices showed, each beside the speed of the device."""

    def answers_on(self, gpu: Gpu) -> KeptAnswers:
        """Return what answers on one of its devices showed."""
        return next((kept for each, kept in self.answers if each == gpu), KeptAnswers())


class Made(NamedTuple):
    """A plan and what it was made of."""

    model: PlannedModel
    options: PlanOptions
    """As asked for: all conversations together."""
    plan: MemoryPlan
    machine: Machine
    """The model on the devices of its place, which knows what was worked out of it."""
    devices: tuple[PlannedDevice, ...]


def place_of(where: str, here: Sequence[PlannedDevice], gpus: KnownGpus) -> Place:
    """Return this machine, or one GPU in it that is not there."""
    host = gpus.here.get(MAIN_MEMORY)
    chosen = next((gpu for gpu in gpus.all if gpu.id == where), None)
    if where != HERE and chosen is not None:
        main = next((replace(each, free=each.total) for each in here if not each.is_gpu), None)
        devices = tuple(planned_machine(chosen, main))
        names = {devices[0].name: chosen.name}
        return Place(devices, (chosen,), None if chosen.shares_main_memory else host, names, False)
    own = [device for device in here if device.is_gpu]
    names = {device.name: gpus.here[device.name].name if device.name in gpus.here else device.name for device in own}
    speeds = tuple(gpus.here.get(device.name) for device in own) if own else (host,)
    answers = tuple((gpus.here[name], kept) for name, kept in gpus.answers.items() if name in gpus.here)
    return Place(tuple(here), speeds, host, names, True, answers)


def plan_options_of(choice: PlanChoice) -> PlanOptions:
    """Return the configuration that serves all conversations of a choice."""
    return PlanOptions(
        context=choice.context * choice.sequences,
        kv_type_k=choice.kv_type,
        kv_type_v=choice.kv_type_v or choice.kv_type,
        sequences=choice.sequences,
        gpu_layers=choice.gpu_layers,
        experts_on_cpu=choice.experts_on_cpu,
        micro_batch=choice.micro_batch,
        flash_attention=choice.flash_attention,
    )


def make_plan(
    model: PlannedModel,
    choice: PlanChoice,
    place: Place,
    before: Made | None = None,
    files: tuple[OtherFile, ...] | None = None,
) -> Made:
    """Return the plan of a choice by formula; `files` are the model's other files, where it is known which there are.

    `before` is the plan before it: of the same model on the same devices what it has worked out is not worked out again.
    """
    options = plan_options_of(choice)
    is_there = (
        before is not None
        and before.model is model
        and before.devices == place.devices
        and before.machine.files == files
    )
    if before is not None and is_there and before.options == options:
        return before  # a prompt is no part of the memory
    machine = before.machine if before is not None and is_there else Machine(model, place.devices, files=files)
    return Made(model, options, plan_memory(model, options, place.devices, machine=machine), machine, place.devices)


def asked_options(made: Made, remembered: LoadOptions) -> LoadOptions:
    """Return what llama.cpp is asked about: the configuration with the layers that the plan decided."""
    options = made.plan.options
    return replace(
        remembered,
        context=options.context,
        gpu_layers=made.plan.gpu_layers if any(device.is_gpu for device in made.plan.devices) else 0,
        experts_on_cpu=options.experts_on_cpu,
        kv_type_k=options.kv_type_k,
        kv_type_v=options.kv_type_v,
        micro_batch=options.micro_batch,
        flash_attention="on" if options.flash_attention else "off",
    ).validated()


def view_of(made: Made, choice: PlanChoice, place: Place, asked: MemoryMeasured | Failed | None) -> PlanView:
    """Return what is shown of a plan; `asked` is what llama.cpp said of it."""
    plan, is_asked, problem = made.plan, False, None
    is_whole = is_as_asked(made.model, made.options)
    if isinstance(asked, Failed) and asked.refuses_model:
        plan = refused(plan, asked.sentence)
    elif isinstance(asked, Failed):
        problem = asked.sentence
    elif asked is not None:
        told = asked.memory if is_whole else weights_alone(asked.memory)
        plan, is_asked = with_asked(plan, told, made.model, place.devices), True
    everything = all_layers(made.model)
    speed = _speed(made.model, plan, choice, place)
    name = "" if place.is_here else next(iter(place.names.values()), "")
    largest = plan.largest_context
    is_possible = has_room(plan)
    return PlanView(
        fit=plan.verdict,
        answer=answer_words(plan, name, everything, choice.sequences),
        pace=pace_words(speed) if is_possible else None,
        devices=tuple(_device(device, place) for device in plan.devices),
        levers=tuple(
            LeverView(
                lever.kind,
                lever_words(lever, everything, choice.sequences),
                lever.saves,
                lever.fits,
                lever.options is not None or bool(lever.path),
            )
            for lever in plan.levers
        ),
        speed=speed,
        gpu_layers=plan.gpu_layers,
        all_layers=everything,
        largest_context=None if largest is None else largest // max(1, choice.sequences),
        most_sequences=plan.most_sequences,
        is_possible=is_possible,
        is_asked=is_asked,
        is_asked_of_all=is_asked and is_whole,
        remark=context_remark(choice.context, made.model.trained_context),
        prompt_remark=prompt_remark(choice.prompt, choice.context),
        asked_problem=problem,
    )


def _device(device: DevicePlan, place: Place) -> DeviceRows:
    return DeviceRows(
        name=place.names.get(device.name, "") if device.is_gpu else "",
        is_gpu=device.is_gpu,
        rows=tuple(
            PlanRow(kind, figure.bytes, figure.source) for kind, figure in zip(_ROWS, device.figures, strict=True)
        ),
        needed=device.needed,
        free=device.free,
        total=device.total,
        is_used=device.taken != 0,
    )


def _speed(model: PlannedModel, plan: MemoryPlan, choice: PlanChoice, place: Place) -> SpeedRows:
    """Return how fast it would be: where it does not fit with its layers as they are, nothing is said."""
    if place.speeds == (None,):
        return SpeedRows(reason=NO_SPEED)
    if not has_room(plan):
        return SpeedRows(reason=plan.reason or DOES_NOT_FIT)
    parts = parts_on(model, plan, place.devices, place.speeds, place.host)
    depth = min(choice.prompt, choice.context)
    decode, full = (decode_speed(parts, context, choice.sequences) for context in (depth, choice.context))
    if decode is None:
        return SpeedRows(reason=model.unknown_reason or NO_SPEED)
    is_held = choice.prompt <= choice.context
    first = prefill_time(parts, depth, min(choice.cached, depth), choice.micro_batch) if is_held else None
    showed = place.answers_on(busiest(parts))
    rest = calibration_of(showed).rest_s
    answers = showed if choice.sequences == 1 else KeptAnswers()
    beside = decode_measured(parts, answers)
    read = prefill_measured(parts, answers, choice.micro_batch)
    return SpeedRows(
        decode=_range(decode),
        ceiling=decode.ceiling,
        decode_full=None if full is None else _range(full),
        ceiling_full=None if full is None else full.ceiling,
        context=choice.context,
        sequences=choice.sequences,
        first_token=None if first is None else _time(first, rest or 0.0),
        first_beside=rest,
        evaluated=first.tokens if first is not None else 0,
        limit=limit_words(decode),
        measured=beside.rate if beside is not None else None,
        measured_at=beside.tokens if beside is not None else 0,
        expected_there=None if beside is None else beside.expected,
        read=read.rate if read is not None else None,
        read_tokens=read.tokens if read is not None else 0,
        expected_read=None if read is None else read.expected,
        rests_on=rests_on_both(parts) or rests_on(busiest(parts)),
        caveats=caveats(parts, reads=first is not None),
    )


def _range(speed: Speed) -> Range:
    return Range(speed.tokens_per_s, speed.low, speed.high)


def _time(time: PrefillTime, rest: float) -> Range:
    return Range(time.seconds + rest, time.low + rest, time.high + rest, time.is_most)
