"""Predicted against measured decode and prefill: by the table of GPUs alone, and after three answers.

With the planner's own functions, as the program learns from answers and predicts the next.
"""

from __future__ import annotations

from app.core.events import Finished
from app.planner.calibration import (
    LEAST_DECODED,
    AnswerFigures,
    Beside,
    Calibration,
    calibrated,
    decode_beside,
    prefill_beside,
    with_answer,
)
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu
from app.planner.gpu_table import read_gpu_table
from app.planner.prefill_speed import prefill_time
from app.planner.this_machine import this_machine
from app.services.calibrating import figures_of
from app.services.own_devices import own_gpu, own_processor
from app.services.planned_work import whole_work
from app.system.resources import find_resources
from gpu_check.engine import Engine
from gpu_check.model_file import any_prompt
from gpu_check.setting import Setting
from tests.bench.arithmetic import BenchError

DECODE_PERCENT = 15.0
"""After three answers; of prefill, and of the table alone, no bar is known."""
TAUGHT, ASKED = (0.8, 0.4, 0.1), (0.6, 0.2)
"""Lengths of prompts, as shares of the context."""
SEEDS_TRIED = 5
NEXT_SEED = 1_000_003
SECONDS_TO_MS = 1e3


def predicting(setting: Setting) -> None:
    """Let three answers teach the device's speed, and hold two others against it."""
    gpu = _device(setting)
    if gpu is None:
        why = "neither the table of GPUs knows this device nor has anybody measured its memory"
        setting.report.left_out("predict", why)
        return
    with Engine(setting) as engine:
        model = engine.open(str(setting.model), engine.options(setting.all_layers if setting.device else 0))
        work, batch = whole_work(model), model.options.micro_batch
        if work is None:
            raise BenchError("The model's header does not tell what a token reads.")
        _answer(engine, setting, TAUGHT[-1], 0)  # kernels are loaded then
        known = Calibration()
        for number, share in enumerate(TAUGHT, 1):
            taught = figures_of(_answer(engine, setting, share, number).metrics)
            if number == 1:
                _tell(setting, "predict_table", batch, Part(work, gpu), taught)
            known = with_answer(known, taught, work)
        learnt = calibrated(gpu, known).gpu
        for number, share in enumerate(ASKED, len(TAUGHT) + 1):
            asked = figures_of(_answer(engine, setting, share, number).metrics)
            bar = DECODE_PERCENT if setting.is_real else None
            _tell(setting, f"predict_{asked.prefilled}", batch, Part(work, learnt), asked, bar)


def _device(setting: Setting) -> Gpu | None:
    """Return the device as the planner knows it before any answer."""
    device = setting.device
    if device is None:
        return this_machine(own_processor({}), ())
    table = read_gpu_table(find_resources().gpu_table()).gpus
    return this_machine(own_gpu(device, {}), table)


def _answer(engine: Engine, setting: Setting, share: float, seed: int) -> Finished:
    """Return an answer that is long enough to tell its speed, behind a prompt that nothing is cached of."""
    sizes = setting.sizes
    tokens = max(LEAST_DECODED + 1, sizes.decode_tokens)
    length = int(share * (sizes.context - tokens))
    for attempt in range(SEEDS_TRIED):
        seed += attempt * NEXT_SEED
        _, finished = engine.say(any_prompt(length, seed, setting.shape), tokens, seed)
        if finished.metrics.sampled_tokens >= LEAST_DECODED:
            return finished
    raise BenchError("The answers of the model are too short to measure.")


def _tell(
    setting: Setting, name: str, batch: int, part: Part, answer: AnswerFigures, bar: float | None = None
) -> None:
    report = setting.report
    speed = decode_speed([part], round(answer.context))
    decode = decode_beside(speed, answer) if speed is not None else None
    if decode is None:
        report.left_out(f"{name}_decode", "nothing is known of how fast it reads")
    else:
        report.measured(f"{name}_decode", 100 * abs(decode.error), "% off", bar, note=_words(decode, "tok/s"))
    time = prefill_time([part], answer.prefilled + answer.depth, answer.depth, batch)
    prefill = prefill_beside(time, answer) if time is not None else None
    if prefill is None:
        report.left_out(f"{name}_prefill", "nothing is known of how fast it computes, or the prompt was too short")
    else:
        note = _words(prefill, "ms", SECONDS_TO_MS)
        report.measured(f"{name}_prefill", 100 * abs(prefill.error), "% off", note=note)


def _words(found: Beside, unit: str, times: float = 1.0) -> str:
    """Return a prediction with its band beside what came out."""
    low, high, expected, real = (each * times for each in (found.low, found.high, found.predicted, found.measured))
    within = "within" if found.is_within else "outside"
    return f"{expected:,.4g} ({low:,.4g}-{high:,.4g}) predicted, {real:,.4g} {unit} measured, {within} the band"
