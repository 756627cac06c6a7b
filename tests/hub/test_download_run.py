"""One run of a download: how fast it says it is, how often it tells, and when another run may bring more."""

from __future__ import annotations

import time
from email.utils import formatdate
from pathlib import Path

import pytest

from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.core.events import Event
from app.hub import download_run, download_sentences
from app.hub.download_run import LONGEST_PAUSE_S, LONGEST_RETRY_AFTER_S, LOOK_EVERY_S, STALL_S, Run, _pause
from app.hub.retrying import seconds
from app.hub.web import Refused

WANTED = DownloadWanted("org/repo", "main", (DownloadFile("a.gguf", 1000),))


class Clock:
    """Stands in for the time module."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return time.time()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(download_run, "time", made)
    return made


def run(told: list[Event]) -> Run:
    return Run(WANTED, [Path("a.gguf")], told.append)


def test_the_speed_is_that_of_the_last_seconds_while_it_runs(clock: Clock) -> None:
    told: list[Event] = []
    made = run(told)
    for after, done in ((0.0, 5000), (0.1, 5100), (0.4, 5500), (3.5, 6500), (7.0, 6600)):
        clock.now = 100.0 + after
        made._tell("running", done)
    clock.now = 107.1
    made._tell("checking", 6600)
    clock.now = 107.5
    made._tell("running", 7000)
    figures = [event.bytes_per_s for event in told if isinstance(event, DownloadChanged)]
    assert figures[:3] == [None, pytest.approx(1250.0), pytest.approx(1000 / 3.1)]
    assert figures[3] == pytest.approx(100 / 3.5)
    assert figures[4:] == [None, None], "what was before a check tells nothing of a speed"


def test_what_comes_no_more_is_told_once_with_all_that_came(clock: Clock) -> None:
    told: list[Event] = []
    made = run(told)
    for after, done in ((0.0, 0), (0.3, 300), (0.31, 500)):
        clock.now = 100.0 + after
        made._tell("running", done)
    clock.now = 100.31 + STALL_S - 0.01
    made.look()
    assert len(told) == 2, "not yet"
    for after in (STALL_S, STALL_S + 1, STALL_S + 2):
        clock.now = 100.31 + after
        made.look()
    assert STALL_S + LOOK_EVERY_S < 2
    assert told[2:] == [DownloadChanged(WANTED, "running", 500, 0.0, path="a.gguf")]
    for after, done in ((10.0, 600), (10.5, 700)):
        clock.now = 100.0 + after
        made._tell("running", done)
    figures = [event.bytes_per_s for event in told[3:] if isinstance(event, DownloadChanged)]
    assert figures == [None, pytest.approx(200.0)], "the wait is no part of the speed after it"
    clock.now += STALL_S
    made.look()
    assert len(told) == 6
    made._tell("checking", 1000)
    clock.now += STALL_S
    made.look()
    assert len(told) == 7, "a check waits for no server"


def test_it_tells_some_times_a_second_and_each_new_state_at_once(clock: Clock) -> None:
    told: list[Event] = []
    made = run(told)
    for number in range(100):
        clock.now = 100.0 + number / 100
        made._tell("running", number)
    made._tell("checking", 1000)
    assert len(told) == 5 and made.done == 1000


def test_it_tells_nothing_once_it_is_stopped(clock: Clock) -> None:
    told: list[Event] = []
    made = run(told)
    made.stop()
    made._tell("running", 1)
    assert told == [] and made.done == 1


def refused(status: int, after: str = "") -> Refused:
    return Refused(download_sentences.lost("host"), status, "host", after)


def test_pauses_grow_up_to_a_minute() -> None:
    lost = download_sentences.lost("host")
    assert [_pause(lost, tries) for tries in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert _pause(lost, 30) == LONGEST_PAUSE_S
    assert _pause(lost, 100_000) == LONGEST_PAUSE_S, "after months without a network"
    assert _pause(download_sentences.damaged("a.gguf"), 1) is None


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_server_says_how_long_to_wait(status: int) -> None:
    assert _pause(refused(status), 1) == 1.0
    most = round(LONGEST_RETRY_AFTER_S)
    assert _pause(refused(status, str(most)), 1) == most
    assert _pause(refused(status, str(most + 1)), 1) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 416, 451, 501, 511])
def test_what_a_server_refuses_for_good_is_not_asked_again(status: int) -> None:
    assert _pause(refused(status, "5"), 1) is None


def test_a_moment_may_be_named_as_a_number_or_a_date() -> None:
    assert (seconds("7"), seconds(" 0 "), seconds("-5"), seconds("soon"), seconds("9" * 40)) == (
        7.0,
        1.0,
        None,
        None,
        None,
    )
    assert seconds(formatdate(time.time() + 120, usegmt=True)) == pytest.approx(120, abs=5)
    assert seconds(formatdate(time.time() - 120, usegmt=True)) == 1.0
