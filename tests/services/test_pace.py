"""The gaps between tokens and their rates, from what an engine says of joined tokens."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.core.events import Tokens
from app.engine.joiner import TokenJoiner
from app.services.pace import Pace

MS = 1_000_000


def tokens(first: int, times_ms: list[float], gaps: bytes = b"") -> Tokens:
    """Return tokens that were sampled at these moments."""
    begin, end = round(times_ms[0] * MS), round(times_ms[-1] * MS)
    return Tokens(1, first, len(times_ms), b"", "a", b"", 40, end, begin, gaps)


def test_before_two_tokens_nothing_is_known() -> None:
    pace = Pace()
    assert (pace.rate_now(), pace.mean_rate(), pace.quantiles(), pace.gaps_ms) == (None, None, None, ())
    pace.add(tokens(0, [100]))
    assert (pace.rate_now(), pace.mean_rate(), pace.quantiles(), pace.gaps_ms) == (None, None, None, ())
    assert pace.first_ns == 100 * MS


def test_gaps_are_those_between_neighbours_and_spread_evenly_where_nothing_tells_them() -> None:
    pace = Pace()
    pace.add(tokens(0, [100]))
    pace.add(tokens(1, [112, 115, 136]))
    assert pace.gaps_ms == pytest.approx((12.0, 12.0, 12.0))
    pace.add(tokens(4, [150]))
    assert pace.gaps_ms == pytest.approx((12.0, 12.0, 12.0, 14.0))
    quantiles = pace.quantiles()
    assert quantiles is not None and pace.gap_count == 4
    told = (quantiles.p50, quantiles.p95, quantiles.p99)
    assert told == pytest.approx([float(np.quantile([12, 12, 12, 14], share)) for share in (0.5, 0.95, 0.99)])


def test_the_time_of_every_token_is_as_the_engine_says() -> None:
    joiner = TokenJoiner(1)
    for at_ms in (112, 115, 136):
        joiner.add(3, "a", at_ms * MS)
    told = joiner.take(b"", 40)
    pace = Pace()
    pace.add(tokens(0, [100]))
    pace.add(msgspec.structs.replace(told, first=1))
    assert pace.gaps_ms == pytest.approx((12.0, 3.0, 21.0))


@pytest.mark.parametrize("gaps", [b"no gap", b"\x01\x00\x00\x00", bytes(12)])
def test_gaps_that_are_not_one_for_each_pair_are_not_believed(gaps: bytes) -> None:
    pace = Pace()
    pace.add(tokens(0, [100]))
    pace.add(tokens(1, [112, 115, 136], gaps))
    assert pace.gaps_ms == pytest.approx((12.0, 12.0, 12.0))


def test_only_the_last_gaps_are_kept() -> None:
    pace = Pace()
    for number in range(400):
        pace.add(tokens(number, [number * 10]))
    assert len(pace.gaps_ms) == 120
    assert pace.gap_count == 399


def test_tokens_at_one_moment_have_gaps_of_nothing_and_no_rate() -> None:
    pace = Pace()
    pace.add(tokens(0, [100, 100]))
    assert pace.gaps_ms == (0.0,)
    assert (pace.rate_now(), pace.mean_rate()) == (None, None)


def test_a_clock_that_goes_back_gives_no_negative_gap() -> None:
    pace = Pace()
    pace.add(tokens(0, [100]))
    pace.add(tokens(1, [90]))
    assert pace.gaps_ms == (0.0,)
    assert pace.mean_rate() is None


def test_what_comes_without_a_token_is_no_step() -> None:
    pace = Pace()
    pace.add(tokens(0, [100, 110]))
    pace.add(msgspec.structs.replace(tokens(2, [110]), count=0))
    assert pace.gaps_ms == (10.0,) and pace.gap_count == 1
