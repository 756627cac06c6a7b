"""What the planner says in words of its own: parts of memory, where figures come from, and whole devices for screen readers."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import render
from app.services.planning_values import (
    HERE,
    DeviceRows,
    PlanChoice,
    PlanRow,
    PlanView,
    Range,
    RowKind,
    RowSource,
    SpeedRows,
)
from app.services.planning_words import time_with_band
from app.services.units import byte_size, count, rate

translate = QCoreApplication.translate


def row_name(kind: RowKind) -> str:
    """Return what a part of memory is called."""
    names: dict[RowKind, str] = {
        "weights": translate("Planner", "Weights"),
        "kv": translate("Planner", "KV cache"),
        "state": translate("Planner", "State"),
        "compute": translate("Planner", "Compute buffers"),
        "overhead": translate("Planner", "Driver and scratch"),
        "margin": translate("Planner", "Margin"),
    }
    return names[kind]


def row_hint(row: PlanRow) -> str:
    """Return what a part of memory is, and why it is unknown where it is."""
    hints: dict[RowKind, str] = {
        "weights": translate("Planner", "The numbers that the model learned."),
        "kv": translate("Planner", "What attention keeps of each token: it grows with the context."),
        "state": translate("Planner", "What recurrent layers keep: it does not grow with the context."),
        "compute": translate("Planner", "Room for intermediate results: it grows with the micro-batch."),
        "overhead": translate("Planner", "What the driver takes beside, and room to unpack a quantised cache."),
        "margin": translate("Planner", "What stays free on purpose, so that other programs go on."),
    }
    if row.bytes is None:
        unknown = translate("Planner", "{what} Unknown: it cannot be worked out for this architecture.")
        return unknown.format(what=hints[row.kind])
    return hints[row.kind]


def source_name(source: RowSource) -> str:
    """Return where a figure comes from."""
    names: dict[RowSource, str] = {
        "asked": translate("Planner", "asked of llama.cpp"),
        "formula": translate("Planner", "formula"),
        "assumed": translate("Planner", "assumed"),
    }
    return names[source]


def shown_rows(device: DeviceRows) -> tuple[PlanRow, ...]:
    """Return the rows of a device without the parts that lie elsewhere, or that the model does not have."""
    return tuple(row for row in device.rows if row.bytes != 0 or row.kind == "weights")


def device_title(device: DeviceRows) -> str:
    """Return what a device is called."""
    if not device.is_gpu:
        return translate("Planner", "Main memory")
    return device.name or translate("Planner", "GPU")


def need_words(device: DeviceRows) -> str:
    """Return what a device has to hold against what it has."""
    if device.needed is None or device.free is None:
        return translate("Planner", "needs {needed}, {free} are free").format(
            needed=byte_size(device.needed), free=byte_size(device.free)
        )
    words = translate("Planner", "needs {needed} of {free} free")
    if device.needed > device.free:
        words = translate("Planner", "too small: needs {needed} of {free} free")
    return words.format(needed=byte_size(device.needed), free=byte_size(device.free))


def rest_words(device: DeviceRows) -> tuple[str, str]:
    """Return what the last row of a device is called, and its size: what stays free, or what is missing."""
    if device.needed is None or device.free is None:
        return translate("Planner", "Free then"), byte_size(None)
    rest = device.free - device.needed
    name = translate("Planner", "Free then") if rest >= 0 else translate("Planner", "Missing")
    return name, byte_size(abs(rest))


def device_words(device: DeviceRows) -> str:
    """Return all of a device in words."""
    rows = [f"{row_name(row.kind)} {byte_size(row.bytes)}, {source_name(row.source)}" for row in shown_rows(device)]
    return "; ".join([f"{device_title(device)}: {need_words(device)}", *rows, " ".join(rest_words(device))])


def range_words(figure: Range | None) -> str:
    """Return a speed with its band."""
    if figure is None:
        return translate("Planner", "–")
    return translate("Planner", "{rate} tok/s ({low}–{high})").format(
        rate=rate(figure.value), low=rate(figure.low), high=rate(figure.high)
    )


def first_words(first: Range, speed: SpeedRows) -> str:
    """Return when the first token comes, and what is counted of the time before it."""
    words = translate("Planner", "First token: after about {time}, with {tokens} tokens to evaluate; {what}")
    if speed.evaluated == 1:
        words = translate("Planner", "First token: after about {time}, with 1 token to evaluate; {what}")
    what = translate("Planner", "prefill alone, nearly all of it")
    if speed.first_beside is not None:
        beside = translate("Planner", "{ms} ms of it are not prefill, as answers here took")
        what = beside.format(ms=count(round(speed.first_beside * 1000)))
    return words.format(time=time_with_band(first), tokens=count(speed.evaluated), what=what)


def no_first_words(choice: PlanChoice) -> str:
    """Return why it is not known when the first token comes, and what would tell it."""
    if choice.prompt > choice.context:
        return translate("Planner", "First token: –. There is none of a prompt that is longer than the context.")
    if choice.where == HERE:
        return translate(
            "Planner",
            "First token: –. An answer shows how fast this machine reads a prompt, but not the first one after a load, nor "
            "one that is stopped, nor a prompt of a few words.",
        )
    return translate("Planner", "First token: –. How much this GPU computes in a second is not known.")


def first_hint(speed: SpeedRows) -> str:
    """Return what the time to the first token is made of."""
    if speed.first_beside is None:
        return translate(
            "Planner",
            "Prefill alone, nearly all of the time to the first token: reading the part of the prompt that is not "
            "cached. What else it takes is added once answers here have told it.",
        )
    words = translate(
        "Planner",
        "Prefill, which is reading the part of the prompt that is not cached, and {ms} ms for all else, as answers here "
        "took in the middle: saving, waiting, template and tokens, drawing and showing the first one.",
    )
    return words.format(ms=count(round(speed.first_beside * 1000)))


def read_words(speed: SpeedRows) -> str:
    """Return how fast prompts of this model were read here, beside what is expected for that."""
    words = translate(
        "Planner", "Reading a prompt (prefill), {tokens} tokens here: {measured} tok/s measured, {expected} expected"
    )
    if speed.read_tokens == 1:
        words = translate(
            "Planner", "Reading a prompt (prefill), 1 token here: {measured} tok/s measured, {expected} expected"
        )
    return words.format(
        tokens=count(speed.read_tokens), measured=rate(speed.read), expected=range_words(speed.expected_read)
    )


def room_words(view: PlanView) -> str:
    """Return how long a context, and how many conversations, there is room for, each with what lies where meanwhile."""
    longest = many = ""
    if view.largest_context:
        longest = translate("Planner", "up to {tokens} tokens of context").format(tokens=count(view.largest_context))
    if view.most_sequences:
        many = translate("Planner", "{number} conversations of this length at once")
        if view.most_sequences == 1:
            many = translate("Planner", "1 conversation of this length at once")
        many = many.format(number=count(view.most_sequences))
    if view.fit == "less_context" and view.is_possible and any(device.is_gpu for device in view.devices):
        # The context is that with all on the GPU, the conversations are of the length that was asked for.
        whole = translate("Planner", "There is room on the GPU alone for: {parts}.").format(parts=longest)
        parted = translate("Planner", "With main memory as well: {parts}.").format(parts=many)
        return " ".join(said for said, part in ((whole, longest), (parted, many)) if part)
    parts = [part for part in (longest, many) if part]
    return translate("Planner", "There is room for: {parts}.").format(parts=" · ".join(parts)) if parts else ""


def answer_text(view: PlanView) -> str:
    """Return the answer as one sentence."""
    answer = render(view.answer)
    if view.pace is None:
        return answer if answer.endswith(".") else translate("Planner", "{answer}.").format(answer=answer)
    return translate("Planner", "{answer}: {pace}.").format(answer=answer, pace=render(view.pace))
