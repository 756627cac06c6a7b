"""What real answers on this machine say of its speed: parameters that follow them, robustly, and how well they fit.

Decode and prefill are kept apart. An answer that something disturbed pulls little, and one too short says nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from app.planner.decode_fit import DecodePoint, fit_decode
from app.planner.decode_speed import MIXTURE_COST
from app.planner.gpu import GB, MICROSECOND, TERA, Gpu, PrefillTime, Speed
from app.planner.model_work import ModelWork

LEAST_DECODED, LEAST_PREFILLED = 16, 64
"""Tokens below which an answer says nothing of decode, or of prefill."""
SLOWEST, FASTEST = 1e-3, 1e5
"""Tokens/s beyond which a clock was wrong."""
MOST_POINTS, MOST_ALIKE = 64, 6
"""Points that are kept in all, and of one model at about one context."""
MOST_RESTS = 16
ENOUGH = 3
"""From so many answers on the band follows what they leave open."""
MANY = 8
LEAST_BAND, LEAST_BAND_OF_FEW = 0.05, 0.1
"""With fewer than `MANY` answers three parameters fit them closer than they are sure."""
MOST_BAND = 0.9
FEW_SHARE = 0.7
"""Of the table's band, with fewer answers."""
MEASURED_HERE = "measured: answers on this machine"
"""Source of a figure."""
CARRIED_OVER = "extrapolated: answers on a GPU of the same class in this machine"
"""And of one that they are carried over to."""
WIDE = 2.0
"""A band is so many times the median error."""


class AnswerFigures(msgspec.Struct, frozen=True):
    """What an answer tells of the machine's speed; None is unknown."""

    decoded: int
    """Sampled tokens."""
    decode_tokens_per_s: float | None
    context: float
    """Tokens in the cache while it was written, in the mean."""
    prefilled: int = 0
    """Tokens of the prompt that were evaluated."""
    prefill_s: float | None = None
    depth: int = 0
    """Tokens that were in the cache before them."""
    disturbed: bool = False
    """Whether something else took the machine: a busy processor, the first answer after a load, a changed clock."""
    paced: bool = False
    """Whether somebody made it slower on purpose, or looked at every step."""
    rest_s: float | None = None
    """Seconds that its first token took beside reading the prompt."""


class PrefillPoint(msgspec.Struct, frozen=True):
    """What one prefill got done, in 10^12 operations/s."""

    tflops: float
    tokens: int
    depth: int = 0
    """Tokens that were in the cache before them."""
    layers: int = 0
    weight_bytes: float = 0.0
    """With the layers, which model it was; 0 is unknown."""


class Calibration(msgspec.Struct, frozen=True):
    """What answers on one device said so far; starts empty, and is kept as it is."""

    decode: tuple[DecodePoint, ...] = ()
    prefill: tuple[PrefillPoint, ...] = ()
    decode_answers: int = 0
    """All that were taken, those no longer kept included."""
    prefill_answers: int = 0
    rests: tuple[float, ...] = ()
    """Seconds that the newest first tokens took beside reading the prompt."""

    @property
    def rest_s(self) -> float | None:
        """What a first token takes beside reading; None where no answer told."""
        return statistics.median(self.rests) if self.rests else None


class Calibrated(msgspec.Struct, frozen=True):
    """A device as it showed itself, and what that rests on; None where nothing was measured."""

    gpu: Gpu
    decode_answers: int
    prefill_answers: int
    decode_error: float | None
    """Median of what is left between fit and answers, as a share."""
    prefill_error: float | None


class Beside(msgspec.Struct, frozen=True):
    """A prediction and what came out."""

    predicted: float
    measured: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """How far the prediction is above what came out, as a share of that; negative is below."""
        return self.predicted / self.measured - 1

    @property
    def is_within(self) -> bool:
        """Whether it came out within the band."""
        return self.low <= self.measured <= self.high


def with_answer(calibration: Calibration, answer: AnswerFigures, work: ModelWork) -> Calibration:
    """Return what is known with one more answer of a model that lies on this device as a whole."""
    if answer.disturbed or answer.paced or work.is_empty:
        return calibration
    point, prefill = _decode_point(answer, work), _prefill_point(answer, work)
    decodes = _kept(calibration.decode, point) if point else calibration.decode
    prefills = (*calibration.prefill, prefill)[-MOST_POINTS:] if prefill else calibration.prefill
    told = point is not None or prefill is not None
    rests = (*calibration.rests, answer.rest_s)[-MOST_RESTS:] if told and answer.rest_s is not None else None
    return Calibration(
        decodes,
        prefills,
        calibration.decode_answers + (point is not None),
        calibration.prefill_answers + (prefill is not None),
        calibration.rests if rests is None else rests,
    )


def calibrated(gpu: Gpu, calibration: Calibration) -> Calibrated:
    """Return a device with the parameters that answers showed, each left as it was where none did."""
    decode_error = prefill_error = None
    result = gpu
    if calibration.decode and gpu.effective_bandwidth > 0:
        fit = fit_decode(calibration.decode, gpu)
        decode_error = fit.error
        # What is read faster than the memory was believed to give says that it gives more, be it weights or cache.
        bandwidth = max(gpu.bandwidth, fit.bytes_per_s / GB / min(1.0, fit.cache_cost))
        result = msgspec.structs.replace(
            result,
            bandwidth=bandwidth,
            layer_us=fit.layer_s / MICROSECOND,
            efficiency=fit.bytes_per_s / GB / bandwidth,
            cache_cost=fit.cache_cost,
            below=_band(gpu.below, fit.error, len(calibration.decode)),
            above=_band(gpu.above, fit.error, len(calibration.decode)),
        )
    if calibration.prefill:
        tflops = _typical(calibration.prefill)
        prefill_error = statistics.median(abs(point.tflops / tflops - 1) for point in calibration.prefill)
        band = _band(gpu.prefill_band, prefill_error, len(calibration.prefill))
        result = msgspec.structs.replace(result, prefill_tflops=tflops, prefill_band=band)
    sources = dict(gpu.sources)
    if calibration.decode:
        sources |= dict.fromkeys(("layer_us", "efficiency", "below", "above"), MEASURED_HERE)
    if calibration.prefill:
        sources |= dict.fromkeys(("prefill_tflops", "prefill_band"), MEASURED_HERE)
    return Calibrated(
        msgspec.structs.replace(result, sources=sources),
        calibration.decode_answers,
        calibration.prefill_answers,
        decode_error,
        prefill_error,
    )


def carried_over(original: Gpu, measured: Gpu, other: Gpu) -> Gpu:
    """Return another GPU of the same class with what answers changed on this one; any other as it is, bands and all.

    Decode and prefill each where answers here told of it.
    """
    if not original.speed_class or original.speed_class != other.speed_class or other.is_this_machine:
        return other
    if original.efficiency <= 0 or original.layer_us <= 0:
        return other
    changes: dict[str, object] = {}
    sources: list[str] = []
    if measured.sources.get("efficiency") == MEASURED_HERE:
        here = measured.effective_bandwidth / original.effective_bandwidth
        changes["layer_us"] = other.layer_us * measured.layer_us / original.layer_us
        changes["efficiency"] = min(1.0, other.efficiency * here)
        changes["cache_cost"] = measured.cache_cost
        sources += ("layer_us", "efficiency")
    is_read = measured.sources.get("prefill_tflops") == MEASURED_HERE
    if is_read and measured.prefill_tflops and original.prefill_tflops and other.prefill_tflops:
        changes["prefill_tflops"] = other.prefill_tflops * measured.prefill_tflops / original.prefill_tflops
        sources.append("prefill_tflops")
    told = dict.fromkeys(sources, f"{CARRIED_OVER} ({measured.name})")
    return msgspec.structs.replace(other, sources={**other.sources, **told}, **changes)


def decode_beside(predicted: Speed, answer: AnswerFigures) -> Beside | None:
    """Return decode as predicted and as it was, in tokens/s; None where an answer says nothing of it."""
    measured = answer.decode_tokens_per_s
    if answer.decoded < LEAST_DECODED or not measured or measured <= 0:
        return None
    return Beside(predicted.tokens_per_s, measured, predicted.low, predicted.high)


def prefill_beside(predicted: PrefillTime, answer: AnswerFigures) -> Beside | None:
    """Return prefill as predicted and as it was, in s; None where an answer says nothing of it."""
    if answer.prefilled < LEAST_PREFILLED or not answer.prefill_s or answer.prefill_s <= 0:
        return None
    return Beside(predicted.seconds, answer.prefill_s, predicted.low, predicted.high)


def _decode_point(answer: AnswerFigures, work: ModelWork) -> DecodePoint | None:
    rate = answer.decode_tokens_per_s
    if answer.decoded < LEAST_DECODED or not rate or not SLOWEST < rate < FASTEST:
        return None
    cost = MIXTURE_COST if work.is_mixture else 1.0
    context = max(0, round(answer.context))
    return DecodePoint(work.layers, work.weight_bytes(), work.cache_bytes(context), 1 / rate / cost, context)


def _prefill_point(answer: AnswerFigures, work: ModelWork) -> PrefillPoint | None:
    seconds, tokens = answer.prefill_s, answer.prefilled
    if tokens < LEAST_PREFILLED or not seconds or seconds <= 0:
        return None
    done = work.operations(tokens, answer.depth) / seconds / TERA
    point = PrefillPoint(done, tokens, answer.depth, work.layers, work.weight_bytes())
    return point if 0 < done < GB else None


def _kept(points: Sequence[DecodePoint], point: DecodePoint) -> tuple[DecodePoint, ...]:
    """Return the points to keep with a new one: the oldest of those like it goes before any that tells something else."""
    alike = [old for old in points if old.place == point.place]
    dropped = alike[0] if len(alike) >= MOST_ALIKE else points[0] if len(points) >= MOST_POINTS else None
    return (*(old for old in points if old is not dropped), point)


def _typical(points: Sequence[PrefillPoint]) -> float:
    """Return the median by tokens: long prompts tell more, and one that something held up does not count."""
    ordered = sorted(points, key=lambda point: point.tflops)
    half, passed = sum(point.tokens for point in ordered) / 2, 0
    for point in ordered:
        passed += point.tokens
        if passed >= half:
            return point.tflops
    return ordered[-1].tflops


def _band(before: float, error: float, answers: int) -> float:
    least = LEAST_BAND if answers >= MANY else LEAST_BAND_OF_FEW
    if answers < ENOUGH:
        least = max(least, before * FEW_SHARE)
    return min(MOST_BAND, max(least, WIDE * error))
