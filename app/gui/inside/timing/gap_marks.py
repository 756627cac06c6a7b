"""Where the names of the marks of a histogram stand: no mark's line goes through the name of another.

Pure; in px.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

APART_PX = 4
"""Between a line and its name."""


def name_places(lines: Sequence[float], names: Sequence[float], width: float) -> list[tuple[int, float]]:
    """Return for each mark the row that its name stands in and its line begins at, and where the name begins.

    Lines stand in rising order, in so wide a picture; `names` are widths. Rows from the top and names behind their lines
    are kept where that goes.
    """
    best = [
        (row, _left(line, name, is_behind=True)) for row, (line, name) in enumerate(zip(lines, names, strict=True))
    ]
    for places in _ways(lines, names):
        is_inside = all(left >= 0 and left + name <= width for (_row, left), name in zip(places, names, strict=True))
        if is_inside and not any(_crossed(places, lines, names)):
            return places
    return [(row, min(max(left, 0.0), max(width - name, 0.0))) for (row, left), name in zip(best, names, strict=True)]


def _ways(lines: Sequence[float], names: Sequence[float]) -> Iterator[list[tuple[int, float]]]:
    for rows in permutations(range(len(lines))):
        for sides in product((True, False), repeat=len(lines)):
            lefts = (_left(line, name, is_behind=side) for line, name, side in zip(lines, names, sides, strict=True))
            yield list(zip(rows, lefts, strict=True))


def _left(line: float, name: float, *, is_behind: bool) -> float:
    return line + APART_PX if is_behind else line - name - APART_PX / 2


def _crossed(places: Sequence[tuple[int, float]], lines: Sequence[float], names: Sequence[float]) -> Iterator[bool]:
    """Tell for each name and each line whether one goes through the other: a line goes down from its own row on."""
    for (row, left), name in zip(places, names, strict=True):
        for (other, _left_of_other), line in zip(places, lines, strict=True):
            yield other <= row and left - 1 < line < left + name + 1
