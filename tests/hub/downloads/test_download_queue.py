"""The queue of downloads: how many run, who is first, what pause and cancel leave, and what a later run goes on with."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from app.core.download import DownloadChanged
from app.hub import download_run
from app.hub.queued_download import UNREADABLE
from tests.hub.download_hub import CONTENT, HALF, DownloadHub, downloader
from tests.hub.loopback_hub import GUARD_S, Request
from tests.ordinary_user import ordinary_user

NAMES = ("a.gguf", "b.gguf", "c.gguf")


def test_pause_keeps_what_is_there_and_resume_goes_on(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        assert hub.at_hold.wait(10)
        made.until("running")
        made.queue.pause(wanted.key)
        paused = made.until("paused")
        hub.hang_at = None
        made.queue.resume(wanted.key)
        made.until("done")
        assert made.goal(hub, "a.gguf").read_bytes() == CONTENT
    assert paused.done <= HALF
    fetched_before = int(hub.ranges()[1].removeprefix("bytes=").rstrip("-") or 0) if hub.ranges()[1] else 0
    assert fetched_before <= HALF and len(hub.ranges()) == 2


def test_cancel_leaves_nothing(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        assert hub.at_hold.wait(10)
        made.queue.cancel(wanted.key)
        made.until(None)
        hub.hang_at = None
        made.queue.add(hub.wanted("b.gguf"))  # its end is behind the end of what was cancelled or beside it
        made.until("done")
        made.queue.add(wanted)
        made.until("done", wanted.key)
        assert made.files() == ["a.gguf", "b.gguf"]


@pytest.mark.parametrize("drips", ["body", "head"])
def test_the_connection_of_one_whose_bytes_trickle_is_closed_when_it_is_cancelled(
    hub: DownloadHub, tmp_path: Path, drips: str
) -> None:
    trickles, ended = threading.Event(), threading.Event()

    def drip(request: Request) -> None:
        if drips == "body":
            request.begin(200, {"Content-Type": "application/octet-stream", "Content-Length": len(CONTENT)})
            request.send(CONTENT[:HALF])
        else:
            request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while request.send(b"x") and not hub.ended.wait(0.02):
            trickles.set()
        ended.set()

    hub.delivering = drip
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        assert trickles.wait(GUARD_S)
        made.queue.cancel(wanted.key)
        made.until(None)
        assert ended.wait(GUARD_S), "a second is what is promised, ten are the guard"
        hub.delivering = hub.deliver
        made.queue.add(hub.wanted("b.gguf"))
        made.until("done")
        assert made.files() == ["b.gguf"]


def test_no_more_run_at_once_than_are_allowed_and_the_first_goes_first(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        made.queue.set_at_once(1)
        a, b, c = (hub.wanted(name) for name in NAMES)
        for wanted in (a, b, c):
            made.queue.add(wanted)
        assert hub.at_hold.wait(10)
        made.until("waiting", c.key)
        assert not any(
            event.state == "running" and event.wanted != a
            for event in made.told
            if isinstance(event, DownloadChanged)
        )
        hub.hang_at = None
        made.queue.first(c.key)
        made.until("running", c.key)
        for wanted in (c, a, b):
            made.until("done", wanted.key)


def test_the_same_files_are_one_download(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        for _ in range(3):
            made.queue.add(hub.wanted("a.gguf"))
        assert hub.at_hold.wait(10)
        made.queue.add(hub.wanted("b.gguf"))
        made.until("waiting", hub.wanted("b.gguf").key)
    assert [path for where, path, _ in hub.asked if where == "hub" and "a.gguf" in path] == [
        "/org/tiny-GGUF/resolve/main/a.gguf"
    ]


def test_what_waits_to_try_again_lets_others_run(hub: DownloadHub, tmp_path: Path) -> None:
    hub.refusals = [(429, {"Retry-After": "600"})]
    with downloader(hub, tmp_path) as made:
        made.queue.set_at_once(1)
        a, b, c = (hub.wanted(name) for name in NAMES)
        made.queue.add(a)
        made.until("retrying", a.key)
        made.queue.add(b)
        made.until("done", b.key)
        made.queue.resume(a.key)
        made.until("done", a.key)
        hub.refusals = [(429, {"Retry-After": "600"})]
        made.queue.add(c)
        made.until("retrying", c.key)
        made.queue.pause(c.key)
        made.until("paused", c.key)
        made.queue.cancel(c.key)
        made.until(None, c.key)
        assert made.files() == ["a.gguf", "b.gguf"]


def test_what_may_try_again_waits_for_its_turn(hub: DownloadHub, tmp_path: Path) -> None:
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.set_at_once(1)
        a, b = hub.wanted("a.gguf"), hub.wanted("b.gguf")
        hub.hang_after_next = HALF
        made.queue.add(a)
        made.queue.add(b)
        made.until("retrying", a.key)
        assert hub.at_hold.wait(10)
        made.until("waiting", a.key)
        hub.hang_at = None
        made.queue.pause(b.key)
        made.until("done", a.key)


def test_tries_without_a_byte_are_counted_over_all_runs(hub: DownloadHub, tmp_path: Path) -> None:
    hub.refusals = [(503, {})] * 20
    with downloader(hub, tmp_path) as made:
        a = hub.wanted("a.gguf")
        made.queue.add(a)
        made.until("failed")
        pauses = [event.again_in_s for event in made.told if isinstance(event, DownloadChanged) and event.again_in_s]
        assert pauses == [0.01 * 2**n for n in range(download_run.MOST_TRIES - 1)]
        made.queue.resume(a.key)
        made.until("retrying")
        hub.refusals = []
        made.until("done")


def test_a_hub_that_is_away_for_long_is_waited_for_over_restarts(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download_run, "LONGEST_PAUSE_S", 0.02)
    kept = tmp_path / "data" / "downloads.json"
    hub.refusals = [(503, {})] * 1000
    tries = 3 * download_run.MOST_TRIES
    with downloader(hub, tmp_path, kept) as made:
        made.queue.add(hub.wanted("a.gguf"))
        for _ in range(tries):
            told = made.until("retrying")
            assert told.problem is not None and "trouble of its own" in told.problem.english() and told.again_in_s
        assert not any(isinstance(event, DownloadChanged) and event.state == "failed" for event in made.told)
    with downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        for _ in range(tries):
            made.until("retrying")
        hub.refusals = []
        made.until("done")


def test_another_commit_of_the_same_files_takes_the_place_of_one_that_does_not_run(
    hub: DownloadHub, tmp_path: Path
) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        first, second, third = (hub.wanted("a.gguf", revision=digit * 40) for digit in "123")
        made.queue.add(first)
        assert hub.at_hold.wait(10)
        made.queue.add(second)  # the first one is written now
        made.queue.pause(first.key)
        made.until("paused", first.key)
        hub.hang_at = None
        made.queue.add(third)
        made.until(None, first.key)
        made.until("done", third.key)
        assert second.key not in {event.wanted.key for event in made.told if isinstance(event, DownloadChanged)}
        assert made.files() == ["a.gguf"]


def test_two_models_that_share_a_file_never_write_it_at_once(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        both, one = hub.wanted("a.gguf", "b.gguf"), hub.wanted("b.gguf")
        made.queue.add(both)
        assert hub.at_hold.wait(10)
        made.queue.add(one)
        made.queue.pause(both.key)
        made.until("paused", both.key)
        assert one.key not in {event.wanted.key for event in made.told if isinstance(event, DownloadChanged)}


def test_a_later_run_goes_on_where_the_earlier_one_ended(hub: DownloadHub, tmp_path: Path) -> None:
    kept = tmp_path / "data" / "downloads.json"
    hub.break_at = [HALF]
    hub.refusals = []
    with downloader(hub, tmp_path, kept) as made:
        made.queue.add(hub.wanted("a.gguf"))
        made.until("retrying")
        made.queue.pause(hub.wanted("a.gguf").key)
        made.until("paused")
        hub.hang_at = HALF
        made.queue.add(hub.wanted("b.gguf"))
        while made.until("running", hub.wanted("b.gguf").key).done < HALF:
            pass
    hub.hang_at = None
    with downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        assert made.until("paused").wanted == hub.wanted("a.gguf")
        made.until("done", hub.wanted("b.gguf").key)
        made.queue.resume(hub.wanted("a.gguf").key)
        made.until("done", hub.wanted("a.gguf").key)
    assert made.files() == ["a.gguf", "b.gguf", "downloads.json"]
    assert kept.read_bytes() == b"[]" and hub.ranges().count("") == 2


def test_a_broken_file_of_the_queue_is_an_empty_queue_and_stays_beside_it(hub: DownloadHub, tmp_path: Path) -> None:
    kept = tmp_path / "downloads.json"
    kept.write_bytes(b'[{"wanted":')
    with downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        made.queue.add(hub.wanted("a.gguf"))
        made.until("done")
    assert kept.with_name(kept.name + UNREADABLE).read_bytes() == b'[{"wanted":'


@pytest.mark.parametrize(
    "damage", [b'{"wanted": 7}', b'"text"', b'{"wanted": tru, "state": 1}', b'{"state": "paused"}']
)
def test_a_broken_entry_costs_itself_alone(hub: DownloadHub, tmp_path: Path, damage: bytes) -> None:
    kept = tmp_path / "downloads.json"
    hub.hang_at = HALF
    with downloader(hub, tmp_path, kept) as made:
        made.queue.add(hub.wanted("a.gguf"))
        while made.until("running").done < HALF:
            pass
    hub.hang_at = None
    before = b"[" + damage + b", " + kept.read_bytes()[1:]
    kept.write_bytes(before)
    with downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        made.until("done", hub.wanted("a.gguf").key)
    assert kept.read_bytes() == b"[]" and kept.with_name(kept.name + UNREADABLE).read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="there rights are other ones")
def test_a_file_of_the_queue_that_may_not_be_read_is_not_written_over(hub: DownloadHub, tmp_path: Path) -> None:
    kept = tmp_path / "downloads.json"
    kept.write_bytes(b'["kept"]')
    kept.chmod(0)
    with ordinary_user(), downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        made.queue.add(hub.wanted("a.gguf"))
        made.until("done")
    kept.chmod(0o644)
    assert kept.read_bytes() == b'["kept"]'
