from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services.largest_context import MOST_TRIES, LargestContext


def search(context: int, taken: Callable[[int], int], free: int) -> tuple[LargestContext, list[int]]:
    """Search with a machine that has so many bytes, and return what was tried."""
    largest, tried = LargestContext(context, taken(context), taken(context) - free), []
    while (following := largest.next) is not None:
        tried.append(following)
        largest.note(following, taken(following), max(taken(following) - free, 0))
    return largest, tried


def test_a_cache_that_grows_evenly_takes_three_dry_runs() -> None:
    largest, tried = search(131_072, lambda cells: 1_000_000 + 1_000 * cells, 1_000_000 + 1_000 * 12_400)
    assert largest.found == 12_288
    assert len(tried) == 3


def test_where_the_weights_alone_do_not_fit_there_is_none() -> None:
    largest, tried = search(8_192, lambda cells: 9_000_000 + cells, 8_000_000)
    assert largest.found is None
    assert tried == [256]


def test_nothing_is_told_while_the_search_goes_on() -> None:
    largest = LargestContext(8_192, 10_000_000, 2_000_000)
    largest.note(256, 1_000_000, 0)
    assert largest.found is None


@given(steps=st.integers(2, 4000), base=st.integers(0, 10**9), bend=st.floats(0.5, 2.0), share=st.floats(0.01, 0.99))
def test_what_is_found_fits_and_is_a_multiple_of_256_below_what_was_asked(
    steps: int, base: int, bend: float, share: float
) -> None:
    def taken(cells: int) -> int:
        return base + int(1000 * cells**bend)

    asked = steps * 256
    free = taken(256) + int((taken(asked) - taken(256)) * share)
    if taken(asked) <= free:
        return
    largest, tried = search(asked, taken, free)
    assert len(tried) <= MOST_TRIES
    assert largest.found is not None
    assert taken(largest.found) <= free
    assert largest.found % 256 == 0
    assert largest.found < asked


@pytest.mark.parametrize("context", [8_000, 8_192])
def test_a_context_is_rounded_up_before_the_search(context: int) -> None:
    _, tried = search(context, lambda cells: cells, 8_100)
    assert tried[-1] == 7_936
