"""Estimates beside what loads took."""

from __future__ import annotations

import pytest

from app.core.load_estimate import MOST_KEPT, LoadEstimate, kept_with, load_estimate, percent_more

MIB = 1 << 20


def test_the_difference_is_what_a_load_took_more_in_percent() -> None:
    assert percent_more(178 * MIB, 180 * MIB) == pytest.approx(1.1236, abs=1e-4)
    assert load_estimate(200 * MIB, 190 * MIB).percent == pytest.approx(-5)


def test_nothing_estimated_and_unknown_are_no_difference() -> None:
    assert percent_more(None, 1) is None and percent_more(1, None) is None
    assert LoadEstimate(0, 5).percent is None and LoadEstimate(-1, 5).percent is None


def test_the_last_loads_are_kept() -> None:
    kept: tuple[LoadEstimate, ...] = ()
    for number in range(MOST_KEPT + 3):
        kept = kept_with(kept, LoadEstimate(number, number))
    assert [each.real_kib for each in kept] == [3, 4, 5, 6, 7]
