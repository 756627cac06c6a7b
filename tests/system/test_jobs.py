from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import pytest

from app.core.events import Event, LoadProgress
from app.core.job_events import JobFailed
from app.system.jobs import WORKERS, Jobs

WAIT_S = 60


@pytest.fixture
def told() -> queue.Queue[Event]:
    return queue.Queue()


@pytest.fixture
def jobs(told: queue.Queue[Event]) -> Iterator[Jobs]:
    made = Jobs(told.put)
    yield made
    made.stop()


def test_what_a_job_returns_comes_back_as_an_event(jobs: Jobs, told: queue.Queue[Event]) -> None:
    jobs.submit("work", lambda: LoadProgress(3, 99.0))
    assert told.get(timeout=WAIT_S) == LoadProgress(3, 99.0)


def test_a_job_runs_on_another_thread_and_never_more_than_two_do(jobs: Jobs, told: queue.Queue[Event]) -> None:
    names = set()

    def work() -> Event:
        names.add(threading.current_thread().name)
        return LoadProgress(1, 1)

    for _ in range(40):
        jobs.submit("work", work)
    for _ in range(40):
        told.get(timeout=WAIT_S)
    assert threading.main_thread().name not in names
    assert len(names) <= WORKERS


def test_a_job_that_breaks_is_told_and_the_next_one_still_runs(
    jobs: Jobs, told: queue.Queue[Event], caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Event:
        raise ZeroDivisionError

    jobs.submit("dividing", broken)
    failed = told.get(timeout=WAIT_S)
    assert isinstance(failed, JobFailed)
    assert "dividing" in failed.sentence.english()
    assert "ZeroDivisionError" in caplog.text
    jobs.submit("work", lambda: LoadProgress(1, 2))
    assert told.get(timeout=WAIT_S) == LoadProgress(1, 2)


def test_stopping_drops_what_waits_and_ends_the_threads(told: queue.Queue[Event]) -> None:
    jobs = Jobs(told.put)
    started, go = threading.Event(), threading.Event()

    def slow() -> Event:
        started.set()
        go.wait(WAIT_S)
        return LoadProgress(1, 1)

    jobs.submit("slow", slow)
    jobs.submit("slow", slow)
    assert started.wait(WAIT_S)
    for _ in range(10):
        jobs.submit("later", lambda: LoadProgress(9, 9))
    before = threading.active_count()
    stopping = threading.Thread(target=jobs.stop)
    stopping.start()
    while jobs._waiting.qsize() not in (WORKERS, WORKERS + 10):
        pass
    go.set()
    stopping.join()
    assert threading.active_count() < before
    jobs.submit("too late", lambda: LoadProgress(8, 8))
    assert list(told.queue) == [LoadProgress(1, 1)] * WORKERS


def test_a_job_that_breaks_can_end_with_an_event_of_its_own(
    jobs: Jobs, told: queue.Queue[Event], caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Event:
        raise ZeroDivisionError

    jobs.submit("dividing", broken, lambda: LoadProgress(7, 0.0))
    assert told.get(timeout=WAIT_S) == LoadProgress(7, 0.0)
    assert "ZeroDivisionError" in caplog.text


def test_a_job_that_lets_the_window_paint_first_begins_no_earlier(jobs: Jobs, told: queue.Queue[Event]) -> None:
    began: list[float] = []
    asked = time.monotonic()

    def work() -> Event:
        began.append(time.monotonic())
        return LoadProgress(1, 1)

    jobs.submit("work", work, after_s=0.05)
    told.get(timeout=WAIT_S)
    assert began[0] >= asked + 0.05


def test_a_job_that_still_waits_when_all_ends_is_never_begun(jobs: Jobs) -> None:
    began: list[int] = []
    jobs.submit("work", lambda: began.append(1), after_s=10 * WAIT_S)
    jobs.stop()
    assert not began
    assert not [each for each in threading.enumerate() if each.name.startswith("job-")]


def test_others_than_these_have_threads_of_their_own(jobs: Jobs, told: queue.Queue[Event]) -> None:
    others, go, names = jobs.beside("other", 1), threading.Event(), list[str]()

    def slow() -> None:
        go.wait(WAIT_S)

    def work() -> Event:
        names.append(threading.current_thread().name)
        return LoadProgress(1, 1)

    for _ in range(WORKERS):
        jobs.submit("slow", slow)
    for _ in range(3):
        others.submit("work", work)
    for _ in range(3):
        told.get(timeout=WAIT_S)
    go.set()
    jobs.stop()
    assert names == ["other-0"] * 3
    assert not [each for each in threading.enumerate() if each.name.startswith(("job-", "other-"))]
