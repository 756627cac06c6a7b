"""What answers of a model showed on one device of this machine, beside what is predicted for the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from app.core.machine_speed import KeptAnswers
from app.planner.calibration import LEAST_DECODED, AnswerFigures, decode_beside, prefill_beside
from app.planner.decode_fit import DecodePoint
from app.planner.decode_speed import MIXTURE_COST, Part, decode_speed
from app.planner.gpu import TERA
from app.planner.model_work import ModelWork
from app.planner.prefill_speed import prefill_time
from app.services.calibrating import calibration_of
from app.services.planning_values import Range

ALIKE = 0.01
"""Two models whose weights differ by less than this share are the same one; and caches of as many tokens kept alike."""
AS_LONG = 2.0
"""Prompts that are longer or shorter than this times are not read at the same pace."""


class MeasuredBeside(NamedTuple):
    """What came out, and what is predicted for it; both in tokens/s."""

    rate: float
    """The median of the newest answers like the last one."""
    tokens: int
    """In the cache while they were written, or of the prompt that was read."""
    expected: Range


def decode_measured(parts: Sequence[Part], answers: KeptAnswers) -> MeasuredBeside | None:
    """Return what the newest answers of a model showed that lies on one device as a whole; None where none did.

    `answers` are those of this device; only answers with a cache of the same kind count.
    """
    part = _only(parts)
    if part is None:
        return None
    points = [point for point in calibration_of(answers).decode_evidence if _is_of(point, part.work)]
    if not points:
        return None
    alike = [point for point in points if point.place == points[-1].place]
    context = round(median(point.tokens for point in alike))
    cost = MIXTURE_COST if part.work.is_mixture else 1.0
    rate = 1 / (median(point.seconds for point in alike) * cost)
    speed = decode_speed([part], context)
    beside = decode_beside(speed, AnswerFigures(LEAST_DECODED, rate, context)) if speed is not None else None
    if beside is None:
        return None
    return MeasuredBeside(rate, context, Range(beside.predicted, beside.low, beside.high))


def prefill_measured(parts: Sequence[Part], answers: KeptAnswers, micro_batch: int) -> MeasuredBeside | None:
    """Return how fast the newest prompts of a model were read that are about as long as the last one."""
    part = _only(parts)
    if part is None:
        return None
    known = calibration_of(answers).prefill_evidence
    points = [point for point in known if _is_model(point.layers, point.weight_bytes, part.work)]
    if not points:
        return None
    newest = points[-1]
    alike = [point for point in points if 1 / AS_LONG <= point.tokens / newest.tokens <= AS_LONG]
    tokens, depth = newest.tokens, newest.depth
    seconds = part.work.operations(tokens, depth) / (median(point.tflops for point in alike) * TERA)
    time = prefill_time([part], tokens + depth, depth, micro_batch)
    figures = AnswerFigures(0, None, 0, prefilled=tokens, prefill_s=seconds, depth=depth)
    beside = prefill_beside(time, figures) if time is not None else None
    if beside is None:
        return None
    return MeasuredBeside(
        tokens / seconds, tokens, Range(tokens / beside.predicted, tokens / beside.high, tokens / beside.low)
    )


def _only(parts: Sequence[Part]) -> Part | None:
    """Return the one device that has all of a model; None where there are several."""
    busy = [part for part in parts if not part.work.is_empty]
    return busy[0] if len(busy) == 1 else None


def _is_of(point: DecodePoint, work: ModelWork) -> bool:
    """Return whether a point is of this model with its cache kept as it is now: else its tokens took other bytes."""
    there = work.cache_bytes(point.tokens)
    is_alike = abs(point.cache_bytes - there) <= ALIKE * max(there, point.cache_bytes)
    return point.tokens > 0 and is_alike and _is_model(point.layers, point.weight_bytes, work)


def _is_model(layers: int, weight_bytes: float, work: ModelWork) -> bool:
    return layers == work.layers and abs(weight_bytes / work.weight_bytes() - 1) < ALIKE
