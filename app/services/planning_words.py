"""A plan in words: whether it fits, how fast it would be, what limits it, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.words import Sentence, counted, translate
from app.planner.decode_speed import Part
from app.planner.gpu import CARRIED_OVER, HELD_UP_HERE, MEASURED_HERE, Gpu, Limit, Speed
from app.planner.memory_plan import DevicePlan, Lever, MemoryPlan
from app.planner.plan_options import PlanOptions
from app.services.planning_values import Range, SpeedRows
from app.services.units import at_most, byte_size, count, rate

HALF = 0.5
_LIMITS: dict[Limit, Sentence] = {
    "memory": translate("Planner", "Limited by memory: not all of it fits."),
    "bandwidth": translate("Planner", "Limited by memory bandwidth: every token reads the weights that work on it."),
    "layers": translate("Planner", "Limited by the time that each layer costs whatever its size."),
    "compute": translate("Planner", "Limited by arithmetic."),
    "processor": translate("Planner", "Limited by the layers that the processor computes."),
    "pace": translate(
        "Planner",
        "Answers showed this machine to be much slower than its memory allows: too few threads, other programs, or the "
        "arithmetic of this quantisation.",
    ),
}

_CACHE_READ = translate(
    "Planner",
    "Limited by memory bandwidth: every token reads keys and values of all that is in the cache, which takes longer than "
    "the weights do.",
)


def limit_words(speed: Speed) -> Sentence:
    """Return what limits a speed, by what most of its time goes into."""
    is_cache = speed.limited_by == "bandwidth" and speed.cache_share > HALF
    return _CACHE_READ if is_cache else _LIMITS[speed.limited_by]


def answer_words(plan: MemoryPlan, place: str, everything: int | None, sequences: int) -> Sentence:
    """Return whether a plan fits, without the end of the sentence.

    `place` is the GPU's name, empty for this machine's own.
    """
    gpus = [device for device in plan.devices if device.is_gpu]
    match plan.verdict:
        case "fits":
            return _fits(plan, gpus, place)
        case "partly":
            return _partly(plan, place, everything)
        case "less_context":
            return _less_context(plan, everything, count((plan.largest_context or 0) // max(1, sequences)))
        case "too_large":
            return _too_large(plan)
        case _:
            return plan.reason or translate("Planner", "Whether it fits is not known")


def context_remark(context: int, trained: int | None) -> Sentence | None:
    """Return what speaks against a context of one conversation whatever room there is; None where nothing does."""
    if trained is None or context <= trained:
        return None
    return translate(
        "Planner",
        "The model was trained for {trained} tokens: beyond them its answers get worse. Shorten the context.",
        trained=count(trained),
    )


def prompt_remark(prompt: int, context: int) -> Sentence | None:
    """Return that a prompt is longer than the context; None where it is not."""
    if prompt <= context:
        return None
    return translate(
        "Planner",
        "A prompt of {prompt} tokens does not fit into a context of {context}. Make the context longer, or the prompt shorter.",
        prompt=count(prompt),
        context=count(context),
    )


def shortened_remark(wanted: int, planned: int) -> Sentence:
    """Return that the context which was set before is longer than what the model was trained for."""
    return translate(
        "Planner",
        "{planned} tokens of context are planned instead of {wanted}: the model was trained for no more.",
        planned=count(planned),
        wanted=count(wanted),
    )


def has_room(plan: MemoryPlan) -> bool | None:
    """Return whether every device has room for its part, which a shorter context may not need; None is unknown."""
    return None if plan.verdict == "unknown" else plan.has_room


def _less_context(plan: MemoryPlan, everything: int | None, largest: str) -> Sentence:
    if not has_room(plan) or not any(device.is_gpu for device in plan.devices):
        return translate("Planner", "Fits with a shorter context, of up to {tokens} tokens", tokens=largest)
    if plan.options.experts_on_cpu and plan.gpu_layers == everything:
        return translate(
            "Planner",
            "All fits on the GPU with up to {tokens} tokens of context, with this one only with experts in main memory",
            tokens=largest,
        )
    # What is planned comes last: the speed that follows is of this.
    layers, whole = plan.gpu_layers or 0, everything or 0
    if not layers:
        return translate(
            "Planner",
            "All layers fit on the GPU with up to {tokens} tokens of context, with this one none does",
            tokens=largest,
        )
    one = translate(
        "Planner",
        "All layers fit on the GPU with up to {tokens} tokens of context, with this one only 1 of {all}",
        all=whole,
        tokens=largest,
    )
    several = translate(
        "Planner",
        "All layers fit on the GPU with up to {tokens} tokens of context, with this one only {layers} of {all}",
        layers=layers,
        all=whole,
        tokens=largest,
    )
    return counted(layers, one, several)


def _experts_aside(options: PlanOptions, blocks: int) -> Sentence:
    moved = options.moved(blocks)
    if moved == blocks:
        return translate("Planner", "Fits partly: all layers on the GPU, their experts in main memory")
    one = translate("Planner", "Fits partly: all layers on the GPU, the experts of 1 of them in main memory")
    several = translate(
        "Planner", "Fits partly: all layers on the GPU, the experts of {layers} of them in main memory", layers=moved
    )
    return counted(moved, one, several)


def _fits(plan: MemoryPlan, gpus: list[DevicePlan], place: str) -> Sentence:
    spare = byte_size(least_spare(gpus or list(plan.devices)))
    if not gpus:
        return translate("Planner", "Fits into main memory with {spare} to spare", spare=spare)
    if place:
        return translate("Planner", "Fits on one {gpu} with {spare} to spare", gpu=place, spare=spare)
    if len(gpus) > 1:
        return translate("Planner", "Fits on your GPUs with {spare} to spare", spare=spare)
    return translate("Planner", "Fits on your GPU with {spare} to spare", spare=spare)


def _partly(plan: MemoryPlan, place: str, everything: int | None) -> Sentence:
    values: dict[str, str | int | float] = {"layers": plan.gpu_layers or 0, "all": everything or 0}
    if not plan.gpu_layers:
        return translate("Planner", "Fits into main memory, with no layer on the GPU")
    if plan.options.experts_on_cpu and plan.gpu_layers == everything:
        return _experts_aside(plan.options, (everything or 1) - 1)
    if place:
        return translate(
            "Planner",
            "Fits partly: {layers} of {all} layers on one {gpu}, the rest in main memory",
            gpu=place,
            **values,
        )
    return translate("Planner", "Fits partly: {layers} of {all} layers on the GPU, the rest in main memory", **values)


def _too_large(plan: MemoryPlan) -> Sentence:
    worst = min((device.spare for device in plan.devices if device.spare is not None), default=None)
    if worst is None or worst >= 0:
        return translate("Planner", "Too large for this memory")
    return translate("Planner", "Too large: {lack} of memory are missing", lack=byte_size(-worst))


def least_spare(devices: list[DevicePlan]) -> int | None:
    """Return what stays free on the fullest of some devices; None where one is unknown."""
    spare = [device.spare for device in devices if device.taken or device.spare is None]
    known = [room for room in spare if room is not None]
    return min(known, default=None) if len(known) == len(spare) else None


def pace_words(speed: SpeedRows) -> Sentence | None:
    """Return how fast it would be, each figure with its band; None where it is not known."""
    decode, first = speed.decode, speed.first_token
    if decode is None:
        return None
    values = {"rate": rate(decode.value), "low": rate(decode.low), "high": rate(decode.high)}
    if first is None and speed.sequences > 1:
        return translate("Planner", "about {rate} tok/s each ({low}–{high})", **values)
    if first is None:
        return translate("Planner", "about {rate} tok/s ({low}–{high})", **values)
    values["first"] = time_with_band(first)
    if speed.sequences > 1:
        return translate("Planner", "about {rate} tok/s each ({low}–{high}), first token after {first}", **values)
    return translate("Planner", "about {rate} tok/s ({low}–{high}), first token after {first}", **values)


def time_with_band(time: Range) -> str:
    """Return a time that is expected, as roughly as it is known, with its band in the same unit."""
    scale, unit = (1e3, "ms") if time.value < 1 else (1.0, "s") if time.value < 120 else (1 / 60, "min")
    digits = 1 if unit == "s" and time.value < 10 else 0
    value, low, high = (f"{each * scale:,.{digits}f}" for each in (time.value, time.low, time.high))
    return f"{at_most(time.is_most)}{value} {unit} ({low}–{high})"


def lever_words(lever: Lever, everything: int | None, sequences: int) -> Sentence:
    """Return what a change is."""
    options = lever.options
    if options is None and lever.path:
        return translate("Planner", "Smaller file: {name}", name=lever.name)
    if options is None:
        return translate("Planner", "Smaller file: {name}, by estimate", name=lever.name)
    match lever.kind:
        case "context":
            tokens = count(options.context // max(1, sequences))
            return translate("Planner", "Shorter context: {tokens} tokens", tokens=tokens)
        case "kv_type":
            return translate("Planner", "Smaller KV cache: {name}", name=lever.name.upper())
        case "experts_on_cpu":
            return _experts_lever(options.experts_on_cpu, everything)
        case "flash_attention":
            return translate("Planner", "Flash attention")
        case _:
            layers = options.gpu_layers or 0
            return translate("Planner", "{layers} of {all} layers on the GPU", layers=layers, all=everything or 0)


def _experts_lever(moved: int, everything: int | None) -> Sentence:
    blocks = (everything or 1) - 1
    if not moved:
        return translate("Planner", "As many experts on the GPU as fit")
    if not 0 < moved < blocks:
        return translate("Planner", "Experts in main memory")
    one = translate("Planner", "Experts of 1 of {all} layers in main memory", all=blocks)
    several = translate("Planner", "Experts of {layers} of {all} layers in main memory", layers=moved, all=blocks)
    return counted(moved, one, several)


def rests_on(gpu: Gpu) -> Sentence:
    """Return what the speed of a device is judged by."""
    told = gpu.sources.get("efficiency")
    if told == HELD_UP_HERE:
        return translate("Planner", "Judged by the fastest of the answers on this machine.")
    if told == MEASURED_HERE:
        return translate("Planner", "Judged by answers on this machine.")
    if gpu.sources.get("efficiency", "").startswith(CARRIED_OVER):
        return translate(
            "Planner",
            "Judged by the figures of {gpu} and by answers on a GPU of the same class in this machine.",
            gpu=gpu.name,
        )
    if gpu.is_processor or gpu.source_kind("bandwidth") == "assumed":
        return translate("Planner", "Judged by experience until answers on this machine tell more.")
    return translate("Planner", "Judged by the figures of {gpu} and published runs.", gpu=gpu.name)


def rests_on_both(parts: Sequence[Part]) -> Sentence | None:
    """Return what a speed is judged by where layers of another machine's GPU lie beside it in main memory; else None."""
    busy = [part for part in parts if not part.work.is_empty]
    others = [part for part in busy if not part.gpu.is_this_machine and not part.gpu.is_processor]
    processor = next((part.gpu for part in busy if part.gpu.is_processor), None)
    if not others or processor is None:
        return None
    gpu = busiest(others)
    return translate(
        "Planner",
        "Judged by the figures of {gpu} and published runs, and for the layers in main memory by the processor of this "
        "machine ({processor}): beside another one it may be much faster or slower.",
        gpu=gpu.name,
        processor=processor.name,
    )


def busiest(parts: Sequence[Part]) -> Gpu:
    """Return the device that has the most weights."""
    return max(parts, key=lambda part: part.work.weight_bytes()).gpu


NO_SPEED = translate(
    "Planner", "How fast it would be is not known: the speed of this memory is neither in the table nor measured."
)
DOES_NOT_FIT = translate("Planner", "How fast it would be is not said as long as it does not fit.")
"""Its layers would lie nowhere."""
