"""What meets a need: the GPUs, or the quantisations of a model, smallest memory first; of the others what fails. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from app.planner.comparison import Row, Usage

Shortfall = Literal["unknown", "memory", "context", "speed", "first_token"]
"""The one thing that fails: it is not known, no room for the weights, none for the context, or it is too slow."""


class Need(msgspec.Struct, frozen=True):
    """What people want of a model; None leaves it open."""

    usage: Usage
    first_token_s: float | None = None
    """Seconds within which the first token has to come, of the last of those who ask at the same moment."""
    tokens_per_s: float | None = None
    """Tokens per second that each conversation has to get."""
    may_split: bool = False
    """Whether layers may lie in main memory."""


class Meets(msgspec.Struct, frozen=True):
    """One row of a comparison and whether it meets the need."""

    row: Row
    shortfall: Shortfall | None
    """None where it meets it."""
    wanted: float | None = None
    """What was asked for of the thing that fails: tokens, tokens/s or s; of memory, bytes."""
    there: float | None = None
    """And what there is of it; None is unknown."""
    is_close: bool = False
    """Whether it would, or would not, at the other end of the band."""

    @property
    def meets(self) -> bool:
        """Whether nothing fails."""
        return self.shortfall is None


def judged(rows: Iterable[Row], need: Need) -> tuple[Meets, ...]:
    """Return the rows that meet a need, smallest memory first, and then the others by how far they are from it."""
    found = [judge(row, need) for row in rows]
    return tuple(sorted(found, key=_order))


def judge(row: Row, need: Need) -> Meets:
    """Return whether a row meets a need; what fails is looked for in the order memory, context, speed, first token."""
    return _room(row, need) or _pace(row, need) or Meets(row, None, is_close=_is_close(row, need))


def _room(row: Row, need: Need) -> Meets | None:
    if row.verdict == "unknown":
        return Meets(row, "unknown")
    if row.fits or (row.verdict == "partly" and need.may_split):
        return None
    if row.verdict == "less_context":
        return Meets(row, "context", need.usage.context, row.largest_context)
    needed = row.needed_whole
    if needed is not None and needed <= row.gpu.usable:
        needed = None  # what is too small is main memory, which the GPU's figure says nothing of
    return Meets(row, "memory", needed, row.gpu.usable)


def _pace(row: Row, need: Need) -> Meets | None:
    if need.tokens_per_s is not None:
        if row.speed is None:
            return Meets(row, "unknown")
        if row.speed.tokens_per_s < need.tokens_per_s:
            close = row.speed.high >= need.tokens_per_s and _can_begin_in_time(row, need)
            return Meets(row, "speed", need.tokens_per_s, row.speed.tokens_per_s, close)
    if need.first_token_s is not None:
        first = row.first_token_together
        if first is None or (first.is_most and first.low <= need.first_token_s < first.seconds):
            return Meets(row, "unknown")
        if first.seconds > need.first_token_s:
            return Meets(row, "first_token", need.first_token_s, first.seconds, _can_begin_in_time(row, need))
    return None


def _can_begin_in_time(row: Row, need: Need) -> bool:
    """Return whether the last of the first tokens comes in time at the fast end of the band."""
    first = row.first_token_together
    return need.first_token_s is None or (first is not None and first.low <= need.first_token_s)


def _is_close(row: Row, need: Need) -> bool:
    """Return whether the slow end of the band would not do, for everybody who asks at once."""
    slow = need.tokens_per_s is not None and row.speed is not None and row.speed.low < need.tokens_per_s
    last = row.first_token_together
    late = need.first_token_s is not None and last is not None and last.high > need.first_token_s
    return slow or late


_RANK: dict[Shortfall | None, int] = {None: 0, "first_token": 1, "speed": 2, "context": 3, "memory": 4, "unknown": 5}


def _order(found: Meets) -> tuple[int, bool, int, int, bool, str]:
    """The smallest memory first: that of the GPU, and on one what the model takes; then what meets it surely, and names."""
    row = found.row
    return (
        _RANK[found.shortfall],
        found.shortfall is not None and not found.is_close,
        row.gpu.memory,
        row.model.file_bytes or 0,
        found.meets and found.is_close,
        row.gpu.name,
    )
