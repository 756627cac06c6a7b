"""The queue of downloads while one of them does not end: no place is lost, and nothing of what was given up stays."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from app.core.download import DownloadChanged, DownloadWanted
from app.hub import download_run
from app.hub.partial_file import PART, PartialFile
from tests.hub.download_hub import HALF, Downloader, DownloadHub, downloader
from tests.hub.loopback_hub import GUARD_S

NAMES = ("a.gguf", "b.gguf", "m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf")


def parts(hub: DownloadHub) -> DownloadWanted:
    """Return a model in three parts."""
    return hub.wanted(*NAMES[2:])


class Stuck(threading.Event):
    """Until it is set, one run does not end, as while an address is looked up."""

    number = 0
    """Which run it is."""


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Stuck:
    made, whole, count = Stuck(), download_run.Run.whole, itertools.count()

    def stuck(run: download_run.Run, connect: download_run.Connect) -> bool:
        if next(count) == made.number:
            made.wait(GUARD_S)
        return whole(run, connect)

    monkeypatch.setattr(download_run.Run, "whole", stuck)
    return made


def test_what_is_paused_takes_no_place_while_it_ends(hub: DownloadHub, tmp_path: Path, free: Stuck) -> None:
    with downloader(hub, tmp_path) as made:
        made.queue.set_at_once(1)
        a, b = hub.wanted("a.gguf"), hub.wanted("b.gguf")
        made.queue.add(a)
        made.until("running", a.key)
        made.queue.pause(a.key)
        made.queue.add(b)
        made.until("done", b.key)
        free.set()
        made.queue.resume(a.key)
        made.until("done", a.key)


def test_one_that_goes_first_lets_no_other_go_on_that_was_paused(
    hub: DownloadHub, tmp_path: Path, free: Stuck
) -> None:
    hub.hang_at, free.number = HALF, 2
    with downloader(hub, tmp_path) as made:
        made.queue.set_at_once(3)
        a, b, c, d = (hub.wanted(name) for name in NAMES[:4])
        for wanted in (b, c, a):
            made.queue.add(wanted)
            made.until("running", wanted.key)
        made.queue.pause(a.key)
        made.queue.set_at_once(2)
        made.queue.add(d)
        made.until("waiting", d.key)
        made.queue.first(d.key)
        made.until("waiting", c.key)
        made.until("running", d.key)
        free.set()
    states = [event.state for event in made.told if isinstance(event, DownloadChanged) and event.wanted == a]
    assert states[-1] == "paused"


def test_what_could_not_be_deleted_is_by_the_next_start(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, models = tmp_path / "data" / "downloads.json", tmp_path / "models"
    a = hub.wanted("a.gguf")
    paused_and_held(hub, models, kept).close()
    with monkeypatch.context() as patched, downloader(hub, models, kept) as made:
        patched.setattr(PartialFile, "delete", PartialFile.close)  # as where a virus scanner has it open
        made.queue.open()
        made.until("paused", a.key)
        made.queue.cancel(a.key)
        made.until(None, a.key)
        made.queue.close()
    assert "a.gguf" + PART in made.files()
    with downloader(hub, models, kept) as made:
        made.queue.open()
        made.queue.add(hub.wanted("b.gguf"))
        made.until("done")
    assert made.files() == ["b.gguf"] and kept.read_bytes() == b"[]"
    assert not any(isinstance(event, DownloadChanged) and event.wanted == a for event in made.told)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_of_a_model_in_parts_goes_what_came_and_stays_what_was_there(
    hub: DownloadHub, tmp_path: Path, is_restarted: bool
) -> None:
    kept, models = tmp_path / "data" / "downloads.json", tmp_path / "models"
    with downloader(hub, models) as made:
        made.queue.add(hub.wanted(NAMES[2]))
        made.until("done")
    with downloader(hub, models, kept) as made:
        made.queue.add(parts(hub))
        hang_at_the_last(hub, made)
        assert made.files() == [NAMES[2], NAMES[3], NAMES[4] + PART, NAMES[4] + PART + ".json"]
        if not is_restarted:
            made.queue.cancel(parts(hub).key)
            made.until(None)
    if is_restarted:
        with downloader(hub, models, kept) as made:
            made.queue.open()
            made.queue.cancel(parts(hub).key)
            made.until(None)
    assert made.files() == [NAMES[2]] and kept.read_bytes() == b"[]"


def test_what_is_wanted_again_is_not_deleted(hub: DownloadHub, tmp_path: Path) -> None:
    kept, models = tmp_path / "data" / "downloads.json", tmp_path / "models"
    a = hub.wanted("a.gguf")
    held = paused_and_held(hub, models, kept)
    with downloader(hub, models, kept) as made:
        made.queue.open()
        made.queue.cancel(a.key)
        made.until(None)
        held.close()
        made.queue.add(a)
        made.until("done")
    with downloader(hub, models, kept) as made:
        made.queue.open()
        made.queue.add(hub.wanted("b.gguf"))
        made.until("done")
    assert made.files() == ["a.gguf", "b.gguf"]


def paused_and_held(hub: DownloadHub, models: Path, kept: Path) -> PartialFile:
    """Leave half of a download, paused by an earlier run, and hold what is there as another program does."""
    hub.hang_at = HALF
    with downloader(hub, models, kept) as made:
        wanted = hub.wanted("a.gguf")
        made.queue.add(wanted)
        while made.until("running").done < HALF:
            pass
        made.queue.pause(wanted.key)
        made.until("paused")
    hub.hang_at = None
    return PartialFile(made.goal(hub, "a.gguf"))


def hang_at_the_last(hub: DownloadHub, made: Downloader) -> None:
    """Let the third part hang in its middle; the first is there and only looked at."""
    hub.hang_after_next = HALF
    total = sum(file.size for file in parts(hub).files)
    size = parts(hub).files[0].size
    while made.until("running").done < total - size + HALF:
        pass


def test_what_was_given_up_leaves_no_empty_folder_and_what_else_is_there_stays(
    hub: DownloadHub, tmp_path: Path
) -> None:
    top = tmp_path / "models"
    hub.hang_at = HALF
    with downloader(hub, top) as made:
        a, b = hub.wanted("a.gguf"), hub.wanted("b.gguf")
        made.queue.add(a)
        assert hub.at_hold.wait(GUARD_S)
        made.queue.cancel(a.key)
        made.until(None, a.key)
        hub.hang_at = None
        made.queue.add(b)
        made.until("done", b.key)
        hub.hang_at = HALF
        hub.at_hold.clear()
        made.queue.add(a)
        assert hub.at_hold.wait(GUARD_S)
        made.queue.cancel(a.key)
        made.until(None, a.key)
    assert made.files() == ["b.gguf"]
    with downloader(hub, top / "other") as made:
        hub.at_hold.clear()
        made.queue.add(a)
        assert hub.at_hold.wait(GUARD_S)
        made.queue.cancel(a.key)
        made.until(None, a.key)
    assert list((top / "other").iterdir()) == []
