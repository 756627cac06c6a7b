"""Which layers go to main memory where not all fit on the GPUs, as a load decides it. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from app.core.layer_choice import choose_experts, choose_layers
from app.core.model import ALL_LAYERS
from app.planner.fitting import Machine
from app.planner.margins import room_of
from app.planner.plan_options import PlanOptions


def count_of(options: PlanOptions, everything: int) -> int:
    """Return how many layers are on GPUs where there is one, the output layer counted."""
    return everything if options.gpu_layers in (None, ALL_LAYERS) else min(options.gpu_layers or 0, everything)


def with_layers(machine: Machine, options: PlanOptions, everything: int) -> PlanOptions:
    """Return a configuration with the layers that fit on the GPUs; as it is where something is unknown."""

    def measure(layers: int, experts_on_cpu: int) -> dict[str, int | None]:
        tried = replace(options, gpu_layers=layers, experts_on_cpu=options.experts_on_cpu or experts_on_cpu)
        return machine.beyond_rooms(tried)

    if not machine.gpus:
        return options
    rooms = {str(number): room_of(gpu) for number, gpu in enumerate(machine.gpus)}
    decided = options
    for mixture in (machine.model.is_mixture and not options.experts_on_cpu, False):
        choice = choose_layers(measure, rooms, everything, mixture=mixture)
        if choice is None:
            return options
        decided = replace(
            options, gpu_layers=choice.gpu_layers, experts_on_cpu=options.experts_on_cpu or choice.experts_on_cpu
        )
        if machine.fits(decided):
            break  # main memory may be too small for all experts, and hold whole layers
    return decided


def with_experts(machine: Machine, options: PlanOptions, everything: int) -> PlanOptions:
    """Return a configuration with as few experts in main memory as its layers leave room for; all where none do."""

    def measure(layers: int, experts_on_cpu: int) -> dict[str, int | None]:
        return machine.beyond_rooms(replace(options, gpu_layers=layers, experts_on_cpu=experts_on_cpu))

    rooms = {str(number): room_of(gpu) for number, gpu in enumerate(machine.gpus)}
    moved = choose_experts(measure, rooms, count_of(options, everything), everything - 1)
    return replace(options, experts_on_cpu=ALL_LAYERS if moved is None else moved)


def fits_somehow(machine: Machine, options: PlanOptions, everything: int) -> bool | None:
    """Return whether a configuration fits with as many layers in main memory as it needs; None is unknown."""
    return machine.fits(with_layers(machine, options, everything))
