"""The figures of lanes: what one prefill and one batch a step save, and what the engine's lanes cost beside a bare batch."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import msgspec

from app.core.comparison import MOST_AT_ONCE
from app.core.sampling import SamplingSettings
from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours, runs
from tests.bench.children import Child
from tests.bench.contenders import NEXT_SEED, SEEDS_TRIED, STORY
from tests.bench.engine_user import EngineUser, token_prompt
from tests.bench.lanes_process import by_seed
from tests.bench.setting import Setting, any_prompt
from tests.bench.turns import Turns

THREADS = 2
LANES = 4
PROMPT_TOKENS = 1_500
ANSWER_TOKENS = 200
SLICE_TOKENS = 64
SHARES_S = 5.0
SHARES_TOLD = 100


def compare_vs_sequential(setting: Setting) -> Measurement:
    """Measure a comparison against four answers one after another, each with its own prefill.

    The settings differ by their seeds. All prompts begin differently, so that nothing of them is in the cells, and end
    with a story to tell, so that no answer ends before its limit; one that does is asked for again.
    """
    ratios, together, apart = [], [], []
    with _bare(setting) as child, EngineUser() as engine:
        story = child.ask("tokenize", text=STORY)["ids"]
        engine.load(setting.model, THREADS)
        for number in runs(setting.seconds):
            together.append(_all_in_one(engine, story, number))
            apart.append(sum(_alone(engine, story, number, lane) for lane in range(LANES)))
            ratios.append(together[-1] / apart[-1])
    more = {"together_s": [round(each, 3) for each in together], "apart_s": [round(each, 3) for each in apart]}
    return Measurement(statistics.median(ratios), ratios, more=more)


def _all_in_one(engine: EngineUser, story: list[int], number: int) -> float:
    """Return the seconds of a comparison."""
    for attempt in range(SEEDS_TRIED):
        seed = number + attempt * NEXT_SEED
        prompt = token_prompt(_long(story, (LANES + 1) * seed + LANES))
        began = time.perf_counter()
        ends, shared = engine.compared(engine.compare(prompt, _long_answers(seed)))
        seconds = time.perf_counter() - began
        if shared.from_cache:
            raise BenchError("A prompt was in the cells before it was asked.")
        if all(len(end.ids) // 4 == ANSWER_TOKENS for end in ends.values()):
            return seconds
    raise BenchError("The answers of the model are too short to measure.")


def _alone(engine: EngineUser, story: list[int], number: int, lane: int) -> float:
    """Return the seconds of one answer."""
    for attempt in range(SEEDS_TRIED):
        seed = number + attempt * NEXT_SEED
        prompt = token_prompt(_long(story, (LANES + 1) * seed + lane))
        began = time.perf_counter()
        _, end = engine.answer(engine.generate(prompt, _long_answers(seed)[lane]))
        seconds = time.perf_counter() - began
        if end.metrics.prompt_tokens_from_cache:
            raise BenchError("A prompt was in the cells before it was asked.")
        if end.metrics.sampled_tokens == ANSWER_TOKENS:
            return seconds
    raise BenchError("The answers of the model are too short to measure.")


def compare_prefill(setting: Setting) -> Measurement:
    """Measure the prompt tokens that llama.cpp decodes for eight lanes against those for one.

    They are counted where it is called: all tokens that it decodes, without those that were drawn before.
    """
    ratios = []
    with Child("tests.bench.lanes_process", str(setting.model), str(THREADS)) as child:
        for number in runs(setting.seconds):
            decoded = []
            for lanes in (1, MOST_AT_ONCE):
                prompt = any_prompt(PROMPT_TOKENS, MOST_AT_ONCE * number + lanes)
                answer = child.ask("compare", prompt=prompt, lanes=lanes, seed=number)
                if answer["from_cache"]:
                    raise BenchError("A prompt was in the cells before it was asked.")
                decoded.append(answer["decoded"] - answer["drawn"])
            ratios.append(decoded[1] / decoded[0])
    return Measurement(statistics.median(ratios), ratios)


def batch_step_4(setting: Setting) -> Measurement:
    """Measure the time of a step with four lanes, between two bare loops that decode batches of four."""
    with _bare(setting) as child, EngineUser() as engine:
        story = child.ask("tokenize", text=STORY)["ids"]
        engine.load(setting.model, THREADS)
        bare, ours = _BareLanes(child, story), _AppLanes(engine, story)
        turns = Turns({bare.process_id, ours.process_id})
        for contender in (bare, ours):
            turns.take(contender, 0)
        references, measured = [turns.take(bare, 1)], []
        for number in runs(setting.seconds):
            measured.append(turns.take(ours, 2 * number + 2))
            references.append(turns.take(bare, 2 * number + 3))
    more = {"step_ms": [round(each, 3) for each in measured], "bare_ms": [round(each, 3) for each in references]}
    return replace(ratio_to_neighbours(references, measured), more=more)


class _BareLanes:
    """The bare loop with a batch of four; a slice is the ms of one step."""

    def __init__(self, child: Child, story: list[int]) -> None:
        self._child = child
        self._story = story

    @property
    def process_id(self) -> int:
        return self._child.process_id

    def slice(self, seed: int) -> float:
        answer = self._child.ask("lanes", prompt=self._story, lanes=LANES, tokens=SLICE_TOKENS, seed=seed)
        return float(answer["ns"] / answer["steps"]) / 1e6


class _AppLanes:
    """The engine with four lanes and their records; a slice is the ms of one step."""

    def __init__(self, engine: EngineUser, story: list[int]) -> None:
        self._engine = engine
        self._prompt = token_prompt(story)

    @property
    def process_id(self) -> int:
        return self._engine.process_id

    def slice(self, seed: int) -> float:
        for attempt in range(SEEDS_TRIED):
            lanes = by_seed(LANES, SLICE_TOKENS, seed + attempt * NEXT_SEED)
            ends, _ = self._engine.compared(self._engine.compare(self._prompt, lanes))
            rates = [end.metrics.decode_tokens_per_s for end in ends.values() if len(end.ids) // 4 == SLICE_TOKENS]
            if len(rates) == LANES:
                return statistics.mean(1e3 / rate for rate in rates if rate)
        raise BenchError("The answers of the model are too short to measure.")


def share_prompt(setting: Setting) -> Measurement:
    """Measure how long it takes to share the cells of a prompt with eight lanes, in ms a lane."""
    per_lane = []
    with Child("tests.bench.lanes_process", str(setting.model), str(THREADS)) as child:
        child.ask("read", prompt=any_prompt(PROMPT_TOKENS, 1))
        for _ in runs(min(setting.seconds, SHARES_S)):
            answer = child.ask("share", lanes=MOST_AT_ONCE)
            if not answer["is_shared"]:
                raise BenchError("A lane does not hold the prompt.")
            per_lane.append(answer["ns"] / 1e6 / MOST_AT_ONCE)
    worst = {"worst_ms": round(max(per_lane), 4)}
    return Measurement(statistics.median(per_lane), per_lane[:SHARES_TOLD], more=worst)


def _long_answers(seed: int) -> tuple[SamplingSettings, ...]:
    """Return settings with which hardly an answer ends by itself."""
    wild = {"temperature": 2.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    return tuple(msgspec.structs.replace(each, **wild) for each in by_seed(LANES, ANSWER_TOKENS, seed))


def _bare(setting: Setting) -> Child:
    return Child("tests.bench.bare_process", str(setting.model), str(THREADS))


def _long(story: list[int], seed: int) -> list[int]:
    """Return a prompt of which nothing is in the cells, with the story at its end."""
    return [*any_prompt(PROMPT_TOKENS - len(story), seed), *story]
