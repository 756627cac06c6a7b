"""Changes that need less memory, each with what it saves and whether that is enough. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from app.core.model import ALL_LAYERS, CONTEXT_STEP, KVType
from app.planner.fitting import Machine, largest_context
from app.planner.layout import all_layers
from app.planner.memory_plan import Lever, LeverKind
from app.planner.plan_options import PlanOptions
from app.planner.refusals import refusal

BITS_PER_WEIGHT: dict[str, float] = {
    "Q8_0": 8.5008,
    "Q6_K": 6.5633,
    "Q5_K_M": 5.7036,
    "Q4_K_M": 4.8944,
    "IQ4_XS": 4.4597,
    "Q3_K_M": 3.9960,
    "IQ3_XXS": 3.2548,
    "Q2_K": 3.1593,
    "IQ2_XS": 2.5882,
}
"""Of Llama 3.1 8B (`tools/quantize/README.md` of llama.cpp); other models differ by some per cent."""
SMALLER_CACHES: tuple[KVType, ...] = ("q8_0", "q4_0")
NOTICEABLE = 0.97
"""A quantisation that is not smaller by at least a thirtieth is none to recommend."""


def levers_of(machine: Machine, options: PlanOptions, decided: PlanOptions) -> tuple[Lever, ...]:
    """Return the changes of a configuration, in the order in which they cost least; `decided` is what a load would choose."""
    needed = machine.needed(options)
    if needed is None:
        return ()
    found = []
    for kind, name, changed in _changes(machine, options, decided):
        if changed == options or refusal(machine.model, changed) is not None:
            continue
        after = machine.needed(changed)
        if after is not None and after < needed:
            found.append(Lever(kind, changed, needed - after, bool(machine.fits(changed)), name))
    smaller = _smaller_quantisation(machine, options)
    return (*found, *(() if smaller is None else (smaller,)))


def _changes(
    machine: Machine, options: PlanOptions, decided: PlanOptions
) -> Iterator[tuple[LeverKind, str, PlanOptions]]:
    if not options.flash_attention:
        yield "flash_attention", "", replace(options, flash_attention=True)
    yield "context", "", replace(options, context=_shorter(machine, options))
    for kind in SMALLER_CACHES:
        yield "kv_type", kind, replace(options, kv_type_k=kind, kv_type_v=kind)
    if machine.gpus:
        if machine.model.is_mixture:
            yield "experts_on_cpu", "", replace(options, experts_on_cpu=True)
        yield "gpu_layers", "", _fewer_layers(machine, options, decided)


def _shorter(machine: Machine, options: PlanOptions) -> int:
    """Return the longest context that fits and is shorter; half of it where none does, or where it fits already."""
    longest = largest_context(machine, options) or 0
    if 0 < longest < options.cells:
        return longest
    return max(CONTEXT_STEP, options.cells // 2)


def _fewer_layers(machine: Machine, options: PlanOptions, decided: PlanOptions) -> PlanOptions:
    """Return the configuration that a load would choose, or half the layers where it would take them all."""
    if decided.gpu_layers != options.gpu_layers:
        return decided
    everything = all_layers(machine.model) or 0
    present = everything if options.gpu_layers in (None, ALL_LAYERS) else options.gpu_layers or 0
    return replace(options, gpu_layers=min(present, everything) // 2)


def _smaller_quantisation(machine: Machine, options: PlanOptions) -> Lever | None:
    """Return the best quantisation that would fit, or the smallest known; None where the present one is as small."""
    weights, parameters = machine.model.weights, machine.model.parameters
    if weights is None or not parameters or not weights.total:
        return None
    present = weights.total * 8 / parameters
    smaller = [(name, bits) for name, bits in BITS_PER_WEIGHT.items() if bits < present * NOTICEABLE]
    lever = None
    for name, bits in smaller:
        saves, fits = _scaled(machine, options, bits / present)
        lever = Lever("quantisation", None, saves, fits, name, is_estimate=True)
        if fits:
            return lever
    return lever


def _scaled(machine: Machine, options: PlanOptions, share: float) -> tuple[int, bool]:
    """Return what is saved where all weights are `share` of what they are, and whether that fits."""
    fits = machine.fits_with(options, share)
    holdings = machine.held(options)
    counted = holdings[:-1] or holdings
    return round(sum((holding.weights or 0) * (1 - share) for holding in counted)), bool(fits)
