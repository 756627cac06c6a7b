"""The parameters of decode that explain measured times best: t = layers x tau + weights x s + cache x s x cost.

Least absolute relative error by re-weighting, so that an answer which something held up pulls little. What the points
leave open, and few leave much, stays near what was believed before.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import msgspec

from app.planner.gpu import MICROSECOND, Gpu

ROUNDS, COOLING = 30, 0.8
HELD = (0.0006, 0.0006, 0.0003)
"""How firmly time of a layer, bandwidth and cost of the cache are held where they were, beside one point's pull; less
firmly what has gone far already."""
SURE, FIRST_SURE = 0.03, 0.5
"""Points nearer than this share pull as if they were so far away; at first nearly all do, which finds a long chat."""
LEAST_CACHE_COST, MOST_CACHE_COST = 0.25, 40.0
LEAST_FACTOR = 0.1
"""No part of a machine is so much faster than all of it beside what was believed."""
PIVOT = 1e-12
"""What cancels to less is nothing."""
FLOOR_S = 1e-7
"""A layer that takes no time is taken to take this much, so that something can be held near it."""
FASTEST = 1e15
"""Bytes/s that no memory gives."""


class DecodePoint(msgspec.Struct, frozen=True):
    """One answer: what each of its tokens took and read."""

    layers: int
    weight_bytes: float
    cache_bytes: float
    seconds: float
    tokens: int = 0
    """In the cache, which with the bytes tells how it was kept; 0 is unknown."""

    @property
    def place(self) -> tuple[int, int, int]:
        """Points of one model at about one context share this."""
        return self.layers, round(self.weight_bytes / 1e6), round(math.log2(max(1.0, self.cache_bytes / 1e6)))


class DecodeFit(msgspec.Struct, frozen=True):
    """What came out."""

    layer_s: float
    bytes_per_s: float
    cache_cost: float
    error: float
    """Median of the relative error that is left."""


def fit_decode(points: Sequence[DecodePoint], gpu: Gpu) -> DecodeFit:
    """Return the parameters for some points, at least one; what `gpu` says is what was believed before."""
    pace = 1 / gpu.effective_bandwidth
    before = (max(FLOOR_S, gpu.layer_us * MICROSECOND), pace, pace * max(LEAST_CACHE_COST, gpu.cache_cost))
    rows = [
        [point.layers * before[0], point.weight_bytes * before[1], point.cache_bytes * before[2]] for point in points
    ]
    rows = [[part / point.seconds for part in row] for row, point in zip(rows, points, strict=True)]
    # A machine is mostly fast or slow as a whole: unknown are factors beside the one that all of it has in common.
    common = statistics.median(1 / sum(row) for row in rows)
    rows = [[part * common for part in row] for row in rows]
    factors = [1.0] * 3
    for turn in range(ROUNDS):
        sure = max(SURE, FIRST_SURE * COOLING**turn)
        weights = [sure / max(sure, abs(_sum(row, factors) - 1)) for row in rows]
        firm = [held / (1 + (factor - 1) ** 2) for held, factor in zip(HELD, factors, strict=True)]
        factors = _solved(rows, weights, firm)
    error = statistics.median(abs(_sum(row, factors) - 1) for row in rows)
    layer, weight, cache = (factor * common * part for factor, part in zip(factors, before, strict=True))
    weight = max(weight, 1 / FASTEST)
    cost = min(MOST_CACHE_COST, max(LEAST_CACHE_COST, cache / weight))
    return DecodeFit(layer, 1 / weight, cost, error)


def _sum(row: Sequence[float], factors: Sequence[float]) -> float:
    return sum(part * factor for part, factor in zip(row, factors, strict=True))


def _solved(rows: Sequence[Sequence[float]], weights: Sequence[float], firm: Sequence[float]) -> list[float]:
    """Return the factors, none below the least: the worst is held there and the others are solved again."""
    held: dict[int, float] = {}
    factors = [1.0] * 3
    while len(held) < 3:
        free = [index for index in range(3) if index not in held]
        factors = _free(rows, weights, firm, held, free)
        worst = min(free, key=lambda index: factors[index])
        if factors[worst] >= LEAST_FACTOR:
            return factors
        held[worst] = LEAST_FACTOR
    return [LEAST_FACTOR] * 3


def _free(
    rows: Sequence[Sequence[float]],
    weights: Sequence[float],
    firm: Sequence[float],
    held: dict[int, float],
    free: Sequence[int],
) -> list[float]:
    """Return the least squares over the factors that are free, each drawn towards 1, and those that are held."""
    size = len(free)
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    for row, weight in zip(rows, weights, strict=True):
        rest = 1 - sum(row[index] * value for index, value in held.items())
        for i, first in enumerate(free):
            for j, second in enumerate(free):
                matrix[i][j] += weight * row[first] * row[second]
            matrix[i][size] += weight * row[first] * rest
    for i, index in enumerate(free):
        matrix[i][i] += firm[index]
        matrix[i][size] += firm[index]
    solved = {**held, **dict(zip(free, _gauss(matrix), strict=True))}
    return [solved[index] for index in range(3)]


def _gauss(matrix: list[list[float]]) -> list[float]:
    """Return the solution of a small positive definite system, its right side last in each row."""
    size = len(matrix)
    for i in range(size):
        matrix[i][i] = max(matrix[i][i], PIVOT)
        for j in range(i + 1, size):
            share = matrix[j][i] / matrix[i][i]
            matrix[j] = [below - share * above for below, above in zip(matrix[j], matrix[i], strict=True)]
    solution = [0.0] * size
    for i in reversed(range(size)):
        known = sum(matrix[i][j] * solution[j] for j in range(i + 1, size))
        solution[i] = (matrix[i][size] - known) / matrix[i][i]
    return solution
