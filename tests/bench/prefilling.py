"""The figures of prompts: how fast one goes into the cache, how soon it stops, and how little a chat evaluates again."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import msgspec

from app.core.chat import ChatPrompt, PromptMessage
from app.core.events import Finished, PrefillProgress, PromptReady
from app.core.sampling import PRESETS
from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours, runs
from tests.bench.children import Child
from tests.bench.engine_user import EngineUser, token_prompt
from tests.bench.setting import Setting, any_prompt
from tests.bench.turns import Turns

THREADS = 2
PREFILL_TOKENS = 2_000
LONG_PROMPT_TOKENS = 4_000
ONE_TOKEN = msgspec.structs.replace(PRESETS["Balanced"], max_tokens=1, seed=1)
CANCEL_MOMENTS = ((0, 0.0), (0, 0.5), (1, 0.25), (1, 0.75), (2, 0.5))
"""When a prefill is cancelled: after so many chunks, and so much of the time that a chunk takes."""

ANSWER_TOKENS = 16
QUESTIONS = (
    "What grows in a small garden behind a house in the north?",
    "Which of these plants needs the most water in summer?",
    "And how often should I water it when it is very hot?",
    "My neighbour says that coffee grounds help. Is that true?",
    "What should I do against snails without any poison?",
    "When is the best time to plant the first potatoes?",
    "Can I keep them over the winter in a cold cellar?",
    "Tell me one recipe with potatoes, onions and herbs.",
    "What could I drink with it on a cold evening?",
    "Thank you. Please sum up what I should do this week.",
)


class _BarePrefill:
    """The bare loop's prefill of another prompt at every turn."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @property
    def process_id(self) -> int:
        return self._child.process_id

    def slice(self, seed: int) -> float:
        ns = self._child.ask("prefill", prompt=any_prompt(PREFILL_TOKENS, seed))["ns"]
        return PREFILL_TOKENS / float(ns) * 1e9


class _AppPrefill:
    """The engine's prefill, by the reader's clock: from the rendered prompt to the last chunk's progress."""

    def __init__(self, engine: EngineUser) -> None:
        self._engine = engine

    @property
    def process_id(self) -> int:
        return self._engine.process_id

    def slice(self, seed: int) -> float:
        request = self._engine.generate(token_prompt(any_prompt(PREFILL_TOKENS, seed)), ONE_TOKEN)
        began = ended = evaluated = 0
        while True:
            arrival = self._engine.next()
            match arrival.event:
                case PromptReady(from_cache=reused, ids=ids):
                    began, evaluated = arrival.at_ns, len(ids) // 4 - reused
                case PrefillProgress():
                    ended = arrival.at_ns
                case Finished(request=number) if number == request:
                    break
        if evaluated != PREFILL_TOKENS:
            raise BenchError(f"The engine evaluated {evaluated} tokens instead of {PREFILL_TOKENS}.")
        return evaluated / (ended - began) * 1e9


def prefill(setting: Setting) -> Measurement:
    """Measure prefills of 2,000 tokens, each between two of the bare loop; no two prompts share a beginning."""
    with (
        Child("tests.bench.bare_process", str(setting.model), str(THREADS)) as child,
        EngineUser() as engine,
    ):
        engine.load(setting.model, THREADS)
        bare, ours = _BarePrefill(child), _AppPrefill(engine)
        turns = Turns({bare.process_id, ours.process_id})
        references, measured = [turns.take(bare, 0)], []
        for number in runs(setting.seconds):
            measured.append(turns.take(ours, 2 * number + 1))
            references.append(turns.take(bare, 2 * number + 2))
    more = {
        "tokens_per_s": [round(speed, 1) for speed in measured],
        "bare_tokens_per_s": [round(speed, 1) for speed in references],
    }
    return replace(ratio_to_neighbours(references, measured), more=more)


def cancel_prefill(setting: Setting) -> Measurement:
    """Measure how long after a cancel the end of the answer arrives, at several moments of a prefill."""
    with EngineUser() as engine:
        engine.load(setting.model, THREADS)
        chunk_s = _chunk_seconds(engine)
        seconds = []
        for number in runs(setting.seconds, len(CANCEL_MOMENTS)):
            chunks, share = CANCEL_MOMENTS[number % len(CANCEL_MOMENTS)]
            seconds.append(_cancel_after(engine, number + 1, chunks, share * chunk_s))
    return Measurement(statistics.median(seconds), seconds, more={"worst_s": round(max(seconds), 6)})


def _chunk_seconds(engine: EngineUser) -> float:
    """Return how long the first chunk of a prompt takes."""
    request = engine.generate(token_prompt(any_prompt(LONG_PROMPT_TOKENS, 0)), ONE_TOKEN)
    engine.wait(PromptReady, request)
    began = time.perf_counter()
    engine.wait(PrefillProgress, request)
    seconds = time.perf_counter() - began
    engine.cancel(request)
    engine.wait(Finished, request)
    return seconds


def _cancel_after(engine: EngineUser, seed: int, chunks: int, delay_s: float) -> float:
    request = engine.generate(token_prompt(any_prompt(LONG_PROMPT_TOKENS, seed)), ONE_TOKEN)
    engine.wait(PromptReady, request)
    for _ in range(chunks):
        engine.wait(PrefillProgress, request)
    until = time.perf_counter() + delay_s
    while (left := until - time.perf_counter()) > 0:
        engine.next_within(left)
    return engine.seconds_to_end(request)


def reuse(setting: Setting) -> Measurement:
    """Measure what turn ten of a chat evaluates against what it adds to the conversation."""
    ratios, evaluated, new = [], [], []
    with EngineUser() as engine:
        engine.load(setting.model, THREADS)
        for number in runs(setting.seconds):
            counts = _last_turn(engine, number)
            evaluated.append(counts[0])
            new.append(counts[1])
            ratios.append(counts[0] / counts[1])
    return Measurement(statistics.median(ratios), ratios, more={"evaluated": evaluated, "new": new})


def _last_turn(engine: EngineUser, number: int) -> tuple[int, int]:
    """Hold a chat; returns the tokens that its last turn evaluated, and those that are new in that turn's prompt.

    New is what stands behind the previous prompt and the previous answer as it was sampled: the template's tokens and
    the question's.
    """
    messages = [PromptMessage("system", f"You are gardener number {number}. Answer in one short sentence.")]
    known = evaluated = new = 0
    for turn, question in enumerate(QUESTIONS):
        messages.append(PromptMessage("user", question))
        seed = number * len(QUESTIONS) + turn
        settings = msgspec.structs.replace(PRESETS["Balanced"], max_tokens=ANSWER_TOKENS, seed=seed)
        request = engine.generate(ChatPrompt(tuple(messages)), settings)
        ready = engine.wait(PromptReady, request)
        _, finished = engine.answer(request)
        prompt_tokens = len(ready.ids) // 4
        evaluated, new = prompt_tokens - ready.from_cache, prompt_tokens - known
        known = prompt_tokens + len(finished.ids) // 4
        messages.append(PromptMessage("assistant", finished.text, finished.ids))
    return evaluated, new
