from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.system.whole_file import GrowingFile, replace_whole


def test_a_file_is_written_and_an_older_one_replaced(tmp_path: Path) -> None:
    path = tmp_path / "chat.pdf"
    replace_whole(path, b"first")
    replace_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [each.name for each in tmp_path.iterdir()] == ["chat.pdf"]


def test_a_long_name_leaves_room_for_the_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 250}.pdf"
    replace_whole(path, b"content")
    assert path.read_bytes() == b"content"


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real.pdf", tmp_path / "link.pdf"
    real.write_bytes(b"old")
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("this system makes no links")
    replace_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_what_cannot_be_written_whole_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "chat.pdf"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["chat.pdf"]


class _FullDisk(io.FileIO):
    """A file on a disk that takes no byte more."""

    def write(self, _data: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("ends", [GrowingFile.finish, lambda file: file.add(b"x" * 100_000)])
def test_one_that_a_full_disk_refuses_leaves_the_reason_and_nothing_else(
    ends: Callable[[GrowingFile], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chats.json"
    path.write_bytes(b"old")
    file = GrowingFile(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda beside, mode: io.BufferedWriter(_FullDisk(beside, mode)))
        file.add(b"some")
    with pytest.raises(OSError, match="No space"):
        ends(file)
    file.give_up()
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["chats.json"]


def test_one_that_cannot_be_deleted_either_is_given_up_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_path: Path, missing_ok: bool) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    file = GrowingFile(tmp_path / "chats.json")
    file.add(b"some")
    monkeypatch.setattr(Path, "unlink", refuse)
    file.give_up()
    assert "is left over" in caplog.text
