"""Axes of the charts: ticks are round, nothing leaves the plot, and letters do not lie on each other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.gui.planner.comparison.scales import (
    Scale,
    decade_ticks,
    decades,
    doublings,
    from_zero,
    linear_ticks,
    short_number,
    spread,
)


@pytest.mark.parametrize(
    ("most", "high", "ticks"), [(44.0, 60.0, 4), (951.0, 1000.0, 5), (0.3, 0.4, 5), (0.0, 1.0, 5), (7.9, 10.0, 5)]
)
def test_an_axis_from_zero_ends_at_a_round_number(most: float, high: float, ticks: int) -> None:
    scale = from_zero(most)
    found = linear_ticks(scale)
    assert scale.high == pytest.approx(high) and scale.high >= most
    assert found[0] == 0 and found[-1] == pytest.approx(scale.high) and abs(len(found) - ticks) <= 2


def test_a_value_lies_on_its_axis_and_never_beyond() -> None:
    scale = Scale(256.0, 4096.0, is_log=True)
    assert [scale.share(value) for value in (256, 1024, 4096, 1, 1e9)] == pytest.approx([0, 0.5, 1, 0, 1])
    assert Scale(0.0, 50.0, is_log=False).share(20) == pytest.approx(0.4)
    assert Scale(3.0, 3.0, is_log=True).share(3) == 0.0


def test_logarithmic_ticks_are_powers_and_few() -> None:
    assert doublings(Scale(256.0, 8192.0, is_log=True)) == [256, 512, 1024, 2048, 4096, 8192]
    assert doublings(Scale(256.0, 131072.0, is_log=True)) == [256, 1024, 4096, 16384, 65536]
    scale = decades(0.3, 989.0)
    assert (scale.low, scale.high) == (0.1, 1000.0)
    assert decade_ticks(scale) == pytest.approx([0.1, 1, 10, 100, 1000])
    assert len(decade_ticks(decades(1e-5, 1e6))) <= 6


def test_letters_keep_apart_and_stay_within() -> None:
    assert spread([10, 50, 90], 12, 0, 100) == [10, 50, 90]
    close = spread([50, 51, 50], 12, 0, 100)
    assert all(after - before >= 12 for before, after in pairwise(sorted(close)))
    low = spread([98, 99, 100], 12, 0, 100)
    assert max(low) <= 100 and min(low) == 76
    assert spread([], 12, 0, 100) == []


def test_ticks_are_short() -> None:
    words = [short_number(value) for value in (0.1, 50, 512, 1000, 1024, 131072, 10_000, 1500)]
    assert words == ["0.1", "50", "512", "1,000", "1k", "128k", "10k", "1,500"]
