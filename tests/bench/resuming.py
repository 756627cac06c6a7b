"""A chat that goes on after a restart: the time to the first token with its state kept on disk, and without."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import msgspec

from app.core.commands import Generate, Load
from app.core.events import Finished, Loaded
from app.core.kept_state import StatePlace
from app.core.model import LoadOptions
from app.core.sampling import PRESETS
from tests.bench.arithmetic import BenchError, Measurement, runs
from tests.bench.engine_user import EngineUser, token_prompt
from tests.bench.setting import Setting, any_prompt

HISTORY_TOKENS = 6_000
NEXT_TOKENS = 40
"""Of the next question."""
CELLS = 8192
THREADS = 2
SETTINGS = msgspec.structs.replace(PRESETS["Greedy"], max_tokens=2, seed=1)


def resume_from_disk(setting: Setting) -> Measurement:
    """Measure the next turn in engines that have just loaded the model, with what was kept and without, in turn."""
    with tempfile.TemporaryDirectory(prefix="tokenlight-bench-") as folder:
        place = StatePlace(str(Path(folder) / "chat.state"), "starter", 1 << 40)
        history = any_prompt(HISTORY_TOKENS, 0)
        _turn(setting, history, place)
        size = Path(place.path).stat().st_size
        kept, cold, ratios = [], [], []
        for number in runs(setting.seconds):
            prompt = history + any_prompt(NEXT_TOKENS, number + 1)
            warm = _turn(setting, prompt, msgspec.structs.replace(place, most_bytes=0))
            fresh = _turn(setting, prompt, None)
            if warm.metrics.reuse is None or warm.metrics.reuse.from_disk < HISTORY_TOKENS:
                raise BenchError("The history did not come from disk.")
            if fresh.metrics.prompt_tokens_from_cache:
                raise BenchError("The cold engine read less than all of the history.")
            kept.append(_ttft(warm))
            cold.append(_ttft(fresh))
            ratios.append(kept[-1] / cold[-1])
    more = {"kept_ms": round(statistics.median(kept)), "cold_ms": round(statistics.median(cold)), "bytes": size}
    return Measurement(statistics.median(ratios), ratios, more=more)


def _turn(setting: Setting, prompt: list[int], place: StatePlace | None) -> Finished:
    """Load the model in a new engine, have it answer, and end it."""
    with EngineUser() as engine:
        request = engine.client.new_request()
        engine.client.send(Load(request, str(setting.model), LoadOptions(context=CELLS, threads=THREADS)))
        engine.wait(Loaded, request)
        request = engine.client.new_request()
        sent_ns = time.perf_counter_ns()
        engine.client.send(Generate(request, token_prompt(prompt), SETTINGS, sent_ns, kept=place))
        return engine.wait(Finished, request)


def _ttft(end: Finished) -> float:
    if end.metrics.ttft_ms is None:
        raise BenchError("The answer said nothing.")
    return end.metrics.ttft_ms
