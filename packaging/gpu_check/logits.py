"""The GPU's logits against the CPU's: a whole prompt at once and one token alone, which are different kernels.

Both rows come out of the engine as a window that looks gets them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.core.commands import Watch
from app.core.events import Finished, Step
from gpu_check.engine import NO_GPU, Engine, environment, settings
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.engine_user import token_prompt

PROMPT_TOKENS = 200
MOST = 0.3
"""In log-probability: the CPU rounds activations to 8 bits, a GPU elsewhere; a wrong kernel is off by more than 1."""

Row = npt.NDArray[np.float64]


def logits(setting: Setting) -> None:
    """Compare the rows of a small model."""
    if setting.device is None:
        setting.report.left_out("logits", "there is no GPU to compare with")
        return
    with environment(NO_GPU):
        on_cpu = _rows(setting, 0)
    on_gpu = _rows(setting, setting.comparison_shape.layers + 1)
    for name, ours, theirs in zip(("prompt", "one_token"), on_gpu, on_cpu, strict=True):
        apart = np.abs(log_probabilities(ours) - log_probabilities(theirs))
        same = "the same" if int(ours.argmax()) == int(theirs.argmax()) else "another"
        note = f"mean {apart.mean():.4f}, {same} most likely token"
        setting.report.measured(f"logits_{name}", float(apart.max()), "in log-prob", MOST, note=note)


def log_probabilities(row: Row) -> Row:
    """Return the logarithm of the softmax of a row."""
    shifted = row - row.max()
    result: Row = shifted - np.log(np.exp(shifted).sum())
    return result


def _rows(setting: Setting, gpu_layers: int) -> tuple[Row, Row]:
    """Return the row behind a prompt evaluated at once, and again with its last token evaluated alone."""
    prompt = any_prompt(PROMPT_TOKENS, 3, setting.comparison_shape)
    with Engine(setting) as engine:
        engine.open(str(setting.comparison_model), engine.options(gpu_layers))
        engine.client.send(Watch(on=True))
        return _row(engine, prompt), _row(engine, prompt)


def _row(engine: Engine, prompt: list[int]) -> Row:
    request = engine.generate(token_prompt(prompt), settings(1, 1))
    row: Row = np.empty(0)
    while True:
        event = engine.next().event
        if isinstance(event, Step) and not event.ids:
            row = np.frombuffer(event.logits, np.float32).astype(np.float64)
        elif isinstance(event, Finished) and event.request == request:
            return row
