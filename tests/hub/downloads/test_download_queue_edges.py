"""The queue of downloads where wishes cross: cancelled and wanted again, failed and kept, odd numbers and odd files."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.system.model_search import find_files
from tests.hub.download_hub import CONTENT, HALF, DownloadHub, downloader

NAMES = ("a.gguf", "b.gguf")


def test_what_is_cancelled_and_wanted_again_begins_when_the_first_has_ended(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        while made.until("running").done < HALF:
            pass
        hub.hang_at = None
        made.queue.cancel(wanted.key)
        made.queue.add(wanted)
        made.until("done")
        states = [event.state for event in made.told if isinstance(event, DownloadChanged)]
        assert "failed" not in states
    assert hub.ranges() == ["", ""], "what is cancelled is deleted"


def test_nothing_is_left_of_what_was_cancelled_while_it_ran(hub: DownloadHub, tmp_path: Path) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted("a.gguf"))
        while made.until("running").done < HALF:
            pass
        made.queue.cancel(hub.wanted("a.gguf").key)
        made.until(None)
        hub.hang_at = None
        made.queue.add(hub.wanted("a.gguf", revision="1a" * 20))  # it waits until the first has ended
        made.until("done")
        assert made.files() == ["a.gguf"] and hub.ranges() == ["", ""]


def test_nothing_is_left_of_what_was_cancelled_right_before_the_end_of_the_program(
    hub: DownloadHub, tmp_path: Path
) -> None:
    hub.hang_at = HALF
    with downloader(hub, tmp_path) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        while made.until("running").done < HALF:
            pass
        made.queue.cancel(wanted.key)
    assert made.files() == []


@pytest.mark.parametrize("path", [".cache/a.gguf", "a/b/c/d/e/f/g/h/a.gguf", "x.gguf/a.gguf"])
def test_what_is_downloaded_is_found_wherever_its_repository_has_it(tmp_path: Path, path: str) -> None:
    with DownloadHub({path: CONTENT}) as hub, downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(path))
        at = made.until("done").path
    assert [found.path for found in find_files([tmp_path])] == [at]


def test_what_cannot_be_kept_stays_failed(hub: DownloadHub, tmp_path: Path) -> None:
    evil = DownloadWanted(hub.repository, "main", (DownloadFile("../evil.gguf", 10),))
    with downloader(hub, tmp_path) as made:
        made.queue.add(evil)
        made.until("failed")
        for wish in (made.queue.resume, made.queue.pause, made.queue.first):
            wish(evil.key)
        made.queue.set_at_once(0)
        made.queue.add(hub.wanted("a.gguf"))
        made.until("done")
        states = [event.state for event in made.told if isinstance(event, DownloadChanged) and event.wanted == evil]
        assert states == ["failed"]
        made.queue.cancel(evil.key)
        made.until(None)


def test_what_failed_is_still_told_after_a_restart_and_odd_entries_are_left_out(
    hub: DownloadHub, tmp_path: Path
) -> None:
    kept = tmp_path / "downloads.json"
    hub.refusals = [(404, {})]
    with downloader(hub, tmp_path, kept) as made:
        made.queue.add(hub.wanted("a.gguf"))
        before = made.until("failed")
    entries = msgspec.json.decode(kept.read_bytes())
    odd = {"wanted": {"repository": "org/x", "revision": "main", "files": []}}
    kept.write_bytes(msgspec.json.encode([odd, *entries]))
    with downloader(hub, tmp_path, kept) as made:
        made.queue.open()
        after = made.until("failed")
        assert after == before and after.problem is not None and made.told == [after]
        made.queue.resume(after.wanted.key)
        made.until("done")
    assert kept.read_bytes() == b"[]"


def test_what_is_wished_before_the_queue_is_opened_loses_nothing_of_an_earlier_run(
    hub: DownloadHub, tmp_path: Path
) -> None:
    kept = tmp_path / "downloads.json"
    hub.hang_at = HALF
    with downloader(hub, tmp_path, kept) as made:
        made.queue.add(hub.wanted("a.gguf"))
        while made.until("running").done < HALF:
            pass
    hub.hang_at = None
    with downloader(hub, tmp_path, kept) as made:
        made.queue.set_at_once(1)  # as the window does
        made.queue.open()
        made.until("done", hub.wanted("a.gguf").key)
