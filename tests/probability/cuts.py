"""Tells rows on which float32 itself cannot say where a stage cuts, so that tests may pass them over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.core.sampling import SamplingSettings
from app.probability.candidates import Candidates

NEAR = 1e-6


def is_undecided(name: str, s: SamplingSettings, before: Candidates) -> bool:
    """Whether the stage's cut lies within 1e-6 of a candidate, or between two equal ones."""
    logits = np.sort(before.logits.astype(np.float64))[::-1]
    p = np.exp(logits - logits[0])
    p /= p.sum()
    match name:
        case "top_k":
            return _splits_equals(logits, s.top_k)
        case "typical":
            return _typical_is_undecided(p, s.typical_p)
        case "top_p":
            mass = np.cumsum(p)
            return _is_near(mass, s.top_p) or _splits_equals(logits, int((mass < s.top_p).sum()) + 1)
        case "min_p":
            return _is_near(logits, logits[0] + np.log(s.min_p), scale=1 + abs(logits[0]))
        case "xtc":
            return _is_near(p, s.xtc_threshold) or _splits_equals(logits, int((p >= s.xtc_threshold).sum()) - 1)
        case "temperature":
            return s.temperature <= 0 and _splits_equals(logits, 1)
    return False


def _typical_is_undecided(p: npt.NDArray[np.float64], mass: float) -> bool:
    if (p < 1e-30).any():
        # llama.cpp takes the logarithm of what has become 0 and gets NaN for all distances.
        return True
    surprise = -np.log(p)
    distance = np.abs(surprise - (p * surprise).sum())
    order = np.argsort(distance)
    reached = np.cumsum(p[order])
    last = int((reached <= mass).sum())
    return _is_near(reached, mass) or _splits_equals(-distance[order], last + 1, near=2e-5)


def _is_near(values: npt.NDArray[np.float64], cut: float, scale: float = 1.0) -> bool:
    return bool((np.abs(values - cut) < NEAR * scale).any())


def _splits_equals(falling: npt.NDArray[np.float64], kept: int, near: float = NEAR) -> bool:
    if not 0 < kept < falling.size:
        return False
    if not np.isfinite(falling[kept]):
        return bool(falling[kept - 1] == falling[kept])
    return bool(falling[kept - 1] - falling[kept] < near * (1 + abs(falling[kept])))
