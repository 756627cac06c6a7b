"""The names of p50, p95 and p99 stay readable, however close their lines lie."""

from __future__ import annotations

import random

import pytest

from app.gui.inside.timing.gap_marks import name_places

NAMES, WIDTH = [62.0, 64.0, 66.0], 400.0


def crossed(lines: list[float]) -> list[tuple[int, int]]:
    """Return which name has which line through it."""
    places = name_places(lines, NAMES, WIDTH)
    assert len({row for row, _left in places}) == 3, "each name has a row of its own"
    assert all(0 <= left <= WIDTH - name for (_row, left), name in zip(places, NAMES, strict=True))
    return [
        (name, line)
        for name, (row, left) in enumerate(places)
        for line, (begins, _left) in enumerate(places)
        if begins <= row and left <= lines[line] <= left + NAMES[name]
    ]


@pytest.mark.parametrize(
    "lines",
    [
        [100.0, 340.0, 356.0],
        [300.0, 385.0, 399.0],
        [0.5, 0.5, 0.5],
        [399.5] * 3,
        [0.5, 20.5, 399.5],
        [5.0, 390.0, 392.0],
    ],
)
def test_no_line_goes_through_the_name_of_another(lines: list[float]) -> None:
    assert not crossed(lines)


def test_it_holds_wherever_they_lie() -> None:
    numbers = random.Random(3)
    for _ in range(200):
        lines = sorted(numbers.choice([numbers.uniform(0, WIDTH), numbers.uniform(330, WIDTH)]) for _ in range(3))
        assert not crossed(lines)


def test_names_stand_behind_their_lines_in_their_order_where_there_is_room() -> None:
    assert name_places([10.0, 20.0, 30.0], NAMES, WIDTH) == [(0, 14.0), (1, 24.0), (2, 34.0)]
