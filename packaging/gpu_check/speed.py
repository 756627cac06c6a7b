"""Decode and prefill of the whole engine process against a bare loop, in turns, with everything on the GPU.

The first run of each is not counted: kernels are loaded then.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from app.core.events import Finished, PrefillProgress, PromptReady
from gpu_check.engine import Engine, settings
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours
from tests.bench.children import Child
from tests.bench.engine_user import token_prompt

BAR = 0.9
SEEDS_TRIED = 5
NEXT_SEED = 1_000_003
Speed = Callable[[int], float]
"""Seed of a run → tokens/s."""


def speed(setting: Setting) -> None:
    """Measure both."""
    sizes = setting.sizes
    values = (setting.threads, setting.all_layers, sizes.context, sizes.micro_batch)
    with Child("tests.bench.bare_process", str(setting.model), *map(str, values)) as child, Engine(setting) as engine:
        engine.open(str(setting.model), engine.options(setting.all_layers))
        prompt = any_prompt(sizes.prefill_tokens, 0, setting.shape)

        def bare_decode(seed: int) -> float:
            answer = child.ask("decode", prompt=prompt, tokens=sizes.decode_tokens, seed=seed)
            return float(answer["steps"] / answer["ns"] * 1e9)

        def bare_prefill(seed: int) -> float:
            ids = any_prompt(sizes.prefill_tokens, seed, setting.shape)
            return float(len(ids) / child.ask("prefill", prompt=ids)["ns"] * 1e9)

        _tell(setting, "decode", bare_decode, lambda seed: _decode(engine, prompt, sizes.decode_tokens, seed))
        _tell(setting, "prefill", bare_prefill, lambda seed: _prefill(engine, setting, seed))


def in_turns(bare: Speed, ours: Speed, rounds: int) -> tuple[Measurement, list[float], list[float]]:
    """Return ours against the bare runs before and after it, and both lists of speeds."""
    bare(1), ours(2)
    references, measured = [bare(3)], []
    for number in range(rounds):
        measured.append(ours(4 + 2 * number))
        references.append(bare(5 + 2 * number))
    return ratio_to_neighbours(references, measured), references, measured


def _tell(setting: Setting, name: str, bare: Speed, ours: Speed) -> None:
    measurement, references, measured = in_turns(bare, ours, setting.sizes.rounds)
    report = setting.report
    report.measured(f"{name}_bare", statistics.median(references), "tok/s")
    report.measured(f"{name}_engine", statistics.median(measured), "tok/s")
    note = f"control {measurement.control:.3f}, spread {measurement.control_spread:.3f}"
    bar = BAR if setting.is_real else None
    report.measured(f"{name}_ratio", measurement.value, "", bar, "higher", note)


def _decode(engine: Engine, prompt: list[int], tokens: int, seed: int) -> float:
    """Return the speed of an answer by the moments at which its tokens were drawn; a short one is made again."""
    for attempt in range(SEEDS_TRIED):
        events, _ = engine.say(prompt, tokens, seed + attempt * NEXT_SEED)
        steps = sum(event.count for event in events) - 1
        if 2 * (steps + 1) >= tokens:
            return steps / (events[-1].last_ns - events[0].first_ns) * 1e9
    raise BenchError("The answers of the model are too short to measure.")


def _prefill(engine: Engine, setting: Setting, seed: int) -> float:
    """Return the speed of a prefill by the reader's clock, from the ready prompt to the last chunk's progress.

    Of a tiny model both may arrive together, which tells nothing: then another prompt is read.
    """
    for attempt in range(SEEDS_TRIED):
        evaluated, ns = _timed_prefill(engine, setting, seed + attempt * NEXT_SEED)
        if ns > 0:
            return evaluated / ns * 1e9
    raise BenchError("The prompts are read too quickly to be measured.")


def _timed_prefill(engine: Engine, setting: Setting, seed: int) -> tuple[int, int]:
    """Return how many tokens of a prompt were evaluated, and in how many nanoseconds."""
    ids = any_prompt(setting.sizes.prefill_tokens, seed, setting.shape)
    request = engine.generate(token_prompt(ids), settings(1, seed))
    began = ended = evaluated = 0
    while True:
        arrival = engine.next()
        match arrival.event:
            case PromptReady(from_cache=reused):
                began, evaluated = arrival.at_ns, len(ids) - reused
            case PrefillProgress():
                ended = arrival.at_ns
            case Finished(request=number) if number == request:
                return evaluated, ended - began
