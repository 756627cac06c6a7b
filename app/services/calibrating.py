"""What answers on this machine show of its speed: each becomes a point, and the next one is expected from them.

Only whole answers count that nobody held or paced, by a model that lies on one device as a whole, and not the first after a
load; until a better one comes, those that something disturbed only make a device faster. What is kept is bounded by `planner.calibration`, for
each device and, on the processor, each number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from app.core.circumstances import Circumstances
from app.core.devices import GPU_KINDS, MAIN_MEMORY, Device
from app.core.events import Finished
from app.core.job_events import LanesAnalysed
from app.core.machine_speed import KeptAnswers, is_plausible_decode, is_plausible_prefill, is_plausible_rest
from app.core.metrics import Metrics, TtftParts
from app.core.model import ModelInfo
from app.core.signal import Signal
from app.planner.answer_times import times_of
from app.planner.calibration import AnswerFigures, Calibrated, Calibration, PrefillPoint, calibrated, with_answer
from app.planner.decode_costs import draws_much, is_disturbed
from app.planner.decode_fit import DecodePoint
from app.planner.decode_speed import Part, decode_speed
from app.planner.gpu import Gpu, PrefillTime, Speed
from app.planner.model_work import ModelWork
from app.planner.prefill_costs import is_prefill_disturbed
from app.planner.prefill_speed import prefill_time
from app.planner.this_machine import OwnDevice, this_machine
from app.services.engine_session import EngineSession
from app.services.latest_job import LatestJob
from app.services.own_devices import answers_key, own_gpu, own_processor
from app.services.planned_work import whole_work
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile

JOB = "planned work"
MOST_DEVICES = 8
"""The speeds of so many devices, or numbers of threads, are kept."""
_OTHER_ENDS = ("cancelled",)


class _Fit(NamedTuple):
    """What the background worked out."""

    work: ModelWork | None
    device: Calibrated | None


class Calibrating:
    """Learns from answers; `expected` is what the next one should do."""

    def __init__(
        self, session: EngineSession, settings: SettingsFile, jobs: Jobs, table: Callable[[], Iterable[Gpu]]
    ) -> None:
        """`table` reads the GPUs that are known, when they are first wanted."""
        self.changed: Signal[()] = Signal()
        """One more answer has told something."""
        self.devices: Callable[[], tuple[Device, ...]] = tuple
        """What the engine can compute on, as far as that is known."""
        self._session = session
        self._settings = settings
        self._table = table
        self._listed: tuple[Device, ...] = ()
        self._model: ModelInfo | None = None
        self._work: ModelWork | None = None
        self._fit: Calibrated | None = None
        """The device of the loaded model as answers showed it; None where none did."""
        self._job: LatestJob[_Fit] = LatestJob(jobs, JOB, self._take_fit)
        session.changed.connect(self._look)

    def take(self, event: LanesAnalysed) -> None:
        """Take in what the header of the loaded model says, and what came of the answers."""
        self._job.take(event)

    def expected(self, metrics: Metrics) -> Speed | None:
        """Return how fast an answer of this length should have been written, from those before it; None is unknown."""
        return self.expected_at(round(_mean_context(metrics)))

    def expected_at(self, context: int) -> Speed | None:
        """Return how fast the loaded model should write with so many tokens in the cache; None where no answer tells."""
        work, fit = self._work, self._fit
        if work is None or fit is None or fit.decode_error is None:
            return None
        return decode_speed([Part(work, fit.gpu)], context)

    def expected_reading(self, metrics: Metrics) -> PrefillTime | None:
        """Return how long the prompt of an answer should have taken to be read, from those before it.

        None where they tell no more than how long it takes at most.
        """
        work, fit, model = self._work, self._fit, self._model
        if work is None or fit is None or model is None or fit.prefill_error is None:
            return None
        cached = metrics.prompt_tokens_from_cache
        time = prefill_time([Part(work, fit.gpu)], metrics.prompt_tokens, cached, model.options.micro_batch)
        return None if time is None or time.is_most else time

    def reading_speed(self, tokens: int) -> float | None:
        """Return how many tokens/s the loaded model should read of so many, from answers before; None is unknown."""
        work, fit, model = self._work, self._fit, self._model
        if work is None or fit is None or model is None or fit.prefill_error is None:
            return None
        time = prefill_time([Part(work, fit.gpu)], tokens, 0, model.options.micro_batch)
        return time.tokens_per_s if time is not None else None

    def note(self, event: Finished, circumstances: Circumstances, held: bool) -> None:
        """Take in an answer that has ended; `held` says whether somebody paced it or looked at every step."""
        model, work = self._model, self._work
        key = self._key(model) if model is not None else None
        if work is None or key is None or event.stop_reason in _OTHER_ENDS or circumstances.first_after_load:
            return
        metrics, times = event.metrics, times_of(event.metrics)
        answer = msgspec.structs.replace(
            figures_of(metrics, disturbed=is_disturbed(metrics, times, circumstances), paced=held),
            prefill_disturbed=is_prefill_disturbed(metrics, times, circumstances),
        )
        before = self._settings.values.answers_here
        after = kept_with(before, key, answer, work)
        if after != before:
            self._settings.change(answers_here=after)
            self._begin()

    def look_at_devices(self) -> None:
        """Notice which devices there are: they are told after the load of a model."""
        if self.devices() != self._listed:
            self._listed = self.devices()
            self._begin()

    def _look(self) -> None:
        model = self._session.model
        if model is self._model:
            return
        self._model, self._work, self._fit = model, None, None
        self._job.forget()
        self._begin()

    def _begin(self) -> None:
        """Have everything worked out anew in the background: many points take longer than a frame."""
        model, work = self._model, self._work
        if model is None:
            return
        device, key = self._device(model), self._key(model)
        known = self._known(key) if key is not None else Calibration()
        self._job.want(lambda: _fitted(model, work, device, known, self._table))

    def _take_fit(self, fit: _Fit | None) -> None:
        if fit is not None:
            self._work, self._fit = fit.work, fit.device
            self.changed.emit()

    def _device(self, model: ModelInfo) -> OwnDevice | None:
        """Return the one device that has all of a model; None where there are several."""
        memories = self._settings.values.memory_speeds
        if not model.gpu_layers:
            return own_processor(memories)
        names = [name for name in model.devices if name != MAIN_MEMORY]
        found = [device for device in self.devices() if device.name in names and device.kind in GPU_KINDS]
        return own_gpu(found[0], memories) if len(names) == len(found) == 1 else None

    def _key(self, model: ModelInfo) -> str | None:
        device = self._device(model)
        return answers_key(device, model.threads) if device is not None else None

    def _known(self, key: str) -> Calibration:
        return calibration_of(self._settings.values.answers_here.get(key, KeptAnswers()))


def figures_of(metrics: Metrics, *, disturbed: bool = False, paced: bool = False) -> AnswerFigures:
    """Return what an answer tells of the machine's speed: of the decode nothing where draws took much of it."""
    return AnswerFigures(
        decoded=metrics.sampled_tokens,
        decode_tokens_per_s=None if draws_much(metrics, times_of(metrics)) else metrics.decode_tokens_per_s,
        context=_mean_context(metrics),
        prefilled=max(0, metrics.prompt_tokens - metrics.prompt_tokens_from_cache),
        prefill_s=metrics.ttft_parts_ms.prefill / 1000,
        depth=metrics.prompt_tokens_from_cache,
        disturbed=disturbed,
        paced=paced,
        rest_s=_beside_reading(metrics.ttft_parts_ms) / 1000,
    )


def _beside_reading(parts: TtftParts) -> float:
    """Return the ms of the time to the first token that went into anything but reading the prompt."""
    beside = (parts.save, parts.queue, parts.tokens, parts.first_sample, parts.held_back, parts.paint)
    return sum(ms for ms in beside if ms is not None)


def kept_with(
    answers: Mapping[str, KeptAnswers], key: str, answer: AnswerFigures, work: ModelWork
) -> dict[str, KeptAnswers]:
    """Return what is kept of all devices with one more answer on that of a key, which is then the last."""
    before = calibration_of(answers.get(key, KeptAnswers()))
    after = with_answer(before, answer, work)
    if after == before:
        return dict(answers)
    kept = {name: value for name, value in answers.items() if name != key}
    while len(kept) >= MOST_DEVICES:
        del kept[next(iter(kept))]
    return {**kept, key: _plain(after)}


def _fitted(
    model: ModelInfo,
    work: ModelWork | None,
    device: OwnDevice | None,
    known: Calibration,
    table: Callable[[], Iterable[Gpu]],
) -> _Fit:
    """Return the work of a model, read from its file where nobody did, and its device as answers showed it."""
    work = work if work is not None else whole_work(model)
    is_told = bool(known.decode_evidence or known.prefill_evidence)
    gpu = this_machine(device, table()) if device is not None and is_told else None
    return _Fit(work, calibrated(gpu, known) if gpu is not None else None)


def _mean_context(metrics: Metrics) -> float:
    """Return how many tokens were in the cache in the mean while an answer was written."""
    return max(0.0, metrics.kv.cells_used - metrics.sampled_tokens / 2)


def _plain(calibration: Calibration) -> KeptAnswers:
    return KeptAnswers(
        tuple(msgspec.structs.astuple(point) for point in calibration.decode),
        tuple(msgspec.structs.astuple(point) for point in calibration.prefill),
        calibration.decode_answers,
        calibration.prefill_answers,
        calibration.rests,
        tuple(msgspec.structs.astuple(point) for point in calibration.weak_decode),
        tuple(msgspec.structs.astuple(point) for point in calibration.weak_prefill),
    )


def calibration_of(kept: KeptAnswers) -> Calibration:
    """Return what is kept as points; what people wrote into the file that is no speed is left out."""
    return Calibration(
        _decode_points(kept.decode),
        _prefill_points(kept.prefill),
        max(0, kept.decode_answers),
        max(0, kept.prefill_answers),
        tuple(rest for rest in kept.rests if is_plausible_rest(rest)),
        _decode_points(kept.weak_decode),
        _prefill_points(kept.weak_prefill),
    )


def _decode_points(kept: Iterable[tuple[float, ...]]) -> tuple[DecodePoint, ...]:
    return tuple(found for point in kept if (found := _decode_point(point)) is not None)


def _prefill_points(kept: Iterable[tuple[float, ...]]) -> tuple[PrefillPoint, ...]:
    return tuple(found for point in kept if (found := _prefill_point(point)) is not None)


def _decode_point(kept: tuple[float, ...]) -> DecodePoint | None:
    if not is_plausible_decode(kept):
        return None
    layers, weights, cache, seconds, tokens = (*kept, 0.0)[:5]
    return DecodePoint(int(layers), weights, cache, seconds, int(tokens))


def _prefill_point(kept: tuple[float, ...]) -> PrefillPoint | None:
    if not is_plausible_prefill(kept):
        return None
    tflops, tokens, depth, layers, weights = (*kept, 0.0, 0.0, 0.0)[:5]
    return PrefillPoint(tflops, int(tokens), int(depth), int(layers), weights)
