"""What is seen of a timeline: zooming keeps the moment under the pointer, and nothing beyond the answer is ever seen."""

from __future__ import annotations

import pytest

from app.gui.inside.timing.scale import LEAST_SPAN_NS, TimeScale

SECOND_NS = 1_000_000_000


def scale(width: float = 800, whole_ns: int = 2 * SECOND_NS) -> TimeScale:
    made = TimeScale()
    made.width = width
    made.set_whole(whole_ns)
    return made


@pytest.mark.parametrize("x", [0, 130, 799])
def test_zooming_keeps_the_moment_where_it_is(x: float) -> None:
    seen = scale()
    at_ns = seen.ns_at(x)
    for _step in range(5):
        seen.zoom(2, at_ns)
        assert seen.x_of(at_ns) == pytest.approx(x, abs=0.01)
    assert seen.span_ns == pytest.approx(2 * SECOND_NS / 32)


def test_nobody_zooms_or_moves_beyond_the_answer() -> None:
    seen = scale()
    seen.zoom(1e12, SECOND_NS)
    assert seen.span_ns == LEAST_SPAN_NS
    seen.pan(1e15)
    assert seen.end_ns == 2 * SECOND_NS
    seen.pan(-1e15)
    assert seen.start_ns == 0
    seen.zoom(1e-12, 0)
    assert seen.is_fit and (seen.start_ns, seen.end_ns) == (0, 2 * SECOND_NS)


def test_what_is_seen_whole_stays_whole_while_it_grows_and_a_stretch_stays_that_stretch() -> None:
    seen = scale()
    seen.set_whole(3 * SECOND_NS)
    assert seen.end_ns == 3 * SECOND_NS
    seen.show(SECOND_NS, 2 * SECOND_NS)
    seen.set_whole(5 * SECOND_NS)
    assert (seen.start_ns, seen.end_ns) == (SECOND_NS, 2 * SECOND_NS)


@pytest.mark.parametrize("span_ns", [LEAST_SPAN_NS, 123_456, 7_000_000, SECOND_NS])
def test_the_ruler_has_round_moments_that_are_not_too_close(span_ns: int) -> None:
    seen = scale()
    seen.show(SECOND_NS / 3, SECOND_NS / 3 + span_ns)
    ticks = seen.ticks()
    assert 2 <= len(ticks) <= 10
    step = ticks[1] - ticks[0]
    assert str(round(step))[0] in "125" and set(str(round(step))[1:]) <= {"0"}
    assert all(seen.start_ns <= tick <= seen.end_ns + 1 for tick in ticks)


def test_a_bar_outside_of_the_picture_is_brought_into_it() -> None:
    seen = scale()
    seen.show(0, SECOND_NS / 10)
    seen.reveal(SECOND_NS, SECOND_NS + 13_000_000)
    assert seen.start_ns < SECOND_NS and seen.end_ns > SECOND_NS + 13_000_000
    assert seen.span_ns == SECOND_NS / 10
