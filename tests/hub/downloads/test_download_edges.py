"""What a download checks at its edges: room on the disk, what lies there already, servers that contradict themselves."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from app.core.download import DownloadState
from app.hub import checksum, download
from app.hub.download import SPARE_BYTES, Source, fetch
from app.hub.download_control import Control, Stopped
from app.hub.partial_file import PartState, partial_size
from app.hub.web import Web
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub, downloader
from tests.hub.loopback_hub import Answer, Request

SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def failed(hub: DownloadHub, folder: Path) -> str:
    with downloader(hub, folder) as made:
        made.queue.add(hub.wanted())
        told = made.until("failed")
    assert told.problem is not None
    return told.problem.english()


def whole(hub: DownloadHub, folder: Path) -> None:
    with downloader(hub, folder) as made:
        made.queue.add(hub.wanted())
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
        assert made.files() == [NAME]


def goal_of(hub: DownloadHub, folder: Path) -> Path:
    goal = folder / hub.repository / NAME
    goal.parent.mkdir(parents=True)
    return goal


@pytest.mark.parametrize("too_few", [0, 1])
def test_some_room_is_left_on_the_disk(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, too_few: int
) -> None:
    free = len(CONTENT) + SPARE_BYTES - too_few
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free))
    if too_few:
        assert "too little room, 1 MiB more" in failed(hub, tmp_path)
        assert not hub.asked
    else:
        whole(hub, tmp_path)


def test_a_disk_that_fills_meanwhile_is_noticed(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([1 << 40])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, next(looks, 0)))
    monkeypatch.setattr(download, "LOOK_EVERY", 1000)
    monkeypatch.setattr(download, "PIECE", 10_000)
    assert "too little room" in failed(hub, tmp_path)
    assert 0 < next(tmp_path.rglob("*.part")).stat().st_size < len(CONTENT)


def test_a_file_of_the_same_size_may_be_another_one(hub: DownloadHub, tmp_path: Path) -> None:
    goal_of(hub, tmp_path).write_bytes(CONTENT[:-1] + b"x")
    assert "another file called" in failed(hub, tmp_path)


def test_a_file_that_appears_meanwhile_is_not_replaced(hub: DownloadHub, tmp_path: Path) -> None:
    goal = tmp_path / hub.repository / NAME

    def deliver(request: Request) -> None:
        goal.write_bytes(b"mine")
        hub.deliver(request)

    hub.delivering = deliver
    assert "another file called" in failed(hub, tmp_path)
    assert goal.read_bytes() == b"mine"


def test_more_than_the_file_is_not_a_part_of_it(hub: DownloadHub, tmp_path: Path) -> None:
    goal = goal_of(hub, tmp_path)
    goal.with_name(NAME + ".part").write_bytes(CONTENT + b"x")
    state = PartState(hub.repository, "main", NAME, len(CONTENT), SHA256)
    goal.with_name(NAME + ".part.json").write_bytes(msgspec.json.encode(state))
    whole(hub, tmp_path)


def test_what_is_there_of_a_file_is_told_by_checksum_and_size() -> None:
    there = PartState("org/a", "main", NAME, 10, SHA256, '"one"')
    assert there.is_part_of(PartState("org/a", "later", NAME, 10, SHA256))
    assert not there.is_part_of(PartState("org/a", "main", NAME, 11, SHA256, '"one"'))
    assert not there.is_part_of(PartState("org/a", "main", NAME, 10, "ab" * 32, '"one"'))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_the_place_of_the_partial_file_is_not_followed(hub: DownloadHub, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    goal = goal_of(hub, tmp_path)
    goal.with_name(NAME + ".part").symlink_to(mine)
    assert "cannot be written to" in failed(hub, tmp_path)
    assert mine.read_bytes() == b"mine"


def answer(first: int, total: object, begin: int) -> Answer:
    """Answer a range with what it is said to be, and the bytes from somewhere."""

    def send(request: Request) -> None:
        content = CONTENT[begin:]
        told = f"bytes {first}-{first + len(content) - 1}/{total}"
        request.begin(206, {"ETag": '"one"', "Content-Range": told, "Content-Length": len(content)})
        request.send(content)

    return send


@pytest.mark.parametrize(
    ("first", "total", "begin", "words"),
    [
        (HALF, len(CONTENT), HALF, ""),
        (HALF, "*", HALF, ""),
        (0, len(CONTENT), 0, "sends other parts"),
        (HALF, len(CONTENT) + 1, HALF, "was changed on the server"),
    ],
)
def test_a_part_that_is_not_the_one_asked_for_is_not_taken(
    hub: DownloadHub, tmp_path: Path, first: int, total: object, begin: int, words: str
) -> None:
    hub.break_at = [HALF]
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        made.until("retrying")
        hub.delivering = answer(first, total, begin)
        told = made.until("failed" if words else "done")
        assert words in (told.problem.english() if told.problem else "")
        assert told.done == (HALF if words else len(CONTENT))


def test_what_comes_behind_the_end_is_not_taken(hub: DownloadHub, tmp_path: Path) -> None:
    def deliver(request: Request) -> None:
        request.begin(200, {"ETag": '"one"'})
        request.send(CONTENT + b"more")
        request.close_connection = True

    hub.delivering = deliver
    whole(hub, tmp_path)


def test_a_whole_file_is_on_the_disk_before_it_has_its_name(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal, synced, sync = tmp_path / hub.repository / NAME, list[int](), os.fsync

    def note(number: int) -> None:
        if not goal.exists():
            synced.append(os.fstat(number).st_ino)
        sync(number)

    monkeypatch.setattr(os, "fsync", note)
    whole(hub, tmp_path)
    assert goal.stat().st_ino in synced


def stopped_while_checking(hub: DownloadHub, folder: Path) -> bool:
    """Return whether a download ends that is stopped while the checksum is behind."""
    control, checking = Control(), threading.Event()

    def tell(state: DownloadState, _: int) -> None:
        if state == "checking":
            checking.set()

    source = Source(Web(hub.endpoint), hub.endpoint, hub.repository, "main", hub.wanted().files[0])
    ended: list[type[BaseException] | None] = []

    def work() -> None:
        try:
            fetch(source, folder / hub.repository / NAME, control, tell)
        except Stopped:
            ended.append(Stopped)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert checking.wait(10)
    control.stop()
    thread.join(10)
    return ended == [Stopped] and not thread.is_alive()


@pytest.mark.parametrize("there", ["nothing", "all bytes", "the file"])
def test_a_stop_does_not_wait_for_the_checksum(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    def missing(this: checksum.Checksum) -> int:
        with this._state:
            this._state.wait_for(lambda: this._stopped)
        return 0

    goal = goal_of(hub, tmp_path)
    if there == "the file":
        goal.write_bytes(CONTENT)
    elif there == "all bytes":
        goal.with_name(NAME + ".part").write_bytes(CONTENT)
        state = PartState(hub.repository, "main", NAME, len(CONTENT), SHA256)
        goal.with_name(NAME + ".part.json").write_bytes(msgspec.json.encode(state))
    monkeypatch.setattr(checksum.Checksum, "_missing", missing)
    assert stopped_while_checking(hub, tmp_path)


def test_what_is_to_end_with_a_stop_ends_also_after_it() -> None:
    control, ends = Control(), list[str]()
    control.ending(lambda: ends.append("before"))
    control.stop()
    control.ending(lambda: ends.append("after"))
    assert ends == ["before", "after"]
    with pytest.raises(Stopped):
        control.check()


@pytest.mark.parametrize("etag", ['W/"one"', "one", '"' + "x" * 400 + '"', '"ä"', '"a\x07"', ""])
def test_ranges_rely_on_no_weak_or_odd_etag(etag: str) -> None:
    assert download._strong(etag) == ""
    assert download._strong('"one"') == '"one"'


def test_a_file_that_loses_bytes_while_it_is_checked_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(CONTENT)
    behind = checksum.Checksum(path)
    try:
        with pytest.raises(OSError, match="shorter"):
            behind.result(len(CONTENT) + 1)
    finally:
        behind.close()


def test_how_much_is_there_is_told_of_whole_files_and_of_parts(tmp_path: Path) -> None:
    goal = tmp_path / "not" / "a.gguf"
    assert partial_size(goal) == 0
    goal.parent.mkdir()
    goal.with_name("a.gguf.part").write_bytes(b"12")
    assert partial_size(goal) == 2
    goal.write_bytes(b"123")
    assert partial_size(goal) == 3
