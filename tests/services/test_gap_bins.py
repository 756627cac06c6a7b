"""A histogram of gaps counts every gap once, in bins of a round width, and its quantiles are those of the engine."""

from __future__ import annotations

import random

import numpy as np
import pytest

from app.services.gap_bins import MOST_BINS, bins_of, quantiles_of


def some_gaps(count: int) -> list[float]:
    numbers = random.Random(count)
    return sorted(numbers.lognormvariate(2.6, 0.2) for _ in range(count))


@pytest.mark.parametrize("count", [1, 2, 3, 40, 1000])
def test_every_gap_is_in_one_bin_or_beyond_the_last(count: int) -> None:
    gaps = some_gaps(count)
    bins = bins_of(gaps)
    assert bins is not None and bins.total == count and len(bins.counts) <= MOST_BINS + 1
    for place, counted in enumerate(bins.counts):
        low, high = bins.range_of(place)
        assert counted == pytest.approx(sum(low <= gap < high for gap in gaps), abs=1), "but for rounding at an edge"
    assert bins.longest_ms == max(gaps) and bins.start_ms <= min(gaps)


def test_one_gap_that_is_far_longer_than_all_others_does_not_press_them_together() -> None:
    gaps = [*some_gaps(500), 4000.0]
    bins = bins_of(gaps)
    assert bins is not None and bins.end_ms < 60 and bins.beyond >= 1 and bins.longest_ms == 4000
    assert sum(count > 0 for count in bins.counts) > 5


def test_gaps_that_are_all_alike_make_one_bar() -> None:
    bins = bins_of([13.0] * 50)
    assert bins is not None and max(bins.counts) == 50 and bins.total == 50


def test_without_a_gap_there_is_nothing() -> None:
    assert bins_of([]) is None and quantiles_of([]) is None


def test_the_quantiles_are_those_that_the_engine_measures() -> None:
    gaps = some_gaps(333)
    found = quantiles_of(gaps)
    assert found is not None
    expected = np.quantile(np.array(gaps), (0.5, 0.95, 0.99)).tolist()
    assert [found.p50, found.p95, found.p99] == pytest.approx(expected)
