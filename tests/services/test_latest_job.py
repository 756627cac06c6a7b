"""Of many wishes the newest is worked out: one at a time, and nothing that nobody wants any more is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.events import Event
from app.core.job_events import LanesAnalysed
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs


class Bench(Jobs):
    """Does jobs when the test says so."""

    def __init__(self) -> None:
        super().__init__(lambda _event: None)
        self.waiting: list[tuple[Callable[[], Event | None], Callable[[], Event] | None]] = []

    def submit(
        self,
        name: str,
        work: Callable[[], Event | None],
        on_error: Callable[[], Event] | None = None,
        *,
        after_s: float = 0.0,
    ) -> None:
        assert (name, after_s) == ("sums", 0.5)
        self.waiting.append((work, on_error))

    def do(self) -> LanesAnalysed:
        """Do the oldest job, and return the event that it ends with."""
        work, on_error = self.waiting.pop(0)
        try:
            event = work()
        except ZeroDivisionError:
            assert on_error is not None
            event = on_error()
        assert isinstance(event, LanesAnalysed)
        return event


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def told() -> list[int | None]:
    return []


@pytest.fixture
def sums(bench: Bench, told: list[int | None]) -> LatestJob[int]:
    return LatestJob(bench, "sums", told.append, after_s=0.5)


def test_one_is_worked_on_and_the_newest_of_the_others_follows(
    bench: Bench, sums: LatestJob[int], told: list[int | None]
) -> None:
    done: list[int] = []

    def wish(number: int) -> Callable[[], int]:
        def work() -> int:
            done.append(number)
            return number

        return work

    for number in range(5):
        sums.want(wish(number))
    assert len(bench.waiting) == 1 and sums.is_busy
    sums.take(bench.do())
    assert told == [], "something newer is wanted by now"
    sums.take(bench.do())
    assert (done, told, bench.waiting, sums.is_busy) == ([0, 4], [4], [], False)


def test_what_is_forgotten_is_not_told_and_does_not_hold_up_what_comes_next(
    bench: Bench, sums: LatestJob[int], told: list[int | None]
) -> None:
    sums.want(lambda: 1)
    sums.want(lambda: 2)
    sums.forget()
    assert not sums.is_busy
    sums.want(lambda: 3)
    assert sums.is_busy and len(bench.waiting) == 1
    sums.take(bench.do())
    sums.take(bench.do())
    assert told == [3] and not sums.is_busy and bench.waiting == []


def test_one_that_breaks_is_told_as_nothing(bench: Bench, sums: LatestJob[int], told: list[int | None]) -> None:
    sums.want(lambda: 1 // 0)
    sums.take(bench.do())
    assert told == [None] and not sums.is_busy


def test_events_of_others_and_old_ones_are_ignored(
    bench: Bench, sums: LatestJob[int], told: list[int | None]
) -> None:
    sums.want(lambda: 1)
    event = bench.do()
    sums.take(LanesAnalysed(event.request, "products"))
    sums.take(LanesAnalysed(event.request + 1, "sums"))
    assert told == [] and sums.is_busy
    sums.take(event)
    sums.take(event)
    assert told == [1]
