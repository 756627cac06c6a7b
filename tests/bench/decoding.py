"""The decode figures: short slices in turn, a reference A, ours, an identical reference B, and again.

All of them generate behind the same prompt, so that the caches are equally full. How the rounds become one value is
told at `arithmetic.ratio_to_control`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.core.commands import Watch
from tests.bench.arithmetic import Measurement, ratio_to_control, runs
from tests.bench.children import Child
from tests.bench.contenders import STORY, AppDecoder, ChildDecoder, Text
from tests.bench.engine_user import EngineUser
from tests.bench.setting import Setting
from tests.bench.turns import Contender, Turns

FEWEST_ROUNDS = 8
SLICE_TOKENS = 64
LONG_SLICE_TOKENS = 100
"""For the high-level interface, whose work for a token grows with the answer."""
RECORD_THREADS = 2
HIGH_LEVEL_THREADS = 2


def against_bare(setting: Setting, threads: int) -> Measurement:
    """Measure the engine process, read by the client, against bare loops in processes of their own."""
    with (
        Child("tests.bench.bare_process", str(setting.model), str(threads)) as first,
        Child("tests.bench.bare_process", str(setting.model), str(threads)) as second,
        EngineUser() as engine,
    ):
        text = Text(first.ask("tokenize", text=STORY)["ids"], SLICE_TOKENS)
        engine.load(setting.model, threads)
        contenders = (ChildDecoder(first, text), AppDecoder(engine, text), ChildDecoder(second, text))
        return rounds(*contenders, setting.seconds)


def against_high_level(setting: Setting) -> Measurement:
    """Measure the engine process against `create_completion(stream=True)`; the control is a second such process."""
    threads = HIGH_LEVEL_THREADS
    with Child("tests.bench.bare_process", str(setting.model), "1") as tokenizer:
        text = Text(tokenizer.ask("tokenize", text=STORY)["ids"], LONG_SLICE_TOKENS)
    with (
        Child("tests.bench.high_level_process", str(setting.model), str(threads)) as first,
        Child("tests.bench.high_level_process", str(setting.model), str(threads)) as second,
        EngineUser() as engine,
    ):
        engine.load(setting.model, threads)
        contenders = (ChildDecoder(first, text), AppDecoder(engine, text), ChildDecoder(second, text))
        return rounds(*contenders, setting.seconds)


def record_cost(setting: Setting) -> Measurement:
    """Measure the engine's stages with the record against a bare loop, both in one process on one context."""
    with Child("tests.bench.record_process", str(setting.model), str(RECORD_THREADS)) as child:
        text = Text(child.ask("tokenize", text=STORY)["ids"], SLICE_TOKENS)
        bare, record = ChildDecoder(child, text, "bare"), ChildDecoder(child, text, "record")
        return rounds(bare, record, bare, setting.seconds)


def features_closed(setting: Setting) -> Measurement:
    """Measure the engine process with its record kept against itself without one, while nobody looks at its steps."""
    with Child("tests.bench.bare_process", str(setting.model), "1") as tokenizer:
        text = Text(tokenizer.ask("tokenize", text=STORY)["ids"], SLICE_TOKENS)
    with EngineUser() as engine:
        engine.load(setting.model, RECORD_THREADS)
        engine.client.send(Watch(on=False))
        without, kept = AppDecoder(engine, text, "off"), AppDecoder(engine, text)
        return rounds(without, kept, without, setting.seconds)


def rounds(
    first: Contender,
    ours: Contender,
    second: Contender,
    seconds: float,
    beside: Mapping[str, Contender] = MappingProxyType({}),
) -> Measurement:
    """Take turns: the reference, what is measured, and the reference again as the control.

    What else is measured `beside` it has its ratio to the control among the further fields, by its name.
    """
    turns = Turns({contender.process_id for contender in (first, ours, *beside.values(), second)})
    for contender in (first, ours, *beside.values(), second):
        turns.take(contender, 0)
    turns.idle_cpu = 0.0
    ratios: list[float] = []
    control: list[float] = []
    speeds: list[float] = []
    others: dict[str, list[float]] = {name: [] for name in beside}
    for number in runs(seconds, FEWEST_ROUNDS):
        reference, measured = (turns.take(each, number + 1) for each in (first, ours))
        for name, each in beside.items():
            others[name].append(turns.take(each, number + 1) / reference)
        twin = turns.take(second, number + 1)
        ratios.append(measured / reference)
        control.append(twin / reference)
        speeds.append(measured)
    measurement = ratio_to_control(ratios, control)
    more: dict[str, object] = {name: round(ratio_to_control(each, control).value, 4) for name, each in others.items()}
    more |= {"tokens_per_s": [round(speed, 2) for speed in speeds], "idle_cpu": round(turns.idle_cpu, 3)}
    return Measurement(
        measurement.value,
        measurement.runs,
        measurement.control,
        measurement.control_spread,
        {**measurement.more, **more},
    )
