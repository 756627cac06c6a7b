"""Which row of a tree of lanes each stretch lies in, and how the height is shared among the rows: by what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.services.lane_analysis import BranchNode

LEAST_GAP_PX, MOST_GAP_PX = 7.0, 20.0


class Need(NamedTuple):
    """What a stretch wants of the rows."""

    row: int
    lines: int
    """As many lines as its text has."""
    last: int
    """The lowest row of all that goes on from it: down to there nothing else lies below its text."""


class RowPlaces(NamedTuple):
    """Where rows lie."""

    tops: tuple[float, ...]
    lines: tuple[int, ...]
    """How many lines of text each has room for."""
    height: float

    def lines_at(self, need: Need, line_px: float) -> int:
        """Return how many lines a stretch may have."""
        below = self.tops[need.last] - self.tops[need.row]
        return self.lines[need.last] + int(below // line_px) if need.lines else 0


def rows_of(tree: Sequence[BranchNode]) -> list[int]:
    """Return the row of each stretch: the first child goes straight on, each other one takes new rows below."""
    rows = [0] * len(tree)
    used = 0
    waiting = [0] if tree else []
    while waiting:
        number = waiting.pop()
        node = tree[number]
        if node.parent is not None:
            is_first = tree[node.parent].children[0] == number
            used += 0 if is_first else 1
            rows[number] = rows[node.parent] if is_first else used
        waiting += reversed(node.children)
    return rows


def spread(needs: Sequence[Need], line_px: float, bare_px: float, height: float, least: int) -> RowPlaces:
    """Return rows that fill the height as far as their texts have lines for it, each with at least so many lines.

    Every row gets as many lines as the others until it has all that it wants; what is left becomes space between them.
    """
    count = max(need.row for need in needs) + 1
    wanted = [0] * count
    for need in needs:
        own = need.lines if need.last == need.row else min(need.lines, 1)
        wanted[need.row] = max(wanted[need.row], own)
    spare = height - count * (bare_px + LEAST_GAP_PX)
    most = least
    while most < max(wanted) and sum(min(each, most + 1) for each in wanted) * line_px <= spare:
        most += 1
    lines = [min(each, most) for each in wanted]
    if most == 0:  # rather some of the texts than none
        for row in [row for row, each in enumerate(wanted) if each][: max(int(spare // line_px), 0)]:
            lines[row] = 1
    gap = LEAST_GAP_PX + min(max((spare - sum(lines) * line_px) / count, 0.0), MOST_GAP_PX - LEAST_GAP_PX)
    tops: list[float] = []
    top = 0.0
    for each in lines:
        tops.append(top)
        top += bare_px + each * line_px + gap
    return RowPlaces(tuple(tops), tuple(lines), top - gap)
