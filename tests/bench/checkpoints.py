"""What saving states costs: a sliding-window model reads prompts and answers them with checkpoints and without."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from app.core.sampling import PRESETS
from tests.bench.arithmetic import BenchError, Measurement, ratio_to_neighbours, runs
from tests.bench.engine_user import EngineUser, token_prompt
from tests.bench.setting import Setting, any_prompt
from tests.bench.turns import Turns
from tests.bench.window_model import write_window_model

THREADS = 2
PROMPT_TOKENS = 1_000
ANSWER_TOKENS = 64
CHECKPOINTS = 8
ORDINARY_TOKENS = 250
"""The test model's tokenizer has few words; all of these ids are ordinary ones."""
SETTINGS = msgspec.structs.replace(PRESETS["Greedy"], max_tokens=ANSWER_TOKENS, seed=1)


class _Turn:
    """One prompt that shares nothing with the one before, and its answer, to the end of the answer."""

    def __init__(self, engine: EngineUser, checkpoints: int) -> None:
        self._engine = engine
        self._checkpoints = checkpoints
        self.saved_bytes = 0
        self.prefill: list[float] = []
        self.decode: list[float] = []

    @property
    def process_id(self) -> int:
        return self._engine.process_id

    def slice(self, seed: int) -> float:
        prompt = [seed % ORDINARY_TOKENS, *(id_ % ORDINARY_TOKENS for id_ in any_prompt(PROMPT_TOKENS, seed))]
        engine = self._engine
        began = time.perf_counter_ns()
        _, end = engine.answer(engine.generate(token_prompt(prompt), SETTINGS))
        seconds = (time.perf_counter_ns() - began) / 1e9
        kept = end.metrics.kv.checkpoints
        if (kept > 0) != (self._checkpoints > 0) or end.metrics.prompt_tokens_from_cache:
            raise BenchError(f"{kept} states were saved where {self._checkpoints} are the most.")
        self.saved_bytes = end.metrics.kv.checkpoint_bytes // max(1, kept)
        if end.metrics.prefill_tokens_per_s and end.metrics.decode_tokens_per_s:
            self.prefill.append(end.metrics.prefill_tokens_per_s)
            self.decode.append(end.metrics.decode_tokens_per_s)
        return (len(prompt) + end.metrics.sampled_tokens) / seconds


def checkpoint_cost(setting: Setting) -> Measurement:
    """Measure turns with checkpoints, each between two without, in two processes that load one model."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder, EngineUser() as one, EngineUser() as two:
        model = write_window_model(Path(folder) / "window.gguf")
        one.load(model, THREADS, checkpoints=0)
        two.load(model, THREADS, checkpoints=CHECKPOINTS)
        without, saving = _Turn(one, 0), _Turn(two, CHECKPOINTS)
        turns = Turns({without.process_id, saving.process_id})
        references, measured = [turns.take(without, 0)], []
        for number in runs(setting.seconds):
            measured.append(turns.take(saving, 2 * number + 1))
            references.append(turns.take(without, 2 * number + 2))
    more = {
        "prefill_ratio": round(statistics.median(saving.prefill) / statistics.median(without.prefill), 4),
        "decode_ratio": round(statistics.median(saving.decode) / statistics.median(without.decode), 4),
        "checkpoint_bytes": saving.saved_bytes,
        "prompt_tokens": PROMPT_TOKENS,
        "answer_tokens": ANSWER_TOKENS,
    }
    return replace(ratio_to_neighbours(references, measured), more=more)
