"""What real answers on this machine say of its speed: parameters that follow them, robustly, and how well they fit.

Decode and prefill are kept apart. An answer that something disturbed, or that read a short prompt, is weak evidence: until
a better one comes it makes a device faster, with a wide band, and never slower. One too short says nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from app.planner.decode_fit import DecodePoint, fit_decode
from app.planner.decode_speed import MIXTURE_COST
from app.planner.gpu import CARRIED_OVER, GB, HELD_UP_HERE, MEASURED_HERE, TERA, Gpu, PrefillTime, Speed
from app.planner.model_work import ModelWork
from app.planner.weak_answers import raised, with_fit

LEAST_DECODED, LEAST_PREFILLED = 16, 64
"""Tokens below which an answer says nothing of decode, or little of prefill."""
SHORT_PREFILLED = 16
"""And nothing of prefill: what each prompt takes whatever its length is most of it."""
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
WIDE = 2.0
"""A band is so many times the median error."""
WEAK_READ = 0.6
"""And of reading: of few tokens that others held up, a long prompt may be read more than twice as fast."""


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
    """Whether something else took the machine while it was written: other programs, the disk, a changed clock."""
    prefill_disturbed: bool = False
    """And while its prompt was read."""
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
    weak_decode: tuple[DecodePoint, ...] = ()
    """Of disturbed answers, until one comes that is not."""
    weak_prefill: tuple[PrefillPoint, ...] = ()
    """Of disturbed answers and short prompts, until a better one comes."""

    @property
    def decode_evidence(self) -> tuple[DecodePoint, ...]:
        """What is known of writing, be it weak."""
        return self.decode or self.weak_decode

    @property
    def prefill_evidence(self) -> tuple[PrefillPoint, ...]:
        """What is known of reading, be it weak."""
        return self.prefill or self.weak_prefill

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
    if answer.paced or work.is_empty:
        return calibration
    point, prefill = _decode_point(answer, work), _prefill_point(answer, work)
    is_short = answer.prefilled < LEAST_PREFILLED
    after = _with_decode(calibration, point, is_weak=answer.disturbed) if point else calibration
    after = _with_prefill(after, prefill, is_weak=answer.prefill_disturbed or is_short) if prefill else after
    told = (after.decode_answers, after.prefill_answers) != (calibration.decode_answers, calibration.prefill_answers)
    if not told or answer.rest_s is None:
        return after
    return msgspec.structs.replace(after, rests=(*after.rests, answer.rest_s)[-MOST_RESTS:])


def _with_decode(known: Calibration, point: DecodePoint, *, is_weak: bool) -> Calibration:
    if not is_weak:
        answers = known.decode_answers + 1
        return msgspec.structs.replace(
            known, decode=_kept(known.decode, point), decode_answers=answers, weak_decode=()
        )
    return known if known.decode else msgspec.structs.replace(known, weak_decode=_kept(known.weak_decode, point))


def _with_prefill(known: Calibration, point: PrefillPoint, *, is_weak: bool) -> Calibration:
    if not is_weak:
        points, answers = (*known.prefill, point)[-MOST_POINTS:], known.prefill_answers + 1
        return msgspec.structs.replace(known, prefill=points, prefill_answers=answers, weak_prefill=())
    points = (*known.weak_prefill, point)[-MOST_POINTS:]
    return known if known.prefill else msgspec.structs.replace(known, weak_prefill=points)


def calibrated(gpu: Gpu, calibration: Calibration) -> Calibrated:
    """Return a device with the parameters that answers showed, each left as it was where none did."""
    writes, decode_error = _as_written(gpu, calibration)
    found, prefill_error = _as_read(writes, calibration)
    return Calibrated(found, calibration.decode_answers, calibration.prefill_answers, decode_error, prefill_error)


def _as_written(gpu: Gpu, calibration: Calibration) -> tuple[Gpu, float | None]:
    """Return a device as decode showed it, and the error that is left; weak evidence only makes it faster."""
    if gpu.effective_bandwidth <= 0:
        return gpu, None
    points = calibration.decode
    if not points:
        return raised(gpu, calibration.weak_decode)
    fit = fit_decode(points, gpu)
    below, above = (_band(before, fit.error, len(points)) for before in (gpu.below, gpu.above))
    return with_fit(gpu, fit, below, above, MEASURED_HERE), fit.error


def _as_read(gpu: Gpu, calibration: Calibration) -> tuple[Gpu, float | None]:
    """Return a device as prefill showed it, and the error that is left; weak evidence is no more than a lower bound."""
    points, is_weak = calibration.prefill_evidence, not calibration.prefill
    if not points:
        return gpu, None
    tflops, is_new = _typical(points), gpu.prefill_tflops is None
    if is_weak and gpu.prefill_tflops is not None and tflops <= gpu.prefill_tflops:
        return gpu, None
    error = statistics.median(abs(point.tflops / tflops - 1) for point in points)
    band = _band(gpu.prefill_band, error, len(points))
    if is_weak:
        band = max(band, gpu.prefill_band, WEAK_READ)
    source = HELD_UP_HERE if is_weak else MEASURED_HERE
    sources = gpu.sources | dict.fromkeys(("prefill_tflops", "prefill_band"), source)
    found = msgspec.structs.replace(gpu, prefill_tflops=tflops, prefill_band=band, sources=sources)
    return msgspec.structs.replace(found, is_prefill_least=is_weak and is_new), error


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
    if answer.prefilled < SHORT_PREFILLED or not answer.prefill_s or answer.prefill_s <= 0:
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
    if tokens < SHORT_PREFILLED or not seconds or seconds <= 0:
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
