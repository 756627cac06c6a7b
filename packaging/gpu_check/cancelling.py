"""How soon a prefill ends after a cancel: the engine looks for one between chunks."""

from __future__ import annotations

from app.core.events import PrefillProgress
from gpu_check.engine import Engine, settings
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.engine_user import token_prompt

BAR_S = 0.5
TIMES = 3
CHUNKS_BEFORE = 2
SPARE_TOKENS = 64


def cancelling(setting: Setting) -> None:
    """Cancel a long prompt in its first half, a few times, and tell the longest wait."""
    sizes = setting.sizes
    tokens = sizes.long_context - SPARE_TOKENS
    with Engine(setting) as engine:
        engine.open(str(setting.model), engine.options(setting.all_layers, sizes.long_context))
        waits = [_cancel(engine, any_prompt(tokens, 11 + number, setting.shape)) for number in range(TIMES)]
    bar = BAR_S if setting.is_real else None
    setting.report.measured("cancel_prefill", max(waits), "s", bar, note=f"the longest of {TIMES}")


def _cancel(engine: Engine, ids: list[int]) -> float:
    request = engine.generate(token_prompt(ids), settings(1, 1))
    for _ in range(CHUNKS_BEFORE):
        engine.wait(PrefillProgress, request)
    return engine.seconds_to_end(request)
