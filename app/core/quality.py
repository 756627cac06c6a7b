"""How much worse a model gets by its quantisation, by bits per weight and size: read out of a table of what was measured.

Between what was measured it is interpolated, outside of it unknown. Pure.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

import msgspec

from app.core.words import Sentence, translate

LossLevel = Literal["none", "small", "noticeable", "large"]
_LIMITS: tuple[tuple[float, LossLevel], ...] = ((0.6, "none"), (3.5, "small"), (12.0, "noticeable"))
"""Percent of perplexity below which a loss is called so: our own words for what was published."""
_LEAST = 0.02
"""Percent that are added before logarithms are taken: no loss has none."""
_SIZE_SLACK = 1.25
"""A model so many times as large as the largest of the table, or as small as the smallest, counts as that."""

_Point = tuple[
    Annotated[float, msgspec.Meta(gt=0, le=16)],
    Annotated[float, msgspec.Meta(ge=0, le=100_000)],
]


class QualityLoss(msgspec.Struct, frozen=True):
    """What is expected of a quantisation."""

    percent: float
    """By how much perplexity, how many tokens it is as unsure as between, grows over that of 16 bits."""
    level: LossLevel


class MeasuredModel(msgspec.Struct, frozen=True):
    """One model that was measured in several quantisations."""

    name: str
    parameters: Annotated[int, msgspec.Meta(gt=0)]
    source: Annotated[str, msgspec.Meta(min_length=1)]
    points: Annotated[tuple[_Point, ...], msgspec.Meta(min_length=2)]
    """Bits per weight and percent, fewest bits first."""


class QualityTable(msgspec.Struct, frozen=True):
    """What was measured, the smallest model first; or what is wrong with the file."""

    models: tuple[MeasuredModel, ...] = ()
    problem: Sentence | None = None


class _File(msgspec.Struct, frozen=True):
    models: tuple[MeasuredModel, ...]


def read_quality(text: str) -> QualityTable:
    """Return the table of a text; one that is damaged is empty and has a problem. Never raises."""
    try:
        models = msgspec.json.decode(text.encode("utf-8", "replace"), type=_File).models
    except (msgspec.MsgspecError, RecursionError):
        return QualityTable(problem=_damaged())
    is_sound = bool(models) and all(map(_is_ordered, models))
    is_sound = is_sound and all(one.parameters < next_one.parameters for one, next_one in pairwise(models))
    return QualityTable(models) if is_sound else QualityTable(problem=_damaged())


def expected_loss(table: QualityTable, bits: float | None, parameters: int | None) -> QualityLoss | None:
    """Return what a quantisation of so many bits per weight is expected to lose; None outside of what was measured."""
    if bits is None or not parameters or parameters <= 0 or not table.models:
        return None
    smallest, largest = table.models[0].parameters, table.models[-1].parameters
    if not smallest / _SIZE_SLACK <= parameters <= largest * _SIZE_SLACK:
        return None
    if bits > 16:
        return QualityLoss(0.0, "none")  # more than what a loss is measured against
    size = min(max(parameters, smallest), largest)
    place = min(bisect_right([model.parameters for model in table.models], size), len(table.models) - 1)
    above, below = table.models[place], table.models[max(0, place - 1)]
    one, other = _at(below.points, bits), _at(above.points, bits)
    if other is None and size <= below.parameters * _SIZE_SLACK:
        other = one
    if one is None or other is None:
        return None
    span = math.log(above.parameters / below.parameters)
    share = math.log(size / below.parameters) / span if span else 0.0
    percent = max(0.0, math.exp(one + (min(one, other) - one) * share) - _LEAST)
    return QualityLoss(percent, level_of(percent))


def level_of(percent: float) -> LossLevel:
    """Return what a loss of so many percent is called."""
    return next((level for limit, level in _LIMITS if percent < limit), "large")


def _at(points: Sequence[tuple[float, float]], bits: float) -> float | None:
    """Return the logarithm of the loss at so many bits; None where that was not measured."""
    for (low, high_loss), (high, low_loss) in pairwise(points):
        if low <= bits <= high:
            share = (bits - low) / (high - low)
            start, end = math.log(high_loss + _LEAST), math.log(low_loss + _LEAST)
            return start + (end - start) * share
    return None


def _is_ordered(model: MeasuredModel) -> bool:
    return all(one[0] < next_one[0] and one[1] >= next_one[1] for one, next_one in pairwise(model.points))


def _damaged() -> Sentence:
    return translate(
        "Quality",
        "The table of what quantisations lose is damaged, so nothing is said of it: install Tokenlight anew to have that.",
    )
