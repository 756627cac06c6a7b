"""Predicted against measured decode on this machine: three answers teach it, and answers at other contexts are held against it.

All prompts are beginnings of one, the longest first, so that it is read once and cut back from then on.
"""

from __future__ import annotations

import statistics

from app.core.circumstances import Circumstances
from app.core.commands import Load
from app.core.devices import MAIN_MEMORY
from app.core.events import Finished, Loaded
from app.core.machine_speed import KeptAnswers
from app.core.model import LoadOptions, ModelInfo
from app.core.sampling import SamplingSettings
from app.planner.answer_times import times_of
from app.planner.decode_costs import LEAST_CPU, processor
from app.planner.decode_speed import Part, decode_speed
from app.services.calibrating import figures_of, kept_with
from app.services.own_devices import answers_key, own_processor
from app.services.planned_work import whole_work
from app.services.planning_devices import SpeedFacts, known_gpus
from app.system.resources import find_resources
from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.engine_user import EngineUser, token_prompt
from tests.bench.setting import Setting, any_prompt

CELLS = 8192
THREADS = 2
TOKENS = 48
TAUGHT, ASKED = (4096, 1024, 128), (6000, 2048, 256)
TRIES = 5
REPEATED = 3
"""Measured in the median of so many answers: the bar is for the prediction, not for what disturbs one answer."""
GREEDY = SamplingSettings(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, seed=1, max_tokens=TOKENS)


def measured_here_error(setting: Setting) -> Measurement:
    """Measure the largest difference between predicted and measured decode, in % of the latter."""
    with EngineUser() as engine:
        model = _load(engine, setting)
        contexts = [context for context in ASKED if context + TOKENS < model.context]
        text = any_prompt(max((*contexts, *TAUGHT)), 7)
        _answer(engine, text[: max(contexts)])  # reads the whole prompt, and warms up
        taught: dict[int, Finished] = {}
        rates: dict[int, list[float]] = {context: [] for context in contexts}
        for context in sorted((*contexts, *TAUGHT), reverse=True):
            if context in TAUGHT:
                taught[context] = _undisturbed(engine, text[:context])
                continue
            rates[context] = [_rate(_undisturbed(engine, text[:context])) for _ in range(REPEATED)]
    errors, rows = [], {}
    for context in contexts:
        measured, predicted = statistics.median(rates[context]), _predicted(model, taught, context)
        errors.append(100 * abs(predicted / measured - 1))
        rows[str(context)] = {"predicted": round(predicted, 1), "measured": round(measured, 1)}
    lessons = {
        str(context): {"measured": round(_rate(finished), 1), "share_of_cores": round(_share(finished), 2)}
        for context, finished in taught.items()
    }
    return Measurement(max(errors), errors, more={"contexts": rows, "taught": lessons})


def _load(engine: EngineUser, setting: Setting) -> ModelInfo:
    request = engine.client.new_request()
    engine.client.send(Load(request, str(setting.model), LoadOptions(context=CELLS, threads=THREADS)))
    return engine.wait(Loaded, request).model


def _answer(engine: EngineUser, ids: list[int]) -> Finished:
    return engine.answer(engine.generate(token_prompt(ids), GREEDY, "off"))[1]


def _undisturbed(engine: EngineUser, ids: list[int]) -> Finished:
    """Return an answer whose cores were its own, as only such ones teach; else the one that came nearest to that."""
    tried: dict[float, Finished] = {}
    for _ in range(TRIES):
        finished = _answer(engine, ids)
        share = _share(finished)
        tried[share] = finished
        if share >= LEAST_CPU:
            break
    return tried[max(tried)]


def _share(finished: Finished) -> float:
    """Return how much of the time of its cores an answer got."""
    metrics = finished.metrics
    got = processor(metrics, times_of(metrics), Circumstances(threads=THREADS, cores=THREADS))
    return got.share if got is not None else 0.0


def _rate(finished: Finished) -> float:
    rate = finished.metrics.decode_tokens_per_s
    if rate is None:
        raise BenchError("An answer had too few tokens to tell its speed.")
    return rate


def _predicted(model: ModelInfo, taught: dict[int, Finished], context: int) -> float:
    """Return the decode that three answers let one expect with so many tokens before it.

    As the program does it: each answer's figures are kept under the key of its device, and the planner looks for them there.
    """
    work = whole_work(model)
    if work is None:
        raise BenchError("The model's header does not tell what a token reads.")
    answers: dict[str, KeptAnswers] = {}
    for finished in taught.values():
        key = answers_key(own_processor({}), model.threads)
        answers = kept_with(answers, key, figures_of(finished.metrics), work)
    gpus = known_gpus(find_resources().gpu_table(), SpeedFacts({}, answers, {}, model.threads), (), 0)
    if not gpus.answers:
        raise BenchError("What three answers told does not reach the planner.")
    speed = decode_speed([Part(work, gpus.here[MAIN_MEMORY])], context + TOKENS // 2)
    if speed is None:
        raise BenchError("Three answers told nothing.")
    return speed.tokens_per_s
