"""What answers of a model showed on this machine, beside what is predicted for the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from app.core.machine_speed import KeptAnswers
from app.planner.decode_fit import DecodePoint
from app.planner.decode_speed import MIXTURE_COST, Part, decode_speed
from app.planner.gpu import Speed
from app.planner.model_work import ModelWork
from app.services.calibrating import calibration_of

ALIKE = 0.01
"""Two models whose weights differ by less than this share are the same one."""


class MeasuredBeside(NamedTuple):
    """What came out, and what is predicted for it."""

    rate: float
    """Tokens/s, the median of the newest answers at about one context."""
    context: int
    """Tokens in the cache while they were written."""
    expected: Speed


def measured_beside(parts: Sequence[Part], answers: Mapping[str, KeptAnswers]) -> MeasuredBeside | None:
    """Return what the newest answers of a model showed that lies on one device as a whole; None where none did."""
    busy = [part for part in parts if not part.work.is_empty]
    if len(busy) != 1:
        return None
    work = busy[0].work
    points = [point for kept in answers.values() for point in calibration_of(kept).decode if _is_of(point, work)]
    if not points:
        return None
    alike = [point for point in points if point.place == points[-1].place]
    context = _context_of(median(point.cache_bytes for point in alike), work)
    cost = MIXTURE_COST if work.is_mixture else 1.0
    expected = decode_speed(busy, context)
    rate = 1 / (median(point.seconds for point in alike) * cost)
    return None if expected is None else MeasuredBeside(rate, context, expected)


def _is_of(point: DecodePoint, work: ModelWork) -> bool:
    return point.layers == work.layers and abs(point.weight_bytes / work.weight_bytes() - 1) < ALIKE


def _context_of(cache_bytes: float, work: ModelWork) -> int:
    """Return how many tokens make so many bytes of cache."""
    low, high = 0, 1 << 24
    while low < high:
        middle = (low + high) // 2
        if work.cache_bytes(middle) < cache_bytes:
            low = middle + 1
        else:
            high = middle
    return low if low < 1 << 24 else 0
