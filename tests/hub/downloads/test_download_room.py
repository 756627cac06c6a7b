"""Room on the disk: looked at before and during, and what is told to free is enough to go on."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from app.hub import download
from app.hub.download import SPARE_BYTES
from app.hub.partial_file import PartialFile
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub, downloader

PARTS = {f"big-0000{number}-of-00003.gguf": CONTENT for number in (1, 2, 3)}
MB = 1_000_000


class Disk:
    """So much room, which what is written of models takes."""

    class Usage(NamedTuple):
        total: int
        used: int
        free: int

    def __init__(self, folder: Path, free: int) -> None:
        self.folder = folder
        self.room = free
        self.takes_at_once = 0
        """So much of it goes to others with the first byte."""

    @property
    def free(self) -> int:
        taken = sum(path.stat().st_size for path in self.folder.rglob("*.gguf*") if path.suffix != ".json")
        return max(0, self.room - taken - (self.takes_at_once if taken else 0))

    def usage(self, _: object) -> Usage:
        return self.Usage(1 << 40, 0, self.free)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    made, append = Disk(tmp_path, 0), PartialFile.append

    def write(this: PartialFile, content: bytes) -> None:
        free = made.free
        append(this, content[:free])
        if free < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(PartialFile, "append", write)
    monkeypatch.setattr(shutil, "disk_usage", made.usage)
    monkeypatch.setattr(download, "PIECE", 100_000)
    return made


@pytest.mark.parametrize("look_every", [1000, 1 << 40])
@pytest.mark.parametrize("others", [SPARE_BYTES, SPARE_BYTES + HALF + 2 * len(CONTENT)])
def test_what_is_told_to_free_is_enough_for_all_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Disk, look_every: int, others: int
) -> None:
    """Others take the disk's room once it runs: it is noticed by a look, or by a write that fails."""
    monkeypatch.setattr(download, "LOOK_EVERY", look_every)
    disk.room, disk.takes_at_once = SPARE_BYTES + 3 * len(CONTENT), others
    with DownloadHub(PARTS) as hub, downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        if look_every > MB and others == SPARE_BYTES:
            made.until("done")  # nobody looks, and it is just enough
            return
        told = made.until("failed")
        assert told.problem is not None
        needed = re.search(r"too little room, (\S+) MiB more are needed", told.problem.english())
        assert needed is not None
        disk.room += int(needed[1]) << 20
        made.queue.resume(told.wanted.key)
        made.until("done")


def test_room_is_left_for_what_else_is_on_the_disk(tmp_path: Path, disk: Disk) -> None:
    disk.room = 3 * len(CONTENT) + SPARE_BYTES - 1
    with DownloadHub(PARTS) as hub, downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted())
        told = made.until("failed")
        assert told.problem is not None and "1 MiB more" in told.problem.english() and not hub.asked
        disk.room += 1
        made.queue.resume(told.wanted.key)
        made.until("done")


def test_a_folder_that_may_not_be_entered_is_told_and_ends_no_queue(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, exists = tmp_path / "closed", Path.exists

    def look(this: Path) -> bool:
        if closed in this.parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(this))
        return exists(this)

    closed.mkdir()
    with monkeypatch.context() as within:
        within.setattr(Path, "exists", look)
        with downloader(hub, closed / "models", closed / "data" / "downloads.json") as made:
            for _ in range(2):
                made.queue.add(hub.wanted())
                told = made.until("failed")
                assert told.problem is not None and "cannot be written to (Permission denied)" in str(
                    told.problem.english()
                )
    assert not hub.asked
    with downloader(hub, closed / "models") as made:
        made.queue.add(hub.wanted())
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT
