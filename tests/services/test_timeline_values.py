"""Where a later part of an old answer begins, as its record and its figures tell together."""

from __future__ import annotations

import msgspec
import pytest

from app.core.metrics import Metrics
from app.services.timeline_values import join_of, moments_of
from tests.fake_engine import metrics

MS = 1_000_000
GAPS = (None, 13.0, 14.0, 5_000.0, 12.0, 13.5)


def joined(seconds: float) -> Metrics:
    """Return the figures of an answer of two parts, whose steps took so long together."""
    rate = (len(GAPS) - 2) / seconds
    return msgspec.structs.replace(metrics(len(GAPS)), decode_tokens_per_s=rate, itl_ms=None)


def test_the_gap_that_no_figure_counts_is_where_the_later_part_begins() -> None:
    assert join_of(GAPS, joined((13.0 + 14.0 + 12.0 + 13.5) / 1e3)) == 3


@pytest.mark.parametrize(
    ("gaps", "of"),
    [
        (GAPS, metrics(len(GAPS))),
        (GAPS, joined(0.2)),
        ((None, 13.0, None, 12.0), joined(0.05)),
        ((None,), joined(0.05)),
        ((), joined(0.05)),
    ],
    ids=["one part", "figures that say something else", "a gap that is not known", "one token", "no token"],
)
def test_where_nobody_can_tell_nothing_is_left_out(gaps: tuple[float | None, ...], of: Metrics) -> None:
    assert join_of(gaps, of) is None


def test_time_between_parts_is_no_time_of_the_answer() -> None:
    drawn, lost = moments_of(GAPS, 100 * MS, frozenset({3}))
    assert lost == [3]
    assert drawn == [100 * MS, 113 * MS, 127 * MS, 127 * MS, 139 * MS, round(152.5 * MS)]
