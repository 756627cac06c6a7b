"""The pass over a prompt against the decode: how likely an answer's tokens were, read once more in a second context.

The answer was written token by token in the chat's context, with its attention kernel; the pass reads batches with
another one. Its memory has to be back afterwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.core.commands import ScorePrompt
from app.core.prompt_scores import PromptScored
from app.probability.record import join_blocks, read_records
from gpu_check.engine import Engine
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.arithmetic import BenchError

PROMPT_TOKENS = 200
ANSWER_TOKENS = 64
SEEDS_TRIED = 5
MOST = 0.3
"""In log-probability, as between GPU and CPU: both round activations to 8 bits, in another order."""
MOST_ON_AVERAGE = 0.02
MOST_KEPT_MB = 8.0

Values = npt.NDArray[np.float64]


def scoring(setting: Setting) -> None:
    """Compare the scores of an answer with its record, twice; the first pass loads the kernels."""
    report = setting.report
    with Engine(setting) as engine:
        engine.open(str(setting.comparison_model), engine.options(setting.comparison_shape.layers + 1))
        ids, recorded = _answer(engine, setting)
        _pass(engine, ids)
        before = setting.meter.used(engine.process_id)
        apart = _pass(engine, ids)[-len(recorded) :] - recorded
        kept = (setting.meter.used(engine.process_id) - before) / 1e6
    note = f"{len(recorded)} tokens, mean of the distances {np.abs(apart).mean():.4f}"
    report.measured("score_apart", float(np.abs(apart).max()), "in log-prob", MOST, note=note)
    report.measured("score_mean_apart", float(abs(apart.mean())), "in log-prob", MOST_ON_AVERAGE)
    if setting.is_real:
        report.measured("score_memory_kept", kept, "MB", MOST_KEPT_MB)


def _answer(engine: Engine, setting: Setting) -> tuple[list[int], Values]:
    """Return a prompt with its answer, and how likely the answer's tokens were as the record says."""
    for seed in range(SEEDS_TRIED):
        prompt = any_prompt(PROMPT_TOKENS, seed, setting.comparison_shape)
        tokens, _ = engine.say(prompt, ANSWER_TOKENS, seed + 1)
        records = read_records(join_blocks([each.record for each in tokens]))
        if 2 * len(records) >= ANSWER_TOKENS:
            return [*prompt, *records.tokens.tolist()], records.log_probability.astype(np.float64)
    raise BenchError("The answers of the model are too short to compare.")


def _pass(engine: Engine, ids: list[int]) -> Values:
    request = engine.client.new_request()
    engine.client.send(ScorePrompt(request, np.asarray(ids, "<i4").tobytes()))
    scored = engine.wait(PromptScored, request)
    return np.frombuffer(scored.log_probabilities, "<f4").astype(np.float64)
