"""What the command `plan` prints for people: one model on one machine in full, several of either as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from app.cli.terminal import one_line
from app.services.fit_verdict import Fit
from app.services.plan_answer import (
    THIS_MACHINE,
    DecodeValue,
    DeviceValue,
    LeverValue,
    ModelValue,
    PlanAsked,
    PlanReport,
    PlanValue,
)
from app.services.units import UNKNOWN, at_most, byte_size, count, milliseconds, parameter_count, rate

VERDICTS = {
    "fits": "fits",
    "less_context": "fits with less context",
    "partly": "partly on the GPU",
    "too_large": "too large",
    "unknown": "unknown",
}
IN_TABLE = {**VERDICTS, "less_context": "less context", "partly": "partly"}
STATES = {"tight": "fits, but tight", "busy": "once memory is free"}
MAKERS = ("NVIDIA GeForce ", "NVIDIA ", "AMD Radeon ")
"""What a table leaves out of the names of GPUs."""
SOURCES = {"asked": "asked of llama.cpp", "formula": "by formula", "assumed": "assumed"}
LIMITS = {
    "memory": "memory is too small",
    "bandwidth": "memory bandwidth",
    "layers": "many small layers",
    "compute": "arithmetic",
    "processor": "the processor's layers",
    "pace": "a machine much slower than its memory allows",
}
ROWS = (
    ("Weights", "weights"),
    ("KV cache", "kv"),
    ("State", "state"),
    ("Compute", "compute"),
    ("Overhead", "overhead"),
    ("Margin", "margin"),
)
INDENT = "  "
BEST = "*"
WIDEST = 110
"""Letters of a line of text below a table."""
FULL = "Tok/s: with the context full, where they are slowest"


def fit_in_table(fit: Fit) -> str:
    """Return in a few words whether a model fits."""
    return STATES[fit.state] if fit.state else IN_TABLE[fit.verdict]


def plan_text(report: PlanReport) -> str:
    """Return the whole answer, with a newline at its end."""
    models = report.models
    if len(models) == 1 and len(models[0].plans) == 1:
        lines = _in_full(report.asked, models[0], models[0].plans[0])
    else:
        lines = _as_table(report.asked, models)
    if report.problem is not None:
        lines = [*lines, "", one_line(report.problem.english())]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _in_full(asked: PlanAsked, model: ModelValue, plan: PlanValue) -> list[str]:
    lines = [_about(model), _usage(asked, [plan]), "", f"{_target(plan)}: {VERDICTS[plan.verdict]}"]
    if plan.verdict == "less_context":
        lines.append(f"{INDENT}All figures are for the context that fits: {_tokens(plan.context)}.")
        lines += _as_asked(model, plan)
    if plan.reason is not None:
        lines.append(f"{INDENT}{one_line(plan.reason.english())}")
    if plan.remark is not None:
        lines.append(f"{INDENT}{one_line(plan.remark.english())}")
    if plan.note is not None:
        said = "llama.cpp was asked and gave no figures: " if plan.gpu == THIS_MACHINE else ""
        lines.append(f"{INDENT}{said}{one_line(plan.note.english())}")
    lines += [f"{INDENT}{one_line(each.english())}" for each in plan.caveats]
    facts = [
        *_decodes(plan),
        ("First token", _first_token(plan)),
        ("Largest context", _tokens(plan.largest_context)),
        ("Conversations", UNKNOWN if plan.most_sequences is None else f"{count(plan.most_sequences)} at once"),
    ]
    if any(device.is_gpu for device in plan.devices):
        facts.append(("Layers on the GPU", _layers(model, plan)))
    if plan.limited_by is not None:
        facts.append(("Limited by", LIMITS[plan.limited_by]))
    width = max(len(name) for name, _ in facts)
    lines += [f"{INDENT}{name.ljust(width)}  {value}" for name, value in facts]
    for device in plan.devices:
        lines += ["", *_device(device)]
    if plan.levers:
        lines += ["", _levers_head(model, plan), *(f"{INDENT}{_lever(lever, plan)}" for lever in plan.levers)]
    return lines


def _as_table(asked: PlanAsked, models: Sequence[ModelValue]) -> list[str]:
    with_model = len(models) > 1
    with_gpu = any(len(model.plans) > 1 or model.plans[0].gpu != THIS_MACHINE for model in models if model.plans)
    head = ["Model"] * with_model + ["GPU"] * with_gpu
    head += ["Verdict", "Needs", "Context up to", "At once", "First token", "Tok/s each", "from – to"]
    head += ["Together"] * (asked.sequences > 1) + ["Limited by"]
    rows, after = [], []
    for model in models:
        name = (
            f"{BEST if model.is_best else ' '} {one_line(model.name)} {one_line(model.quantisation or '')}".rstrip()
        )
        after.append(_said_of(model) if with_model else [])
        if not model.plans:
            rows.append([f"  {one_line(model.path)}"])
        for plan in model.plans:
            gpu = "this machine" if plan.gpu == THIS_MACHINE else _short(plan.name)
            rows.append([name] * with_model + [gpu] * with_gpu + _cells(plan, asked))
        after[len(after) :] = [[]] * (len(rows) - len(after))
    full = [row for row in (head, *rows) if len(row) == len(head)]
    widths = [max(len(row[column]) for row in full) for column in range(len(head))]
    first = models[0]
    lines = [] if with_model else [_about(first)]
    plans = [plan for model in models for plan in model.plans]
    lines += [*([_usage(asked, plans), _prompt(plans), FULL] if plans else []), ""]
    for row, more in zip((head, *rows), ([], *after), strict=True):
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)))
        lines += more
    if any(model.is_best for model in models):
        lines += ["", f"{BEST} the largest that fits best"]
    for note in _notes(models):
        lines += ["", *textwrap.wrap(note, WIDEST, break_long_words=False)]
    if any(plan.verdict == "less_context" for plan in plans):
        lines += ["", "Where less context fits, all figures of the row are for the context that fits."]
    return lines


def _said_of(model: ModelValue) -> list[str]:
    """Return what is said below the row of one of several models."""
    remarks = dict.fromkeys(one_line(plan.remark.english()) for plan in model.plans if plan.remark)
    said = [f"Cannot be used: {one_line(model.problem.english())}"] if model.problem else list(remarks)
    return [f"    {line}" for line in said]


def _notes(models: Sequence[ModelValue]) -> list[str]:
    """Return what is said below a table, each once: nothing of a context that was asked for and has no row."""
    plans = [plan for model in models for plan in model.plans]
    shown = [plan for plan in plans if plan.gpu == THIS_MACHINE or plan.decode_as_asked is None]
    notes = [plan.note for plan in shown if plan.gpu != THIS_MACHINE]
    notes += [each for plan in shown for each in plan.caveats]
    notes += [plan.remark for plan in plans if len(models) == 1]
    return list(dict.fromkeys(one_line(note.english()) for note in notes if note is not None))


def _short(name: str) -> str:
    name = one_line(name)
    return next((name.removeprefix(maker) for maker in MAKERS if name.startswith(maker)), name)


def _cells(plan: PlanValue, asked: PlanAsked) -> list[str]:
    decode = plan.decode
    together = [] if asked.sequences == 1 else [UNKNOWN if decode is None else rate(decode.together)]
    return [
        IN_TABLE[plan.verdict],
        byte_size(plan.needed),
        count(plan.largest_context),
        count(plan.most_sequences),
        UNKNOWN if plan.ttft is None else at_most(plan.ttft.is_most) + milliseconds(plan.ttft.ms),
        UNKNOWN if decode is None else rate(decode.tokens_per_s),
        UNKNOWN if decode is None else f"{rate(decode.low)} – {rate(decode.high)}",
        *together,
        UNKNOWN if plan.limited_by is None else LIMITS[plan.limited_by],
    ]


def _about(model: ModelValue) -> str:
    parts = [
        one_line(model.architecture or UNKNOWN),
        one_line(model.quantisation or UNKNOWN),
        f"{parameter_count(model.parameters)} parameters",
        byte_size(model.size),
        f"trained for {_tokens(model.trained_context)}",
    ]
    return f"{one_line(model.name)}: {', '.join(parts)}"


def _usage(asked: PlanAsked, plans: Sequence[PlanValue]) -> str:
    """Return what was planned for: without a wish that is as much as each model was trained for, up to a bound."""
    conversations = "1 conversation" if asked.sequences == 1 else f"{count(asked.sequences)} conversations"
    contexts = {plan.context_as_asked for plan in plans}
    known = asked.context or max(contexts, default=None)
    up_to = "up to " if asked.context is None and len(contexts) > 1 else ""
    return f"{conversations} of {up_to}{_tokens(known)}, keys and values in {asked.kv_type}"


def _prompt(plans: Sequence[PlanValue]) -> str:
    prompts = {plan.prompt for plan in plans}
    up_to = "up to " if len(prompts) > 1 else ""
    return f"First token: after a prompt of {up_to}{_tokens(max(prompts))}, read by itself"


def _target(plan: PlanValue) -> str:
    name = one_line(plan.name)
    if plan.gpu != THIS_MACHINE:
        return name
    return f"This machine ({name})" if name else "This machine"


def _as_asked(model: ModelValue, plan: PlanValue) -> list[str]:
    """Return what the planner of the window says of the context that was asked for; nothing where it fits nowhere."""
    speed = plan.decode_as_asked
    if speed is None:
        return []
    layers = _layers_as_asked(model, plan)
    each = "" if speed.together == speed.tokens_per_s else " each"
    return [
        f"{INDENT}With {_tokens(speed.context)}: {layers}, {rate(speed.tokens_per_s)} tok/s{each} when they are full."
    ]


def _layers_as_asked(model: ModelValue, plan: PlanValue) -> str:
    every = UNKNOWN if model.layers is None else count(model.layers + 1)
    return f"{count(plan.gpu_layers_as_asked)} of {every} layers on the GPU"


def _levers_head(model: ModelValue, plan: PlanValue) -> str:
    """Return what the changes need less memory than, where that is another plan than the one above them."""
    if plan.verdict != "less_context":
        return "What needs less memory"
    layers = "" if plan.gpu_layers_as_asked is None else f" with {_layers_as_asked(model, plan)}"
    return f"What needs less memory than {_tokens(plan.context_as_asked)}{layers}"


def _decodes(plan: PlanValue) -> list[tuple[str, str]]:
    """Return how fast it writes as an answer begins, which the planner of the window says first, and at its slowest."""
    begin, full = plan.decode_after_prompt, plan.decode
    if begin is None or full is None:
        return [("Decode", UNKNOWN)]
    rows = [("Decode", f"{_decode(begin)} after {_tokens(begin.context)}")]
    return (
        rows
        if begin.context == full.context
        else [*rows, ("Context full", f"{_decode(full)} after {_tokens(full.context)}")]
    )


def _decode(decode: DecodeValue) -> str:
    band = f"{rate(decode.low)} to {rate(decode.high)}, by bandwidth alone {rate(decode.ceiling)}"
    doubt = ", assumed" if decode.source == "assumed" else ""
    if decode.together == decode.tokens_per_s:
        return f"{rate(decode.tokens_per_s)} tok/s ({band}{doubt})"
    return f"{rate(decode.tokens_per_s)} tok/s each ({band}{doubt}), together {rate(decode.together)} tok/s"


def _first_token(plan: PlanValue) -> str:
    first = plan.ttft
    if first is None and plan.gpu == THIS_MACHINE and plan.decode is not None:
        return f"{UNKNOWN} until answers on this machine have shown how fast it reads"
    if first is None:
        return UNKNOWN
    band = f"{milliseconds(first.low)} to {milliseconds(first.high)}"
    time = at_most(first.is_most) + milliseconds(first.ms)
    return f"{time} ({band}) of prefill, nearly all of it, for a prompt of {_tokens(plan.prompt)}"


def _tokens(value: int | None) -> str:
    return UNKNOWN if value is None else "1 token" if value == 1 else f"{value:,} tokens"


def _layers(model: ModelValue, plan: PlanValue) -> str:
    every = UNKNOWN if model.layers is None else count(model.layers + 1)
    return f"{count(plan.gpu_layers)} of {every}{_experts(plan.experts_on_cpu, model.layers)}"


def _experts(moved: int | None, layers: int | None) -> str:
    if not moved:
        return ""
    return ", all experts in main memory" if moved >= (layers or 0) else f", the experts of {moved} in main memory"


def _device(device: DeviceValue) -> list[str]:
    figures = [(name, getattr(device, field)) for name, field in ROWS]
    rows = [(name, byte_size(figure.bytes), SOURCES[figure.source]) for name, figure in figures]
    rows += [("Needed", byte_size(device.needed), ""), ("Free", byte_size(device.free), "")]
    names, sizes = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    name = one_line(device.name) if device.is_gpu else "Main memory"
    return [name, *(f"{INDENT}{row[0].ljust(names)}  {row[1].rjust(sizes)}  {row[2]}" for row in rows)]


def _lever(lever: LeverValue, plan: PlanValue) -> str:
    change = {
        "context": f"A context of {_tokens(lever.context)}",
        "kv_type": f"Keys and values in {lever.kv_type or UNKNOWN}",
        "gpu_layers": "1 layer on the GPU"
        if lever.gpu_layers == 1
        else f"{count(lever.gpu_layers)} layers on the GPU",
        "experts_on_cpu": f"The experts of {count(lever.experts_on_cpu)} layers in main memory"
        if lever.experts_on_cpu
        else "As many experts on the GPU as fit",
        "quantisation": f"The quantisation {one_line(lever.quantisation or UNKNOWN)}",
        "flash_attention": "Flash attention",
    }[lever.kind]
    about = "about " if lever.is_estimate else ""
    on_gpu = any(device.is_gpu for device in plan.devices) and plan.verdict != "too_large"
    enough = "fits" if lever.fits else "still not all on the GPU" if on_gpu else "still too large"
    return f"{change}: {about}{byte_size(lever.saves)} less, {enough}"
